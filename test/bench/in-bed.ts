import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCluster, type Cluster } from '../cluster/servers/cluster.ts';
import { dustpanUser } from '../cluster/controller/dustpan.ts';
import { etcdClient } from '../cluster/servers/etcd.ts';
import type { Part } from '../cluster/programs/parts.ts';
import { repositoryRoot } from '../cluster/repository.ts';
import { inJail } from '../cluster/run.ts';
import { apiClient } from './api-client.ts';
import type { Bed } from './bench-pods.ts';
import { say } from './bench-command.ts';
import { tellsGc } from './gc-cycles.ts';
import { writeSection } from './report.ts';

interface BenchInBed<T> {
  /** Its file here, without the ending. */
  readonly name: string;
  /** What `run` starts, where that is more than etcd, API server and kube-controller-manager. */
  readonly parts?: readonly Part[];
  readonly run: () => Promise<T>;
  /** For docs/benchmarks.md. */
  readonly section: (result: T) => string;
  readonly write: boolean;
  /** Where the result goes as JSON; '' = nowhere. */
  readonly json: string;
}

/** Starts this program again in a jail that is a node, and there runs the bench and shows what came of it. */
export async function benchInBed<T>(options: BenchInBed<T>): Promise<void> {
  const { name, parts, run, section, write, json } = options;
  if (process.env['BED_DIR'] === undefined) {
    const self = join(repositoryRoot(), `test/bench/${name}.ts`);
    const command = [process.execPath, self, ...process.argv.slice(2)];
    process.exitCode = await inJail(command, { imageFsMB: 0, ...(parts && { parts }) });
    return;
  }
  const result = await run();
  const text = section(result);
  process.stdout.write(`${text}\n`);
  if (json !== '') writeFileSync(json, `${JSON.stringify(result, plain, 2)}\n`);
  if (write) writeSection(text);
}

function plain(_: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value as Map<string, unknown>) : value;
}

/** Nothing is over this threshold. */
export const noThreshold = 100_000_000;

/** etcd, an API server and, stopped, kube-controller-manager with its pod garbage collector alone, with the client limits it has when nobody says anything. */
export async function startPodServers(threshold: number): Promise<Bed & AsyncDisposable> {
  say('starting etcd, kube-apiserver and kube-controller-manager');
  const cluster: Cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm'],
    kcm: {
      controllers: 'pod-garbage-collector-controller',
      args: [`--terminated-pod-gc-threshold=${threshold}`, '--kube-api-qps=20', '--kube-api-burst=30'],
    },
    crds: true,
    users: [dustpanUser],
    api: { audit: false, env: tellsGc },
  });
  await cluster.kill('kcm');
  const bed = { cluster, etcd: etcdClient(cluster.etcdUrl), api: apiClient(cluster) };
  return { ...bed, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
}
