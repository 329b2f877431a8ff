import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { scriptOptions } from '../../scripts/arguments.ts';
import { deleteRaw } from './api-client.ts';
import { cpuBetween, cpuParts } from './cpu-parts.ts';
import { commandLine, pairs, say, words } from './bench-command.ts';
import { prepareBenchPods, thresholdOf, type Bed, type BenchPods } from './bench-pods.ts';
import { controllerEnv, nodeArgs, oldSpaceMbFor } from './controller-runtime.ts';
import { cyclesWithin, rateOf } from './gc-cycles.ts';
import { benchInBed, startPodServers } from './in-bed.ts';
import { section, serverVersion, type BenchResult, type RawDeletes, type Round } from './report.ts';
import { measureAtRest, measureClearing, type NodeRuntime } from './run-dustpan.ts';
import { measureUpstream } from './run-upstream.ts';
import { historySeconds, settled } from './settle.ts';

const { values: options } = scriptOptions({
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
/** Of 5 000 it is chance whether the API server's own collector, one run of which is worth 6 000 deletes, comes while they go. */
const due = Number(options.due ?? Math.floor(pods / 5));
/** As the budget has it. */
const rawInFlight = 64;
const runtime: NodeRuntime = { args: words(options['node-args']), env: pairs(options.env) };

await benchInBed({ name: 'podgc', run: bench, section, write: options.write, json: options.json });

async function bench(): Promise<BenchResult> {
  await using bed = await startPodServers(thresholdOf({ pods, due }));
  return await measure(bed, await load(bed));
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
  // Right after: a machine is not equally fast all the time, and its CPU time is what dustpan's is judged by.
  say('kube-controller-manager');
  const upstream = await measureUpstream(bed, prepared);
  await restoreLater(bed, prepared);
  const rounds = await clearOverAndOver(bed, prepared);
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
    rounds.push({ clearing, raw: [before, after] });
    before = after;
  }
  return rounds;
}

async function rawRate(bed: Bed, prepared: BenchPods): Promise<RawDeletes> {
  await settled(bed.cluster);
  const before = cpuParts(bed.cluster);
  const marks = await deleteRaw(bed.api, prepared.due, rawInFlight);
  const cpuSeconds = cpuBetween(before, cpuParts(bed.cluster));
  const perSecond = rateOf(marks);
  say(`raw delete rate: ${perSecond.toFixed(0)} per second`);
  await restoreLater(bed, prepared);
  return { perSecond, cpuSeconds, whole: await cyclesWithin(marks, bed.cluster) };
}

/** Once those deletes are forgotten; after dustpan's that is so by the end of its rest. */
async function restoreLater(bed: Bed, prepared: BenchPods): Promise<void> {
  await sleep(historySeconds * 1_000);
  await restore(bed, prepared);
}

async function restore({ cluster, etcd }: Bed, prepared: BenchPods): Promise<void> {
  await prepared.restore(etcd);
  await settled(cluster);
}
