import type { DustpanObserved, Observed } from './churn-run.ts';
import { median } from './median.ts';
import { surroundings, table, thousands } from './report.ts';
import { percentile, slope } from './statistics.ts';

/** Everything one run of the benchmark of changes measured. */
export interface ChurnResult {
  readonly command: string;
  readonly loadBefore: number;
  readonly nodeArgs: string;
  readonly env: string;
  readonly pods: number;
  /** Changes a second that were asked for. */
  readonly rate: number;
  readonly minutes: number;
  readonly apiServer: string;
  readonly dustpan: DustpanObserved;
  readonly upstream?: Observed;
}

/** Of 200 changes a second among 50 000 pods, for 5 minutes. */
const budgets = { delayP99Ms: 50, growthPercent: 5 };
/** Less of what was asked for is not what the budgets are for. */
const enoughOfRate = 0.95;

/** The result as a section of docs/benchmarks.md, budgets beside the figures. */
export function churnSection(result: ChurnResult): string {
  const { pods, rate, minutes, command, nodeArgs } = result;
  return [
    `## churn, ${thousands(pods)} pods`,
    '',
    `\`${command}\`: ${rate} changes a second among ${thousands(pods)} pods on 1 000 nodes, for ${minutes} min each. ${surroundings(`\`${nodeArgs}\``, result)}`,
    '',
    ...table(['', 'dustpan', 'kube-controller-manager', 'budget', ''], rows(result)),
    '',
    ...details(result),
    '',
  ].join('\n');
}

function rows(result: ChurnResult): string[][] {
  const { dustpan, upstream } = result;
  const { delays } = dustpan;
  const isFullSize = result.pods >= 50_000 && result.rate >= 200 && result.minutes >= 5;
  const isReached = changesPerSecond(dustpan) >= enoughOfRate * result.rate;
  const verdict = (met: boolean): string => (isFullSize && isReached ? (met ? 'met' : '**missed**') : '');
  const both = (of: (observed: Observed) => string): string[] => [of(dustpan), upstream ? of(upstream) : ''];
  const growth = growthPercent(dustpan);
  return [
    ['changes a second', ...both((one) => changesPerSecond(one).toFixed(1)), String(result.rate), ''],
    [
      'event loop delay, 99th percentile',
      ms(delays.p99Ms),
      '',
      `< ${budgets.delayP99Ms} ms`,
      verdict(delays.p99Ms < budgets.delayP99Ms),
    ],
    ['… longest', ms(delays.maxMs), '', '', ''],
    ['resident memory before', ...both(({ before }) => mb(before.residentMb)), '', ''],
    ['… in the first minute', ...both((one) => mb(minutesOf(one)[0] ?? NaN)), '', ''],
    ['… in the last minute', ...both((one) => mb(minutesOf(one).at(-1) ?? NaN)), '', ''],
    ['… peak', ...both(({ during }) => mb(Math.max(...during.map(({ peakMb }) => peakMb)))), '', ''],
    [
      'growth from the second minute to the last',
      ...both((one) => shownPercent(growthPercent(one))),
      `${budgets.growthPercent} %`,
      verdict(growth <= budgets.growthPercent),
    ],
    ['CPU a minute', ...both((one) => `${cpuSecondsPerMinute(one).toFixed(1)} s`), '', ''],
    ['view behind, longest', ms(Math.max(...dustpan.behindMs)), '', '', ''],
  ];
}

function details({ dustpan, upstream }: ChurnResult): string[] {
  const { delays, lagMs, planMs, behindMs, serverCpuSecondsPerMinute: servers, churned } = dustpan;
  const course = (one: Observed): string => `${minutesOf(one).map(whole).join(', ')} MB`;
  return [
    `- Event loop of dustpan, by a timer of 10 ms (${thousands(delays.samples)} samples): half of them at most ${ms(delays.p50Ms)} late, 99 % ${ms(delays.p99Ms)}, 99.9 % ${ms(delays.p999Ms)}. As it exports it, \`nodejs_eventloop_lag_p99_seconds\` of each second: median ${ms(median(lagMs))}, 99th percentile ${ms(percentile(lagMs, 99))}, longest ${ms(Math.max(...lagMs))}. Plans of ${planMs.map(whole).join(', ')} ms.`,
    `- Resident memory of dustpan, median of each minute: ${course(dustpan)}; its slope after the first minute is ${shownSlope(dustpan)}.${upstream ? ` kube-controller-manager: ${course(upstream)}; ${shownSlope(upstream)}.` : ''}`,
    `- Passes of dustpan were behind by ${behindMs.map(whole).join(', ')} ms.`,
    `- The client: ${thousands(churned.changes)} changes, ${churned.failed} failed${upstream ? `; beside kube-controller-manager ${thousands(upstream.churned.changes)}, ${upstream.churned.failed} failed` : ''}; answers after ${ms(median(churned.answerMs))}, 99th percentile ${ms(percentile(churned.answerMs, 99))}. Servers meanwhile: API server ${servers.api.toFixed(1)} s of CPU a minute, etcd ${servers.etcd.toFixed(1)} s.`,
  ];
}

const samplesOfMinute = 60;

/** Median of the resident memory of each whole minute, or of all when there is none; looked at about once a second. */
function minutesOf({ churned, during }: Observed): number[] {
  const minutes = Math.max(1, Math.round(churned.seconds / samplesOfMinute));
  const length = during.length / minutes;
  return Array.from({ length: minutes }, (_, i) =>
    median(
      during.slice(Math.round(i * length), Math.round((i + 1) * length)).map(({ residentMb }) => residentMb),
    ),
  );
}

/** NaN of a run too short to tell. */
function growthPercent(observed: Observed): number {
  const [, second = NaN, ...rest] = minutesOf(observed);
  return ((rest.at(-1) ?? NaN) / second - 1) * 100;
}

function shownSlope({ churned, during }: Observed): string {
  const minutesEach = churned.seconds / 60 / during.length;
  const points = during.map(({ residentMb }, i) => ({ x: i * minutesEach, y: residentMb }));
  const perMinute = slope(points.filter(({ x }) => x >= 1));
  return Number.isNaN(perMinute) ? 'not known' : `${perMinute.toFixed(2)} MB a minute`;
}

const changesPerSecond = ({ churned }: Observed): number => churned.changes / churned.seconds;

function cpuSecondsPerMinute({ before, during, churned }: Observed): number {
  const used = (during.at(-1)?.cpuSeconds ?? NaN) - before.cpuSeconds;
  return (used * 60) / churned.seconds;
}

const whole = (value: number): string => value.toFixed(0);
const mb = (value: number): string => `${value.toFixed(0)} MB`;
const ms = (value: number): string => `${value.toFixed(1)} ms`;
const shownPercent = (value: number): string => (Number.isNaN(value) ? '–' : `${value.toFixed(1)} %`);
