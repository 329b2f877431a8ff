import { join } from 'node:path';
import { usageOf } from '../bench/process.ts';
import { claimOf, isFailedRemoval, kubeletClaimOf, LogTail, parseDustpanLine } from './claims.ts';
import type { DustpanLine, Ledger } from './claims.ts';
import { components, type Component, type Stage } from './stage.ts';

/** After a fault, until its watches and back-offs are over. */
const recoveryMs = 45_000;

/** Without a fault, a server on a busy machine may still exceed a deadline: of a request, of the end of an evicted pod, of a bookmark. */
const isLate =
  /did not respond (to .+ )?within \d|^evicted pod has not ended|nothing arrived from the watch of .+ for \d/;

/** Reads the processes and logs of dustpan and the log of the kubelet. */
export class Health {
  /** The memory of each process at each check. */
  readonly residentMiB: Readonly<Record<Component, number[]>> = { agent: [], controller: [] };
  readonly #stage: Stage;
  readonly #ledger: Ledger;
  /** Without faults dustpan has no reason for a warning. */
  readonly #hasFaults: boolean;
  readonly #tails: Readonly<Record<Component | 'kubelet', LogTail>>;

  constructor(stage: Stage, ledger: Ledger, hasFaults: boolean) {
    this.#stage = stage;
    this.#ledger = ledger;
    this.#hasFaults = hasFaults;
    const tail = (name: string): LogTail => new LogTail(join(stage.cluster.dir, 'log', `${name}.log`));
    this.#tails = { agent: tail('agent'), controller: tail('dustpan'), kubelet: tail('kubelet') };
  }

  /** Returns what is wrong; `lastFaultMs` is the end of the last fault, or now during one. */
  check(lastFaultMs: number): readonly string[] {
    const kubeletLines = this.#tails.kubelet.read();
    const year = new Date().getFullYear();
    for (const claim of kubeletLines.flatMap((line) => kubeletClaimOf(line, year) ?? []))
      this.#ledger.add(claim);
    const failedRemovals = this.#hasFaults ? [] : kubeletLines.filter(isFailedRemoval);
    return [
      ...failedRemovals.map((line) => `the kubelet logged: ${line}`),
      ...this.#stage.ended().map((victim) => `${victim} has ended by itself`),
      ...components.flatMap((component) => [
        ...this.#memory(component),
        ...this.#tails[component].read().flatMap((line) => this.#line(component, line, lastFaultMs)),
      ]),
    ];
  }

  #memory(component: Component): readonly string[] {
    const mebibytes = residentMiBOf(this.#stage.processes.get(component));
    if (mebibytes === undefined) return [];
    this.residentMiB[component].push(mebibytes);
    const limit = this.#stage.shipped[component].limitMiB;
    if (mebibytes <= limit) return [];
    return [`the ${component} uses ${mebibytes.toFixed(0)} MiB, more than the chart's limit of ${limit} MiB`];
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
}

/** undefined when the process has ended: a process that was just killed has no memory, and its exit is not reported yet. */
function residentMiBOf(process: { readonly pid: number } | undefined): number | undefined {
  try {
    const { residentMiB } = usageOf(process?.pid);
    return Number.isNaN(residentMiB) ? undefined : residentMiB;
  } catch {
    return undefined;
  }
}
