import { loadavg } from 'node:os';
import { scriptOptions } from '../../scripts/arguments.ts';
import { errorLine } from '../../src/runtime/errors.ts';
import { commandLine, pairs, say, words } from './bench-command.ts';
import { prepareBenchPods, thresholdOf, type Bed, type BenchPods, type NumberRange } from './bench-pods.ts';
import { controllerEnv, nodeArgs, oldSpaceMbFor } from './controller-runtime.ts';
import { curveSection, type CurvePoint, type CurveResult, type CurveRun } from './curve-report.ts';
import { measureUnlessHeapDies, measureUpstreamStart } from './curve-run.ts';
import { benchInBed, noThreshold, startPodServers } from './in-bed.ts';
import { serverVersion } from './report.ts';
import { settled } from './settle.ts';

const { values: options } = scriptOptions({
  options: {
    /** Numbers of pods, one after the other in the same store. */
    sizes: { type: 'string', default: '1000,10000,50000,100000,200000' },
    /** MiB; several are tried one after the other. By default what is recommended for each size. */
    'old-space': { type: 'string', default: '' },
    /** For dustpan's process, NAME=VALUE separated by spaces: what the chart sets. */
    env: { type: 'string', default: controllerEnv },
    /** Without kube-controller-manager. */
    'no-peer': { type: 'boolean', default: false },
    /** Puts the result into docs/benchmarks.md. */
    write: { type: 'boolean', default: false },
    /** Where the JSON goes. */
    json: { type: 'string', default: '' },
  },
});
const [loadBefore = 0] = loadavg();
const sizes = options.sizes
  .split(',')
  .map(Number)
  .toSorted((a, b) => a - b);
if (sizes.some((size) => !Number.isInteger(size) || size < 1)) throw new Error('--sizes are numbers of pods');

await benchInBed({
  name: 'curve',
  run: bench,
  section: curveSection,
  write: options.write,
  json: options.json,
});

async function bench(): Promise<CurveResult> {
  await using bed = await startPodServers(noThreshold);
  const prepared = await prepareBenchPods(bed, { pods: sizes.at(-1) ?? 0, due: 0 });
  const points = await measureAll(bed, prepared);
  if (points.length === 0) throw new Error('no size could be measured');
  return {
    command: commandLine('bench:curve'),
    ...{ loadBefore, env: options.env, podBytes: prepared.podBytes, points },
    apiServer: await serverVersion(bed.api),
  };
}

async function measureAll(bed: Bed, prepared: BenchPods): Promise<CurvePoint[]> {
  const points: CurvePoint[] = [];
  let from = 0;
  for (const [i, pods] of sizes.entries()) {
    say(`size ${i + 1} of ${sizes.length}: ${pods} pods`);
    try {
      await grow(bed, prepared, { from, to: pods });
      points.push(await measureSize(bed, pods));
    } catch (err) {
      // A size too large for this machine does not take the others along.
      say(`${pods} pods: ${errorLine(err)}`);
      process.exitCode = 1;
      break;
    }
    from = pods;
  }
  return points;
}

async function grow(bed: Bed, prepared: BenchPods, numbers: NumberRange): Promise<void> {
  const startedAt = performance.now();
  await prepared.load(bed.etcd, () => undefined, numbers);
  await prepared.check(bed.api, numbers.to - 1);
  say(`loaded ${numbers.to - numbers.from} more, ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  await settled(bed.cluster);
}

async function measureSize(bed: Bed, pods: number): Promise<CurvePoint> {
  // So that a plan has something to put in order.
  const threshold = thresholdOf({ pods, due: Math.min(5_000, Math.floor(pods / 5)) });
  const spaces =
    options['old-space'] === '' ? [oldSpaceMbFor(pods)] : options['old-space'].split(',').map(Number);
  const runs: CurveRun[] = [];
  for (const oldSpaceMb of spaces) {
    const runtime = { args: words(nodeArgs(oldSpaceMb)), env: pairs(options.env) };
    const rest = await measureUnlessHeapDies(bed, threshold, runtime);
    say(`dustpan, old space ${oldSpaceMb}: ${rest ? `peak ${rest.peakMb.toFixed(0)} MB` : 'out of heap'}`);
    runs.push({ oldSpaceMb, ...(rest && { rest }) });
    await settled(bed.cluster);
  }
  if (options['no-peer']) return { pods, runs };
  const upstream = await measureUpstreamStart(bed);
  say(`kube-controller-manager: peak ${upstream.peakMb.toFixed(0)} MB`);
  return { pods, runs, upstream };
}
