import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../cluster/repository.ts';
import type { AtRest, Cleared } from './run-dustpan.ts';
import type { Clearing } from './watch-collector.ts';

/** Everything one run of the benchmark measured. */
export interface BenchResult {
  readonly command: string;
  readonly pods: number;
  readonly due: number;
  readonly podBytes: number;
  readonly apiServer: string;
  readonly rawDeletesPerSecond: readonly number[];
  readonly rest: AtRest;
  readonly clearing: Cleared;
  readonly upstream: Clearing;
}

/** The result as a section of docs/benchmarks.md, budgets (of 100 000 pods) beside the figures. */
export function section(result: BenchResult): string {
  const { pods, due, podBytes, apiServer, command } = result;
  return [
    `## podgc, ${thousands(pods)} pods`,
    '',
    `\`${command}\`: ${thousands(pods)} pods of ${(podBytes / 1_000).toFixed(1)} KB, ${thousands(due)} of them over the threshold.`,
    `${machine()}, Node ${process.version}, Kubernetes ${apiServer}; etcd, API server, collector and bench share the machine.`,
    '',
    ...table(['', 'dustpan', 'kube-controller-manager', 'budget', ''], rows(result)),
    '',
    ...details(result),
    '',
  ].join('\n');
}

function rows({ pods, rest, clearing, upstream, rawDeletesPerSecond }: BenchResult): string[][] {
  const raw = mean(rawDeletesPerSecond);
  const share = (100 * clearing.deletesPerSecond) / raw;
  const budgeted = pods >= 100_000;
  const verdict = (met: boolean): string => (budgeted ? (met ? 'met' : '**missed**') : '');
  const peakMb = Math.max(rest.peakMb, clearing.peakMb);
  const steadyMb = Math.max(rest.steadyMb, clearing.steadyMb);
  const planMs = Math.max(...rest.planMs);
  const lagMs = Math.max(rest.startLagMs, rest.restLagMs, clearing.lagMs);
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
      '3 s',
      verdict(rest.cpuSecondsToFirstPass <= 3),
    ],
    [
      'start to first delete',
      seconds(clearing.firstDeleteSeconds),
      seconds(upstream.firstDeleteSeconds),
      '',
      '',
    ],
    ['deletes per second', one(clearing.deletesPerSecond), one(upstream.deletesPerSecond), '', ''],
    [
      '… of the raw rate',
      `${one(share)} %`,
      `${one((100 * upstream.deletesPerSecond) / raw)} %`,
      '90 %',
      verdict(share >= 90),
    ],
    ['plan of one pass, longest', `${one(planMs)} ms`, '', '100 ms', verdict(planMs <= 100)],
    ['event loop lag, longest', `${one(lagMs)} ms`, '', '200 ms', verdict(lagMs <= 200)],
    ['requests a minute at rest', one(rest.requestsPerMinute), '', 'watches only', ''],
  ];
}

function details({ rest, clearing, upstream, rawDeletesPerSecond }: BenchResult): string[] {
  return [
    `- Raw rate of this API server, 64 deletes in flight, before and after dustpan's turn: ${rawDeletesPerSecond.map(one).join(' and ')} per second.`,
    `- dustpan in DryRun: first pass after ${seconds(rest.secondsToFirstPass)}; peak ${mb(rest.peakMb)}, steady ${mb(rest.steadyMb)}, heap ${mb(rest.heapMb)}; ${rest.cpuSecondsPerMinute.toFixed(2)} s of CPU a minute at rest; lag ${one(rest.startLagMs)} ms at start, ${one(rest.restLagMs)} ms at rest.`,
    `- dustpan in Enforce: peak ${mb(clearing.peakMb)}, steady ${mb(clearing.steadyMb)} after it; ${seconds(clearing.cpuSecondsOfDeleting)} of CPU for ${clearing.deleted} deletes; lag ${one(clearing.lagMs)} ms.`,
    `- kube-controller-manager: only its pod garbage collector, at its default client limits (20/s, burst 30); CPU counted to its first delete; ${upstream.deleted} deletes watched.`,
  ];
}

function table(header: readonly string[], lines: readonly (readonly string[])[]): string[] {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(header), row(header.map(() => '---')), ...lines.map(row)];
}

function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`;
}

/** Puts the section in the place of the one with the same heading. */
export function writeSection(text: string): void {
  const file = join(repositoryRoot(), 'docs/benchmarks.md');
  const [heading = ''] = text.split('\n');
  const sections = readFileSync(file, 'utf8').split(/^(?=## )/m);
  const at = sections.findIndex((one) => one.startsWith(`${heading}\n`));
  if (at < 0) sections.push(text);
  else sections[at] = text;
  writeFileSync(file, sections.map((one) => one.trim()).join('\n\n') + '\n');
}

const mean = (values: readonly number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length;
const one = (value: number): string => value.toFixed(1);
const mb = (value: number): string => `${value.toFixed(0)} MB`;
const seconds = (value: number): string => `${value.toFixed(1)} s`;
const thousands = (value: number): string => value.toLocaleString('en').replaceAll(',', ' ');
