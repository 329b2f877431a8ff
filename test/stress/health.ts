import { join } from 'node:path';
import { usageOf } from '../bench/process.ts';
import {
  claimOf,
  isFailedRemoval,
  kubeletClaimOf,
  LogTail,
  parseDustpanLine,
  type DustpanLine,
} from './logs.ts';
import type { Ledger } from './ledger.ts';
import { memoryLimitMiB, type Stage } from './stage.ts';

type Component = 'agent' | 'controller';
const components: readonly Component[] = ['agent', 'controller'];

/** After a fault, until its watches and back-offs are over. */
const recoveryMs = 45_000;

/** Reads the processes and logs of dustpan and the log of the kubelet. */
export class Health {
  readonly #stage: Stage;
  readonly #ledger: Ledger;
  /** Without faults dustpan has no reason for a warning. */
  readonly #hasFaults: boolean;
  readonly #tails: Readonly<Record<Component | 'kubelet', LogTail>>;
  readonly #limitsMiB = { agent: memoryLimitMiB('agent'), controller: memoryLimitMiB('controller') };
  readonly #residentMiB = new Map<Component, number[]>();
  #kubeletErrors = new Map<string, number>();

  constructor(stage: Stage, ledger: Ledger, hasFaults: boolean) {
    this.#stage = stage;
    this.#ledger = ledger;
    this.#hasFaults = hasFaults;
    const tail = (name: string): LogTail => new LogTail(join(stage.cluster.dir, 'log', `${name}.log`));
    this.#tails = { agent: tail('agent'), controller: tail('dustpan'), kubelet: tail('kubelet') };
  }

  /** The memory of each process at each check. */
  get residentMiB(): ReadonlyMap<Component, readonly number[]> {
    return this.#residentMiB;
  }

  /** How often the kubelet logged each error about a removal. */
  get kubeletErrors(): ReadonlyMap<string, number> {
    return this.#kubeletErrors;
  }

  /** Returns what is wrong; `lastFaultMs` is the end of the last fault, or now during one. */
  check(lastFaultMs: number): readonly string[] {
    const failedRemovals = this.#readKubelet().filter(isFailedRemoval);
    return [
      ...(this.#hasFaults ? [] : failedRemovals.map((line) => `the kubelet logged: ${line}`)),
      ...this.#stage.ended().map((victim) => `${victim} has ended by itself`),
      ...components.flatMap((component) => [
        ...this.#memory(component),
        ...this.#tails[component].read().flatMap((line) => this.#line(component, line, lastFaultMs)),
      ]),
    ];
  }

  #memory(component: Component): readonly string[] {
    const process = this.#stage.processes.get(component);
    if (process?.isRunning !== true) return [];
    const residentMiB = residentMiBOf(process.pid);
    // A process that was just killed has no memory, and its exit is not reported yet.
    if (Number.isNaN(residentMiB)) return [];
    const readings = this.#residentMiB.get(component) ?? [];
    readings.push(residentMiB);
    this.#residentMiB.set(component, readings);
    const limit = this.#limitsMiB[component];
    if (residentMiB <= limit) return [];
    return [
      `the ${component} uses ${residentMiB.toFixed(0)} MiB, more than the chart's limit of ${limit} MiB`,
    ];
  }

  #line(component: Component, text: string, lastFaultMs: number): readonly string[] {
    const line = parseDustpanLine(text);
    // A killed process may leave half a line.
    if (line === undefined)
      return text.startsWith('{') && this.#hasFaults ? [] : [`${component} printed: ${text}`];
    const claim = claimOf(line);
    if (claim !== undefined) this.#ledger.add(claim);
    const kept = claim?.names.filter((name) => /(^|\/)kept[-:]/.test(name)) ?? [];
    return [
      ...kept.map((name) => `dustpan removed something of ${name}, which must be kept: ${text}`),
      ...(this.#isBad(line, lastFaultMs) ? [`${component} logged: ${text}`] : []),
    ];
  }

  #isBad({ level, ts, msg, err = '' }: DustpanLine, lastFaultMs: number): boolean {
    // On a busy machine the kubelet may take more than 10 s for its statistics: dustpan then decides nothing, and logs that.
    if (err.includes('did not respond to /stats/summary within')) return false;
    if (this.#hasFaults) return level === 'error' && Date.parse(ts) > lastFaultMs + recoveryMs;
    return (level === 'error' || level === 'warn') && !isLate.test(`${msg}: ${err}`);
  }

  #readKubelet(): readonly string[] {
    const year = new Date().getFullYear();
    const lines = this.#tails.kubelet.read();
    for (const line of lines) {
      const claim = kubeletClaimOf(line, year);
      if (claim !== undefined) this.#ledger.add(claim);
      if (!line.startsWith('E') || !/failed to remove|garbage collection failed|code = NotFound/i.test(line))
        continue;
      const message = /\] (?:"([^"]*)"|(.*))/.exec(line)?.slice(1).join('') ?? line;
      this.#kubeletErrors.set(message, (this.#kubeletErrors.get(message) ?? 0) + 1);
    }
    return lines;
  }
}

/** Without a fault, a server on a busy machine may still exceed a deadline: of a request, of the end of an evicted pod, of a bookmark. */
const isLate =
  /did not respond (to .+ )?within \d|^evicted pod has not ended|nothing arrived from the watch of .+ for \d/;

/** 0 when the process has just ended. */
function residentMiBOf(pid: number): number {
  try {
    return usageOf(pid).residentMiB;
  } catch {
    return 0;
  }
}
