import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../cluster/repository.ts';
import type { ApiClient } from './api-client.ts';
import type { CpuParts } from './cpu-parts.ts';
import { wholeRate, type WholeCycles } from './gc-cycles.ts';
import { median } from './median.ts';
import type { AtRest, Cleared } from './run-dustpan.ts';
import type { Clearing } from './watch-collector.ts';

/** One backlog cleared by dustpan, and what the servers gave a plain client before and after. */
export interface Round {
  readonly clearing: Cleared;
  readonly raw: readonly [before: RawDeletes, after: RawDeletes];
}

/** What a plain client does, which is part of the bench. */
export interface RawDeletes {
  readonly perSecond: number;
  readonly cpuSeconds: CpuParts;
  readonly whole: WholeCycles | undefined;
}

/** Everything one run of the benchmark measured. */
export interface BenchResult {
  readonly command: string;
  readonly loadBefore: number;
  readonly nodeArgs: string;
  readonly env: string;
  readonly pods: number;
  readonly due: number;
  readonly podBytes: number;
  readonly apiServer: string;
  readonly rest: AtRest;
  readonly rounds: readonly Round[];
  readonly upstream: Clearing;
}

/** Of the CPU time of kube-controller-manager to its first pass: seconds on the machine that the design's budgets are of. */
const designsCpuShare = 3 / 16;

/** The result as a section of docs/benchmarks.md, budgets (of 100 000 pods) beside the figures. */
export function section(result: BenchResult): string {
  const { pods, due, podBytes, command, nodeArgs } = result;
  return [
    `## podgc, ${thousands(pods)} pods`,
    '',
    `\`${command}\`: ${thousands(pods)} pods of ${(podBytes / 1_000).toFixed(1)} KB on 1 000 nodes, ${thousands(due)} of them over the threshold. ${surroundings(`\`${nodeArgs}\``, result)}`,
    '',
    ...table(['', 'dustpan', 'kube-controller-manager', 'budget', ''], rows(result)),
    '',
    ...details(result),
    '',
  ].join('\n');
}

function rows({ pods, rest, rounds, upstream }: BenchResult): string[][] {
  const worst = (of: (round: Round) => number): number => Math.max(...rounds.map(of));
  const share = wholeShare(rounds);
  const cpuBudget = upstream.cpuSecondsToFirstDelete * designsCpuShare;
  const verdict = (met: boolean): string => (pods < 100_000 ? '' : met ? 'met' : '**missed**');
  const peakMb = Math.max(
    rest.peakMb,
    worst(({ clearing }) => clearing.peakMb),
  );
  const steadyMb = Math.max(
    rest.steadyMb,
    worst(({ clearing }) => clearing.steadyMb),
  );
  const planMs = Math.max(...rest.planMs);
  const lagMs = Math.max(
    rest.startLagMs,
    rest.restLagMs,
    worst(({ clearing }) => clearing.lagMs),
  );
  const rate = median(rounds.map(({ clearing }) => clearing.deletesPerSecond));
  const firstDelete = median(rounds.map(({ clearing }) => clearing.firstDeleteSeconds));
  const theirShare = (100 * upstream.deletesPerSecond) / median(rounds.map(rawRateOf));
  return [
    ['resident memory, peak', mb(peakMb), mb(upstream.usage.peakMb), '150 MB', verdict(peakMb <= 150)],
    [
      'resident memory, steady',
      mb(steadyMb),
      mb(upstream.usage.residentMb),
      '110 MB',
      verdict(steadyMb <= 110),
    ],
    [
      'CPU to the first synced pass',
      seconds(rest.cpuSecondsToFirstPass),
      seconds(upstream.cpuSecondsToFirstDelete),
      pods < 100_000 ? '3 s of 16' : `3 s of 16, here ${one(cpuBudget)}`,
      verdict(rest.cpuSecondsToFirstPass <= cpuBudget),
    ],
    ['start to first delete', seconds(firstDelete), seconds(upstream.firstDeleteSeconds), '', ''],
    ['deletes per second', one(rate), one(upstream.deletesPerSecond), '', ''],
    ['… of the raw rate', `${one(median(rounds.map(shareOf)))} %`, `${one(theirShare)} %`, '', ''],
    [
      '… in whole cycles of the server',
      ...(Number.isNaN(share)
        ? ['none', '', '90 %', '']
        : [`${one(share)} %`, '', '90 %', verdict(share >= 90)]),
    ],
    ['plan of one pass, longest', `${one(planMs)} ms`, '', '100 ms', verdict(planMs <= 100)],
    ['event loop lag, longest', `${one(lagMs)} ms`, '', '200 ms', verdict(lagMs <= 200)],
    ['requests a minute at rest', one(rest.requestsPerMinute), '', 'watches only', ''],
  ];
}

const rawRateOf = ({ raw: [before, after] }: Round): number => (before.perSecond + after.perSecond) / 2;

const shareOf = (round: Round): number => (100 * round.clearing.deletesPerSecond) / rawRateOf(round);

/** Of rates in whole cycles of the API server's garbage collector, all rounds together. */
function wholeShare(rounds: readonly Round[]): number {
  const dustpan = wholeRate(rounds.map(({ clearing }) => clearing.whole));
  return (100 * dustpan) / wholeRate(rawsOf(rounds).map(({ whole }) => whole));
}

/** Each once: what comes after a round comes before the next. */
const rawsOf = (rounds: readonly Round[]): readonly RawDeletes[] => [
  ...rounds.slice(0, 1).map(({ raw: [before] }) => before),
  ...rounds.map(({ raw: [, after] }) => after),
];

function details({ due, rest, rounds, upstream }: BenchResult): string[] {
  const eachRaw = (of: (raw: RawDeletes) => string): string => rawsOf(rounds).map(of).join(', ');
  const each = (of: (round: Round) => string): string => rounds.map(of).join(', ');
  const pairs = each((round) => `${one(round.clearing.deletesPerSecond)} of ${one(rawRateOf(round))}`);
  return [
    `- dustpan in DryRun: first pass after ${seconds(rest.secondsToFirstPass)}; peak ${mb(rest.peakMb)}, steady ${mb(rest.steadyMb)}, heap ${mb(rest.heapMb)}; ${rest.cpuSecondsPerMinute.toFixed(2)} s of CPU a minute at rest; plans of ${rest.planMs.map(one).join(', ')} ms; lag ${one(rest.startLagMs)} ms at start, ${one(rest.restLagMs)} ms at rest.`,
    `- dustpan in Enforce, deletes per second against the raw rate (64 in flight from a plain client, mean of before and after): ${pairs}. Peak ${each(({ clearing }) => mb(clearing.peakMb))}, steady ${each(({ clearing }) => mb(clearing.steadyMb))} afterwards; lag ${each(({ clearing }) => one(clearing.lagMs))} ms.`,
    `- CPU a delete of the API server + etcd + the bench, which looks on or is the plain client: beside dustpan ${each(({ clearing }) => msEach(clearing.othersCpuSeconds, clearing.measured))}, and dustpan itself ${each(({ clearing }) => twoMs(clearing.cpuSecondsOfDeleting / clearing.measured))}; plain client ${eachRaw(({ cpuSeconds }) => msEach(cpuSeconds, due))}.`,
    `- In whole cycles of the API server's garbage collector, deletes per second: dustpan ${each(({ clearing }) => cyclesText(clearing.whole))}; plain client ${eachRaw(({ whole }) => cyclesText(whole))}.`,
    `- kube-controller-manager: only its pod garbage collector, at its default client limits (20/s, burst 30); CPU counted to its first delete; ${upstream.deleted} deletes watched.`,
  ];
}

const cyclesText = (whole: WholeCycles | undefined): string =>
  whole ? `${one(wholeRate([whole]))} in ${whole.cycles}` : 'none';

const msEach = ({ apiServer, etcd, bench }: CpuParts, count: number): string =>
  [apiServer, etcd, bench].map((all) => twoMs(all / count)).join(' + ');

const twoMs = (value: number): string => `${(value * 1_000).toFixed(2)} ms`;

export function table(header: readonly string[], lines: readonly (readonly string[])[]): string[] {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(header), row(header.map(() => '---')), ...lines.map(row)];
}

export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`;
}

type Surroundings = Pick<BenchResult, 'env' | 'apiServer' | 'loadBefore'>;

/** On what a controller beside its servers was measured, and with which flags of Node, which are Markdown already. */
export function surroundings(nodeFlags: string, { env, apiServer, loadBefore }: Surroundings): string {
  return `${machine()}, Node ${process.version} with ${nodeFlags} and \`${env}\`, Kubernetes ${apiServer}; etcd, API server, collector and bench share the machine, which had a load of ${loadBefore.toFixed(1)} before.`;
}

/** What the API server calls itself. */
export async function serverVersion(api: Pick<ApiClient, 'send'>): Promise<string> {
  const { gitVersion } = JSON.parse((await api.send('GET', '/version')).toString()) as ServerVersion;
  return gitVersion;
}

interface ServerVersion {
  readonly gitVersion: string;
}

/** Puts the section into docs/benchmarks.md. */
export function writeSection(text: string): void {
  const file = join(repositoryRoot(), 'docs/benchmarks.md');
  writeFileSync(file, withSection(readFileSync(file, 'utf8'), text));
}

/** The page with the section in the place of the one with the same heading; else after the last whose heading begins with the same word. */
function withSection(page: string, text: string): string {
  const [heading = ''] = text.split('\n');
  const [word = ''] = heading.replace(/^## /, '').split(/\W/);
  const sections = page.split(/^(?=## )/m);
  const same = sections.findIndex((one) => one.startsWith(`${heading}\n`));
  const kin = sections.findLastIndex((one) => new RegExp(`^## ${word}\\b`, 'i').test(one));
  if (same >= 0) sections[same] = text;
  else sections.splice(kin < 0 ? sections.length : kin + 1, 0, text);
  return sections.map((one) => one.trim()).join('\n\n') + '\n';
}

const one = (value: number): string => value.toFixed(1);
const mb = (value: number): string => `${value.toFixed(0)} MB`;
const seconds = (value: number): string => `${value.toFixed(1)} s`;

/** 100000 as 100 000. */
export function thousands(value: number): string {
  return value.toLocaleString('en').replaceAll(',', ' ');
}
