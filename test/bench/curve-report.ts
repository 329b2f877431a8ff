import { semiSpaceFlag } from './controller-runtime.ts';
import { median } from './median.ts';
import { surroundings, table, thousands } from './report.ts';
import type { AtRest } from './run-dustpan.ts';
import { slope } from './statistics.ts';

/** The peer with so many pods. */
export interface UpstreamPoint {
  readonly peakMb: number;
  readonly secondsToFirstPass: number;
  readonly cpuSecondsToFirstPass: number;
}

/** dustpan with one old space; without figures, that was too small. */
export interface CurveRun {
  readonly oldSpaceMb: number;
  readonly rest?: AtRest;
}

/** One size of the cluster. */
export interface CurvePoint {
  readonly pods: number;
  readonly runs: readonly CurveRun[];
  readonly upstream?: UpstreamPoint;
}

/** Everything one run of the benchmark of sizes measured. */
export interface CurveResult {
  readonly command: string;
  readonly loadBefore: number;
  readonly env: string;
  readonly podBytes: number;
  readonly apiServer: string;
  readonly points: readonly CurvePoint[];
}

const peer = 'kube-controller-manager';
const besidePeer = [
  ...['pods', 'old space', 'memory, peak', peer],
  ...['CPU to the first pass', peer, 'first pass after', peer],
];
const alone = [
  ...['pods', 'old space', 'memory, steady', 'heap', 'plan, median', '… longest'],
  ...['lag, start', '… rest', 'CPU a minute'],
];

/** The result as a section of docs/benchmarks.md. */
export function curveSection(result: CurveResult): string {
  const { points, command, podBytes } = result;
  const nodeFlags = `\`${semiSpaceFlag}\`, \`--max-old-space-size\` of the column "old space" (MiB)`;
  return [
    '## curve',
    '',
    `\`${command}\`: pods of ${(podBytes / 1_000).toFixed(1)} KB, 1 000 nodes. ${surroundings(nodeFlags, result)}`,
    '',
    ...table(besidePeer, rows(points, cellsBesidePeer)),
    '',
    'dustpan at rest:',
    '',
    ...table(alone, rows(points, cellsAlone)),
    '',
    ...slopes(points),
    '',
  ].join('\n');
}

function rows(
  points: readonly CurvePoint[],
  cellsOf: (run: CurveRun, upstream: UpstreamPoint | undefined) => string[],
): string[][] {
  return points.flatMap(({ pods, runs, upstream }) =>
    runs.map((run, i) => [
      i === 0 ? thousands(pods) : '',
      String(run.oldSpaceMb),
      // The peer ran once.
      ...cellsOf(run, i === 0 ? upstream : undefined),
    ]),
  );
}

function cellsBesidePeer({ rest }: CurveRun, upstream: UpstreamPoint | undefined): string[] {
  return [
    rest ? mb(rest.peakMb) : '**out of heap**',
    upstream ? mb(upstream.peakMb) : '',
    rest ? seconds(rest.cpuSecondsToFirstPass) : '',
    upstream ? seconds(upstream.cpuSecondsToFirstPass) : '',
    rest ? seconds(rest.secondsToFirstPass) : '',
    upstream ? seconds(upstream.secondsToFirstPass) : '',
  ];
}

function cellsAlone({ rest }: CurveRun): string[] {
  if (!rest) return alone.slice(2).map(() => '');
  return [
    mb(rest.steadyMb),
    mb(rest.heapMb),
    ms(median(rest.planMs)),
    ms(Math.max(...rest.planMs)),
    ms(rest.startLagMs),
    ms(rest.restLagMs),
    `${rest.cpuSecondsPerMinute.toFixed(2)} s`,
  ];
}

/** What one more pod costs; said only of two sizes or more. */
function slopes(points: readonly CurvePoint[]): string[] {
  const ours = (of: (rest: AtRest) => number): string => perPod(points, ({ runs }) => lastOf(runs, of));
  const theirs = perPod(points, ({ upstream }) => upstream?.peakMb);
  return [
    `- Memory a pod, the slope of a straight line through all sizes: dustpan ${ours((rest) => rest.peakMb)} at the peak, ${ours((rest) => rest.steadyMb)} steady, ${ours((rest) => rest.heapMb)} of heap; kube-controller-manager ${theirs} at the peak.`,
  ];
}

/** Of several old spaces the last that was enough. */
function lastOf(runs: readonly CurveRun[], of: (rest: AtRest) => number): number | undefined {
  const rest = runs.findLast((run) => run.rest !== undefined)?.rest;
  return rest && of(rest);
}

function perPod(points: readonly CurvePoint[], mbOf: (point: CurvePoint) => number | undefined): string {
  const known = points.flatMap((point) => {
    const y = mbOf(point);
    return y === undefined ? [] : [{ x: point.pods, y }];
  });
  const bytes = slope(known) * 1e6;
  return Number.isNaN(bytes) ? '–' : `${thousands(Math.round(bytes))} bytes`;
}

const mb = (value: number): string => `${value.toFixed(0)} MB`;
const seconds = (value: number): string => `${value.toFixed(1)} s`;
const ms = (value: number): string => `${value.toFixed(1)} ms`;
