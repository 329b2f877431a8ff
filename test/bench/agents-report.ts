import type { Looks } from './agents-looks.ts';
import type { Phase } from './agents-run.ts';
import type { Spread } from './agents-tally.ts';
import { machine, table, thousands } from './report.ts';

/** Everything one run of the benchmark of many agents measured. */
export interface AgentsBenchResult {
  readonly command: string;
  readonly loadBefore: number;
  readonly nodeArgs: string;
  readonly env: string;
  readonly agents: number;
  readonly watchers: number;
  /** The part of the agents that removes something every minute. */
  readonly busy: number;
  readonly kubernetes: string;
  readonly reportBytes: number;
  /** What these servers take from 64 writers at once. */
  readonly rawPatchesPerSecond: number;
  /** Resident memory of the API server without and with the watches, after it had come to rest. */
  readonly watchMemory: { readonly beforeMb: number; readonly afterMb: number };
  readonly outageSeconds: number;
  /** From when the API server answered again until every watch worked; undefined = not while it was looked at. */
  readonly recoverySeconds: number | undefined;
  readonly looks: Looks;
  readonly phases: readonly Phase[];
}

/** The result as a section of docs/benchmarks.md. */
export function agentsSection(result: AgentsBenchResult): string {
  const { agents, watchers, busy, command, loadBefore, nodeArgs, env, kubernetes, phases } = result;
  return [
    `## ${thousands(agents)} agents`,
    '',
    `\`${command}\`: ${thousands(agents)} agents, ${thousands(watchers)} of them with their own three watches, ${(100 * busy).toFixed(0)} % with something removed every minute. ${machine()}, Node ${process.version}, the controller's with \`${nodeArgs}\` and \`${env}\`, Kubernetes ${kubernetes}; etcd, API server, controller and all agents share the machine, which had a load of ${loadBefore.toFixed(1)} before.`,
    '',
    ...table(
      [
        ...['', 'time', 'requests of reports', 'a second', 'largest second', 'p99'],
        ...['API server: CPU', 'resident', 'controller: CPU', 'resident', 'longest lag'],
      ],
      phases.map(row),
    ),
    '',
    ...details(result),
    '',
  ].join('\n');
}

const verbs = ['GET', 'POST', 'PATCH'];

function row({ name, seconds, spreads, server, controller }: Phase): string[] {
  const own = verbs.flatMap((verb) => spreads.get(verb) ?? []);
  const sum = own.reduce((all, { count }) => all + count, 0);
  return [
    ...[name, `${seconds.toFixed(0)} s`],
    verbs.flatMap((verb) => told(verb, spreads.get(verb))).join(', ') || 'none',
    (sum / seconds).toFixed(1),
    verbs.flatMap((verb) => largest(verb, spreads.get(verb))).join(', '),
    ms(1_000 * Math.max(0, ...own.map(({ p99Seconds }) => p99Seconds))),
    ...[cores(server.cpuPerSecond), mb(server.residentMb)],
    ...[cores(controller.cpuPerSecond), mb(controller.residentMb), ms(controller.longestLagMs)],
  ];
}

const told = (verb: string, spread: Spread | undefined): string[] =>
  spread === undefined ? [] : [`${spread.count} ${verb}`];
const largest = (verb: string, spread: Spread | undefined): string[] =>
  spread === undefined ? [] : [`${spread.largestSecond} ${verb}`];

function details(result: AgentsBenchResult): string[] {
  const { phases, looks, watchers, watchMemory, agents } = result;
  const perWatch = (1_000 * (watchMemory.afterMb - watchMemory.beforeMb)) / (3 * watchers);
  return [
    ...phases.map((phase) => `- ${phase.name}: ${phaseText(phase)}`),
    `- Watches: ${3 * watchers} of them, each on a connection of its own, took ${perWatch.toFixed(0)} KB of the API server each (${mb(watchMemory.beforeMb)} before, ${mb(watchMemory.afterMb)} after).`,
    `- The API server was away for ${result.outageSeconds.toFixed(1)} s; ${result.recoverySeconds === undefined ? 'not all watches worked in the time measured' : `${result.recoverySeconds.toFixed(1)} s after it answered again all watches worked`}.`,
    `- A report has ${(result.reportBytes / 1_000).toFixed(1)} KB of JSON. Written as fast as they are taken, 64 at a time: ${result.rawPatchesPerSecond.toFixed(0)} patches a second.`,
    `- The controller's looks at ${thousands(agents)} reports, alone in a process: ${looks.idleMs.toFixed(2)} ms for whether one asks for an eviction, ${looks.rollUpMs.toFixed(1)} ms to add them up, both every 10 s, ${looks.allAskMs.toFixed(1)} ms while each asks for one.`,
  ];
}

function phaseText({ requests, spreads, fleet }: Phase): string {
  const patches = spreads.get('PATCH');
  const course =
    patches === undefined
      ? ''
      : `patches in each tenth of the time ${patches.tenths.join(' ')}, the last after ${patches.lastAtSeconds.toFixed(1)} s. `;
  const opened = [...spreads].filter(([what]) => /^(LIST|WATCH) /.test(what));
  const watches = opened
    .map(([what, one]) => `${one.count} × ${what} (largest second ${one.largestSecond})`)
    .join(', ');
  const failed = [...spreads].filter(([what]) => what.includes('('));
  const failures = failed.map(([what, { count }]) => `${count} × ${what}`).join(', ');
  const counted = [...requests]
    .sort()
    .map(([name, count]) => `${count} × ${name}`)
    .join(', ');
  return [
    `${course}By the API server's count: ${counted || 'nothing'}.`,
    ...(watches === '' ? [] : [`Watchers: ${watches}.`]),
    ...(failures === '' ? [] : [`Failed: ${failures}.`]),
    `The process of the agents: ${cores(fleet.cpuPerSecond)} of a core, longest lag ${ms(fleet.longestLagMs)}.`,
  ].join(' ');
}

const mb = (value: number): string => `${value.toFixed(0)} MB`;
const ms = (value: number): string => `${value.toFixed(0)} ms`;
const cores = (value: number): string => `${(100 * value).toFixed(1)} %`;
