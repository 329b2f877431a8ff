import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../cluster/cluster.ts';
import { dustpanUser } from '../cluster/dustpan.ts';
import { etcdClient } from '../cluster/etcd.ts';
import { repositoryRoot } from '../cluster/repository.ts';
import { inJail } from '../cluster/run.ts';
import { apiClient, rawDeleteRate } from './api-client.ts';
import { commandLine, pairs, say, words } from './bench-command.ts';
import { prepareBenchPods, thresholdOf, type Bed, type BenchPods } from './bench-pods.ts';
import { controllerEnv, nodeArgs, oldSpaceMbFor } from './controller-runtime.ts';
import { section, serverVersion, writeSection, type BenchResult, type Round } from './report.ts';
import { measureAtRest, measureClearing, type NodeRuntime } from './run-dustpan.ts';
import { measureUpstream } from './run-upstream.ts';
import { settled } from './settle.ts';

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '20000' },
    due: { type: 'string' },
    /** For dustpan's Node, separated by spaces. */
    'node-args': { type: 'string', default: nodeArgs(oldSpaceMbFor(100_000)) },
    /** For dustpan's process, NAME=VALUE separated by spaces: what the chart sets. */
    env: { type: 'string', default: controllerEnv },
    /** How often dustpan clears the backlog; the servers' own speed is measured before and after each. */
    rounds: { type: 'string', default: '3' },
    /** Puts the result into docs/benchmarks.md. */
    write: { type: 'boolean', default: false },
    /** Where the JSON goes. */
    json: { type: 'string', default: '' },
  },
});
const [loadBefore = 0] = loadavg();
const pods = Number(options.pods);
const due = Number(options.due ?? Math.min(5_000, pods / 5));
/** More makes no real API server faster. */
const rawInFlight = 64;
const runtime: NodeRuntime = { args: words(options['node-args']), env: pairs(options.env) };

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
  say('dustpan, DryRun');
  const rest = await measureAtRest(bed, prepared, runtime);
  const rounds = await clearOverAndOver(bed, prepared);
  say('kube-controller-manager');
  const upstream = await measureUpstream(bed, prepared);
  return {
    command: commandLine('bench:podgc'),
    loadBefore,
    nodeArgs: options['node-args'],
    env: options.env,
    ...{ pods, due, podBytes: prepared.podBytes, apiServer: await serverVersion(bed.api) },
    ...{ rest, rounds, upstream },
  };
}

/** In turns with the raw rate, because a machine is not equally fast all the time. */
async function clearOverAndOver(bed: Bed, prepared: BenchPods): Promise<Round[]> {
  const rounds: Round[] = [];
  let before = await rawRate(bed, prepared);
  for (let i = 0; i < Number(options.rounds); i++) {
    say('dustpan, Enforce');
    const clearing = await measureClearing(bed, prepared, runtime);
    await restore(bed, prepared);
    const after = await rawRate(bed, prepared);
    rounds.push({ clearing, rawDeletesPerSecond: (before + after) / 2 });
    before = after;
  }
  return rounds;
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
