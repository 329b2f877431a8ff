import type { Memory } from './agent-memory.ts';
import type { Pass, PassLoop } from './agent-passes.ts';
import type { Cleaned, Resting } from './agent-run.ts';
import type { Watching } from './agent-watch.ts';
import { median } from './median.ts';
import { machine, table } from './report.ts';

/** Everything one run of the benchmark of the agent measured. */
export interface AgentBenchResult {
  readonly command: string;
  readonly loadBefore: number;
  readonly nodeArgs: string;
  readonly env: string;
  readonly images: number;
  readonly containers: number;
  readonly minutes: number;
  readonly quickMinutes: number;
  readonly kubernetes: string;
  readonly runtime: string;
  readonly resting: Resting;
  readonly quick: Watching;
  readonly cleaned: Cleaned;
}

/** DESIGN's, for 300 images and 250 containers on Node 20. */
const budgets = { residentMiB: 60, imagePassMs: 50, patchesPer5Min: 1 };

/** The result as a section of docs/benchmarks.md, budgets beside the figures. */
export function agentSection(result: AgentBenchResult): string {
  const { images, containers, command, loadBefore, nodeArgs, env, kubernetes, runtime } = result;
  return [
    `## Agent, ${images} images, ${containers} containers`,
    '',
    `\`${command}\`: ${machine()}, Node ${process.version} with \`${nodeArgs}\` and \`${env}\`, Kubernetes ${kubernetes}, ${runtime}; images, containers and local storage (usage source Kubelet) are all on; etcd, API server, scheduler, controller manager, kubelet, containerd and bench share the machine, which had a load of ${loadBefore.toFixed(1)} before.`,
    '',
    ...table(['', 'dustpan agent', 'kubelet', 'budget', ''], rows(result)),
    '',
    ...details(result),
    '',
  ].join('\n');
}

function rows({ resting, quick, minutes }: AgentBenchResult): string[][] {
  const { agent, kubelet, requests } = resting;
  const half = agent.memory.slice(agent.memory.length / 2);
  const of = (read: (memory: Memory) => number): number => median(half.map(read));
  const steady = of(({ residentMiB }) => residentMiB);
  const imageMs = { rare: cpuOf(agent.passes, 'imagegc'), quick: cpuOf(quick.passes, 'imagegc') };
  const patches = ((requests.get('patch nodegcreports/status') ?? 0) * 5) / minutes;
  return [
    [
      'resident memory, steady',
      mib(steady),
      mib(kubelet.memory.residentMiB),
      `${budgets.residentMiB} MiB`,
      met(steady <= budgets.residentMiB),
    ],
    ['… peak', mib(peakOf(agent)), mib(kubelet.memory.peakMiB), '', ''],
    ['… its own pages', mib(of(({ privateMiB }) => privateMiB)), mib(kubelet.memory.privateMiB), '', ''],
    [
      'CPU a minute at rest',
      seconds((agent.cpuSeconds * 60) / agent.seconds),
      seconds(kubelet.cpuSecondsPerMinute),
      '',
      '',
    ],
    ['CPU of an image pass, 5 min apart', ...passCells(imageMs.rare)],
    ['… a container pass, 1 min apart', ms(cpuOf(agent.passes, 'containergc')), '', '', ''],
    ['… a local storage pass, 10 s apart', ms(cpuOf(agent.passes, 'localstorage')), '', '', ''],
    ['… an image pass, 5 s apart', ...passCells(imageMs.quick)],
    ['… a container pass, 7 s apart', ms(cpuOf(quick.passes, 'containergc')), '', '', ''],
    [
      'patches of the report in 5 min',
      patches.toFixed(1),
      '',
      String(budgets.patchesPer5Min),
      met(patches <= budgets.patchesPer5Min),
    ],
    ['other requests', others(requests), '', 'watches', met(onlyWatches(requests))],
  ];
}

const met = (ok: boolean): string => (ok ? 'met' : '**missed**');

/** Too short a run has no pass of some kind. */
const passCells = (cpuMs: number | undefined): string[] => [
  ms(cpuMs),
  '',
  `${budgets.imagePassMs} ms`,
  cpuMs === undefined ? '' : met(cpuMs <= budgets.imagePassMs),
];

function details({ resting, quick, cleaned, minutes, quickMinutes }: AgentBenchResult): string[] {
  const { agent } = resting;
  const every = Math.max(1, Math.floor(agent.memory.length / 6));
  const course = agent.memory
    .filter((_, i) => i % every === 0)
    .map(({ residentMiB }) => residentMiB.toFixed(1));
  const all = (passes: readonly Pass[], loop: PassLoop): string =>
    passes
      .filter((pass) => pass.loop === loop)
      .map(({ cpuMs }) => cpuMs.toFixed(0))
      .join(', ') || '–';
  return [
    `- At rest (DryRun, the agent's own periods, scraped every 15 s), ${minutes} min: resident ${course.join(', ')} MiB over time; CPU of the single image passes ${all(agent.passes, 'imagegc')} ms, container passes ${all(agent.passes, 'containergc')} ms, local storage passes ${all(agent.passes, 'localstorage')} ms.`,
    `- Passes a few seconds apart, ${quickMinutes} min: image passes ${all(quick.passes, 'imagegc')} ms, container passes ${all(quick.passes, 'containergc')} ms, local storage passes ${all(quick.passes, 'localstorage')} ms; resident ${mib(median(quick.memory.map(({ residentMiB }) => residentMiB)))}, peak ${mib(peakOf(quick))}.`,
    `- Time the runtime took for each call, on average, from the agent's own metrics: ${callTimes(quick)}.`,
    `- Enforce: ${cleaned.images} images and ${cleaned.containers} dead containers removed in ${seconds(cleaned.seconds)} with ${seconds(cleaned.cpuSeconds)} of CPU; resident ${mib(cleaned.memory.residentMiB)} afterwards, peak ${mib(cleaned.memory.peakMiB)}.`,
  ];
}

function cpuOf(passes: readonly Pass[], loop: PassLoop): number | undefined {
  const own = passes.filter((pass) => pass.loop === loop).map(({ cpuMs }) => cpuMs);
  return own.length === 0 ? undefined : median(own);
}

const peakOf = ({ memory }: Watching): number => Math.max(...memory.map(({ peakMiB }) => peakMiB));

const isReport = (name: string): boolean => name === 'patch nodegcreports/status';
const others = (requests: ReadonlyMap<string, number>): string =>
  [...requests]
    .filter(([name]) => !isReport(name))
    .map(([name, count]) => `${count} × ${name}`)
    .join(', ') || 'none';
const onlyWatches = (requests: ReadonlyMap<string, number>): boolean =>
  [...requests.keys()].every((name) => isReport(name) || name.startsWith('watch '));

function callTimes({ first, last }: Watching): string {
  const prefix = 'dustpan_runtime_operations_duration_seconds';
  const grown = (name: string): number => (last.get(name) ?? 0) - (first.get(name) ?? 0);
  const operations = [...last.keys()].flatMap(
    (name) => new RegExp(`^${prefix}_count\\{operation_type="(\\w+)"\\}$`).exec(name)?.[1] ?? [],
  );
  return operations
    .map((operation) => ({ operation, count: grown(`${prefix}_count{operation_type="${operation}"}`) }))
    .filter(({ count }) => count > 0)
    .map(
      ({ operation, count }) =>
        `${operation} ${ms((grown(`${prefix}_sum{operation_type="${operation}"}`) * 1_000) / count)} (${count})`,
    )
    .join(', ');
}

const mib = (value: number): string => `${value.toFixed(1)} MiB`;
const seconds = (value: number): string => `${value.toFixed(2)} s`;
const ms = (value: number | undefined): string => (value === undefined ? '–' : `${value.toFixed(1)} ms`);
