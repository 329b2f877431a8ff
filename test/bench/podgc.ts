import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../cluster/cluster.ts';
import { dustpanUser } from '../cluster/dustpan.ts';
import { etcdClient } from '../cluster/etcd.ts';
import { repositoryRoot } from '../cluster/repository.ts';
import { inJail } from '../cluster/run.ts';
import { apiClient, rawDeleteRate } from './api-client.ts';
import { prepareBenchPods, thresholdOf, type Bed, type BenchPods } from './bench-pods.ts';
import { section, writeSection, type BenchResult } from './report.ts';
import { measureAtRest, measureClearing } from './run-dustpan.ts';
import { measureUpstream } from './run-upstream.ts';
import { settled } from './settle.ts';

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    due: { type: 'string' },
    /** For dustpan's Node, separated by spaces. */
    'node-args': { type: 'string', default: '' },
    /** Puts the result into docs/benchmarks.md. */
    write: { type: 'boolean', default: false },
    /** Where the JSON goes. */
    json: { type: 'string', default: '' },
  },
});
const pods = Number(options.pods);
const due = Number(options.due ?? Math.min(5_000, pods / 5));
/** More makes no real API server faster. */
const rawInFlight = 64;
const nodeArgs = options['node-args'].split(' ').filter((arg) => arg !== '');

if (process.env['BED_DIR'] === undefined) {
  const script = join(repositoryRoot(), 'scripts/run.mjs');
  const self = join(repositoryRoot(), 'test/bench/podgc.ts');
  process.exitCode = await inJail([process.execPath, script, self, ...process.argv.slice(2)], {
    imageFsMB: 0,
  });
} else {
  const result = await bench();
  const text = section(result);
  process.stdout.write(`${text}\n`);
  if (options.json !== '') writeFileSync(options.json, `${JSON.stringify(result, undefined, 2)}\n`);
  if (options.write) writeSection(text);
}

async function bench(): Promise<BenchResult> {
  say('starting etcd, kube-apiserver and kube-controller-manager');
  await using cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm'],
    kcm: { controllers: 'pod-garbage-collector-controller', args: upstreamArgs() },
    crds: true,
    users: [dustpanUser],
    api: { audit: false },
  });
  await cluster.kill('kcm');
  const bed = { cluster, etcd: etcdClient(cluster.etcdUrl), api: apiClient(cluster) };
  return await measure(bed, await load(bed));
}

function upstreamArgs(): string[] {
  const threshold = thresholdOf({ pods, due });
  // What kube-controller-manager has when nobody says anything.
  return [`--terminated-pod-gc-threshold=${threshold}`, '--kube-api-qps=20', '--kube-api-burst=30'];
}

async function load(bed: Bed): Promise<BenchPods> {
  const prepared = await prepareBenchPods(bed, { pods, due });
  const startedAt = performance.now();
  let shownAt = 0;
  await prepared.load(bed.etcd, (done) => {
    if (done - shownAt < pods / 10) return;
    shownAt = done;
    say(`loaded ${done} of ${pods} pods, ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  });
  await prepared.check(bed.api);
  say(`each pod has ${prepared.podBytes} bytes`);
  return prepared;
}

async function measure(bed: Bed, prepared: BenchPods): Promise<BenchResult> {
  // The first deletes after so many writes are slow: they warm up both servers.
  await rawRate(bed, prepared);
  const rawDeletesPerSecond = [await rawRate(bed, prepared)];
  say('dustpan, DryRun');
  const rest = await measureAtRest(bed, prepared, nodeArgs);
  await settled(bed.cluster);
  say('dustpan, Enforce');
  const clearing = await measureClearing(bed, prepared, nodeArgs);
  await restore(bed, prepared);
  rawDeletesPerSecond.push(await rawRate(bed, prepared));
  say('kube-controller-manager');
  const upstream = await measureUpstream(bed, prepared);
  const { gitVersion } = JSON.parse((await bed.api.send('GET', '/version')).toString()) as ServerVersion;
  return {
    command: commandLine(),
    ...{ pods, due, podBytes: prepared.podBytes, apiServer: gitVersion },
    ...{ rawDeletesPerSecond, rest, clearing, upstream },
  };
}

async function rawRate(bed: Bed, prepared: BenchPods): Promise<number> {
  await settled(bed.cluster);
  const rate = await rawDeleteRate(bed.api, prepared.due, rawInFlight);
  say(`raw delete rate: ${rate.toFixed(0)} per second`);
  await restore(bed, prepared);
  return rate;
}

async function restore({ cluster, etcd }: Bed, prepared: BenchPods): Promise<void> {
  await prepared.restore(etcd);
  await settled(cluster);
}

/** What to type for the same again. */
function commandLine(): string {
  const said = [
    ['due', String(due)],
    ['node-args', options['node-args']],
  ].filter(([, value]) => value !== '');
  return [
    'npm run bench:podgc --',
    '--pods',
    pods,
    ...said.map(([flag, value]) => `--${flag}='${value}'`),
  ].join(' ');
}

interface ServerVersion {
  readonly gitVersion: string;
}

function say(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
