import { setTimeout as sleep } from 'node:timers/promises';
import { EventLoopLag } from '../../../src/runtime/serving/event-loop-lag.ts';
import type { DustpanProcess } from '../../cluster/servers/dustpan-process.ts';
import { progress } from '../bench.ts';
import { scrape, scrapeEveryMs } from '../controller.ts';
import { sampled, usageOf } from '../process.ts';
import type { Servers } from '../servers.ts';
import type { Count, Tally } from './tally.ts';

export const columns = [
  ...['', 'time', 'requests of the agents (most in a second)', 'p99'],
  ...[
    'API server: CPU',
    'memory',
    'controller: CPU',
    'memory',
    'longest lag',
    'all agents: CPU',
    'longest lag',
  ],
];

interface Measured {
  readonly cluster: Servers['cluster'];
  readonly dustpan: DustpanProcess;
  readonly tally: Tally;
}

interface Phase {
  /** A function where only the phase itself shows the name. */
  readonly name: string | (() => string);
  readonly seconds: number;
  /** May take its time, and may restart the API server. */
  readonly begin?: () => unknown;
}

/** Measures from before `begin` until `seconds` later; resolves with a row for `columns`. */
export async function measurePhase(
  { cluster, dustpan, tally }: Measured,
  { name, seconds, begin }: Phase,
): Promise<string[]> {
  if (typeof name === 'string') progress(`${name}, ${seconds} s`);
  tally.take();
  const [pid, serverBefore, ownBefore] = [
    cluster.pid('api'),
    usageOf(cluster.pid('api')),
    process.cpuUsage(),
  ];
  const lag = new EventLoopLag();
  lag.start();
  const fromMs = performance.now();
  const acting = async (): Promise<void> => {
    await begin?.();
    await sleep(Math.max(0, seconds * 1_000 - (performance.now() - fromMs)));
  };
  const { samples } = await sampled(acting(), scrapeEveryMs, () => scrape(dustpan));
  const [counts, tookMs] = [tally.take(), performance.now() - fromMs];
  const server = usageOf(cluster.pid('api'));
  const own = process.cpuUsage(ownBefore);
  const [first, ...others] = samples;
  const last = others.at(-1) ?? first;
  const core = (cpuSeconds: number): string => `${((100_000 * cpuSeconds) / tookMs).toFixed(1)} %`;
  const row = [
    ...[typeof name === 'string' ? name : name(), `${(tookMs / 1_000).toFixed(0)} s`, countsText(counts)],
    ms(Math.max(0, ...counts.map(({ p99Ms }) => p99Ms))),
    core(server.cpuSeconds - (cluster.pid('api') === pid ? serverBefore.cpuSeconds : 0)),
    mb(server.residentMiB),
    core(last.usage.cpuSeconds - first.usage.cpuSeconds),
    mb(last.usage.residentMiB),
    // The first scrape also covers the time before this phase.
    ms(Math.max(0, ...others.map(({ lagMs }) => lagMs))),
    ...[core((own.user + own.system) / 1e6), ms(lag.takeMaxSeconds() * 1_000)],
  ];
  lag.stop();
  return row;
}

const countsText = (counts: readonly Count[]): string =>
  counts.map(({ name, count, largestSecond }) => `${count} ${name} (${largestSecond})`).join(', ') || 'none';
const mb = (mebibytes: number): string => `${(mebibytes * 1.048576).toFixed(0)} MB`;
const ms = (value: number): string => `${value.toFixed(0)} ms`;
