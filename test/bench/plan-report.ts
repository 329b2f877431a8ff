import { median } from './median.ts';
import type { PodForm } from './plan-pods.ts';
import type { Run } from './plan-run.ts';
import { machine, table, thousands } from './report.ts';

/** A command on a list of pods, several times. */
export interface Measured {
  readonly form: PodForm;
  readonly command: string;
  readonly runs: readonly Run[];
}

/** Everything one run of the benchmark of plans measured. */
export interface PlanBenchResult {
  readonly command: string;
  readonly loadBefore: number;
  readonly pods: number;
  readonly rounds: number;
  /** Bytes of the list of pods in each form. */
  readonly sizes: ReadonlyMap<PodForm, number>;
  readonly measured: readonly Measured[];
  /** What else could be asked of the list as kubectl writes it. */
  readonly peers: readonly Measured[];
}

/** For `node -e`: reads the file of its first argument as one value. */
export const parsedWhole =
  "const list = JSON.parse(require('node:fs').readFileSync(process.argv[1], 'utf8')); console.log(list.kind);";

/** Of 100 000 pods. */
const budgets = { seconds: 10, peakMb: 400 };
const forms: Readonly<Record<PodForm, string>> = {
  kubectl: 'as `kubectl get pods -A -o json`',
  snapshot: 'as `dustpan snapshot`',
};

/** The result as a section of docs/benchmarks.md, budgets beside the figures. */
export function planSection({ pods, rounds, sizes, measured, peers, ...rest }: PlanBenchResult): string {
  const files = [...sizes].map(([form, bytes]) => `${(bytes / 1e6).toFixed(0)} MB ${forms[form]}`);
  const count = thousands(pods);
  return [
    `## plan, ${count} pods`,
    '',
    `\`${rest.command}\`: a snapshot of ${count} pods (${files.join(', ')}), 1 000 nodes, 50 namespaces and a policy, nine of ten pods finished. Each figure is the median of ${rounds} runs of \`node dist/main.js\`, from start to exit, ` +
      `output into a file, Node's own flags; memory is VmHWM. The last two rows are peers, which read the same file and do nothing with it. ${machine()}, Node ${process.version}; the machine had a load of ${rest.loadBefore.toFixed(1)} before.`,
    '',
    ...table(
      ['pods', 'command', 'time', 'CPU', 'memory, peak', 'output', ''],
      [...measured.map((one) => row(one, pods >= 100_000)), ...peers.map((one) => row(one, false))],
    ),
    '',
    `Budget: ${budgets.seconds} s and ${budgets.peakMb} MB.`,
    '',
  ].join('\n');
}

function row({ form, command, runs }: Measured, hasBudget: boolean): string[] {
  const failure = runs.find((run) => run.failure !== undefined)?.failure;
  const of = (read: (run: Run) => number): number => median(runs.map(read));
  const [seconds, peakMb] = [of((run) => run.wallSeconds), of((run) => run.peakMb)];
  const isMet = seconds <= budgets.seconds && peakMb <= budgets.peakMb && failure === undefined;
  return [
    forms[form],
    `\`${command}\``,
    `${seconds.toFixed(1)} s`,
    shown(
      of((run) => run.cpuSeconds),
      's',
      1,
    ),
    shown(peakMb, 'MB', 0),
    `${(of((run) => run.outputBytes) / 1e6).toFixed(1)} MB`,
    failure === undefined ? (hasBudget ? (isMet ? 'met' : '**missed**') : '') : `fails: ${failure}`,
  ];
}

/** A process that was killed tells nothing. */
const shown = (value: number, unit: string, digits: number): string =>
  Number.isNaN(value) ? '–' : `${value.toFixed(digits)} ${unit}`;
