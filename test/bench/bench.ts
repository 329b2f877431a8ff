import { cpus, loadavg, release, totalmem } from 'node:os';
import { scriptOptions } from '../../scripts/arguments.ts';
import type { Part } from '../cluster/programs/parts.ts';
import { inJail } from '../cluster/run.ts';

/** The numbers that a bench is run with: these, unless options of their names give others. */
export function benchOptions<T extends Readonly<Record<string, number>>>(defaults: T): T {
  const type = 'string' as const;
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type }]));
  const { values } = scriptOptions({ options });
  const given = Object.entries(values).map(([name, value]) => [name, Number(value)] as const);
  return Object.assign({ ...defaults }, Object.fromEntries(given));
}

/** The measurements of one bench. */
export interface Result {
  /** What was measured, with its size. */
  readonly title: string;
  /** Versions and flags that the values depend on, beside the machine and its Node. */
  readonly conditions: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Columns of a bench that compares dustpan with a peer and a budget. */
export const besidePeer = (peer: string): readonly string[] => ['', 'dustpan', peer, 'budget', ''];

/** The last two cells of a row. */
type Budget = readonly [text: string, verdict: string];

/** Budgets of a run; one that is too small is not judged. */
export const budgetsOf =
  (isJudged: boolean) =>
  (text: string, isMet: boolean): Budget => [text, !isJudged ? '' : isMet ? 'met' : '**missed**'];

/** A row for the columns of `besidePeer`. */
export const row = (
  what: string,
  dustpan: string,
  { peer = '', budget = ['', ''] }: { readonly peer?: string; readonly budget?: Budget } = {},
): string[] => [what, dustpan, peer, ...budget];

/** Starts this program again in a jail that has these programs; there, runs the bench and prints its result. */
export async function benchInJail(parts: readonly Part[], run: () => Promise<Result>): Promise<void> {
  if (process.env['BED_DIR'] === undefined)
    process.exitCode = await inJail([process.execPath, ...process.argv.slice(1)], { imageFsMB: 0, parts });
  else await printResult(run);
}

/** Runs the bench and prints its result as Markdown. */
export async function printResult(run: () => Promise<Result>): Promise<void> {
  const [load = 0] = loadavg();
  const { title, conditions, columns, rows } = await run();
  const [cpu] = cpus();
  const machine = `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, load ${load.toFixed(1)} before`;
  const about = [machine, `Node ${process.version}`, ...conditions].join('; ');
  const cells = [[title, ...columns.slice(1)], columns.map(() => '---'), ...rows];
  const table = cells.map((line) => `| ${line.join(' | ')} |`);
  process.stdout.write(`${about}\n\n${table.join('\n')}\n`);
}

/** Prints one line of progress. */
export function progress(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

/** The middle value, or the mean of the two middle ones; NaN without any. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/** The course of a value in at most ten parts of a run, each by its median: `150 152 151`. */
export function course(values: readonly number[]): string {
  const length = Math.max(1, Math.ceil(values.length / 10));
  const parts = Array.from({ length: Math.ceil(values.length / length) }, (_, i) =>
    values.slice(i * length, (i + 1) * length),
  );
  return parts.map((part) => median(part).toFixed(0)).join(' ');
}

export const megabytes = (mebibytes: number): number => mebibytes * 1.048576;

export const thousands = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ' ');
