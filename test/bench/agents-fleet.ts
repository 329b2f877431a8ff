import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { ReportManager } from '../../src/agent/report/manager.ts';
import { reportMetrics } from '../../src/agent/report/metrics.ts';
import { agentCaches, type AgentCaches } from '../../src/commands/agent/caches.ts';
import { AgentLoops } from '../../src/commands/agent/loops.ts';
import { tokenCredentials } from '../../src/kube/auth/credentials.ts';
import { createTransport, type ApiCall, type HttpTransport } from '../../src/kube/http/http-transport.ts';
import { nodeReports, type ReportingNode } from '../../src/kube/actions/node-report.ts';
import { systemClock as clock } from '../../src/runtime/scheduling/clock.ts';
import { agentUser } from '../cluster/agent/agent.ts';
import { silentLogger as log } from '../fakes/logger.ts';
import type { AgentsBed } from './agents-bed.ts';
import { simulatedNode, simulatedPass } from './agents-node.ts';
import type { Tally } from './agents-tally.ts';

interface FleetOptions {
  readonly bed: Pick<AgentsBed, 'cluster' | 'nodes'>;
  /** So many of the agents have the three watches of a real one; the others learn from the first of these what it learns. */
  readonly watchers: number;
  /** The part of the agents that removes something in each pass over containers. */
  readonly busy: number;
  readonly tally: Tally;
}

/** The flags' defaults. */
const config = { imageGcPeriodMs: 300_000, containerGcPeriodMs: 60_000, localStoragePeriodMs: 10_000 };
const limits = { qps: 5, burst: 10 };

/** Agents in one process: the real loops, report and caches of each, on nodes that are made up. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #metrics = reportMetrics(new Registry());
  readonly #reports: HttpTransport;
  readonly #watching = new AbortController();
  readonly #transports: HttpTransport[] = [];
  readonly #watchers: Watcher[] = [];
  #running: { readonly stop: AbortController; readonly done: Promise<void> }[] = [];
  #loops: AgentLoops[] = [];

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#reports = this.#transport({}, ({ verb, code, seconds }) => {
      options.tally.add(Number(code) < 400 || code === '404' ? verb : `${verb} (${code})`, seconds);
    });
  }

  /** Opens the watches and resolves when all are complete. */
  async watch(): Promise<void> {
    const { watchers, bed } = this.#options;
    for (const [index, node] of bed.nodes.slice(0, Math.max(1, watchers)).entries())
      this.#watchers.push(this.#watcher(node, index));
    const isComplete = await isSoon(() => this.synced === this.#watchers.length, patienceMs);
    if (!isComplete) throw new Error(`only ${this.synced} agents have listed after ${patienceMs} ms`);
  }

  get synced(): number {
    return this.#watchers.filter(({ caches }) => isSynced(caches)).length;
  }

  /** All agents begin now. */
  start(): void {
    this.#loops = [];
    this.#running = this.#options.bed.nodes.map((node, index) => this.#agent(node, index));
  }

  async stop(): Promise<void> {
    for (const { stop } of this.#running) stop.abort();
    await Promise.all(this.#running.map(({ done }) => done));
    this.#running = [];
  }

  async close(): Promise<void> {
    await this.stop();
    this.#watching.abort();
    await Promise.all(this.#watchers.map(({ done }) => done));
    for (const transport of this.#transports) transport.close();
  }

  #transport(
    how: { readonly qps?: number; readonly burst?: number },
    metrics: (call: ApiCall) => void,
  ): HttpTransport {
    const { cluster } = this.#options.bed;
    const endpoint = { server: cluster.url, tls: { ca: readFileSync(cluster.caFile) } };
    const auth = tokenCredentials(cluster.token(agentUser.name));
    const transport = createTransport({ ...how, endpoint, auth, clock, metrics, userAgent: 'dustpan-bench' });
    this.#transports.push(transport);
    return transport;
  }

  #watcher({ name }: ReportingNode, index: number): Watcher {
    const { tally } = this.#options;
    const { signal } = this.#watching;
    const caches = agentCaches({
      transport: this.#transport(limits, () => undefined),
      ...{ clock, random: Math.random, log, nodeName: name },
      metrics: {
        listed: (resource) => {
          tally.add(`LIST ${resource}`);
        },
        watchStarted: (resource) => {
          tally.add(`WATCH ${resource}`);
        },
        failed: () => undefined,
      },
      onNews: () => {
        const heard = index === 0 ? this.#deaf(index) : this.#loops.slice(index, index + 1);
        for (const loops of heard) loops.hurry(signal);
      },
    });
    return { caches, done: caches.run(signal) };
  }

  /** Those without a watch of their own, and the one that they learn from. */
  #deaf(teacher: number): readonly AgentLoops[] {
    return this.#loops.filter((_, i) => i === teacher || i >= this.#watchers.length);
  }

  #agent(node: ReportingNode, index: number): { stop: AbortController; done: Promise<void> } {
    const stop = new AbortController();
    const [teacher] = this.#watchers;
    const { caches } = this.#watchers[index] ?? teacher ?? unwatched();
    const report = new ReportManager({
      ...simulatedNode,
      ...{ clock, random: Math.random, log, agentVersion: 'bench' },
      node: () => (caches.node() === undefined ? undefined : node),
      governance: () => caches.governance(),
      reports: nodeReports(this.#reports),
      metrics: this.#metrics,
    });
    const loops = new AgentLoops({
      config,
      clock,
      random: Math.random,
      log,
      onResult: () => () => undefined,
    });
    this.#loops.push(loops);
    const removes = index / this.#options.bed.nodes.length >= 1 - this.#options.busy ? 1 : 0;
    const pass = (unit: 'imagegc' | 'containergc', removed: number) => () => {
      report.observe(simulatedPass(unit, removed));
      loops.tell();
      return Promise.resolve();
    };
    const idle = (): Promise<void> => Promise.resolve();
    const done = loops.run(
      {
        containers: pass('containergc', removes),
        images: pass('imagegc', 0),
        ...{ storage: idle, runtime: idle },
        report: (signal) => report.reconcile(signal),
        isReportAwaited: () => report.isAwaited,
      },
      stop.signal,
    );
    return { stop, done };
  }
}

interface Watcher {
  readonly caches: AgentCaches;
  readonly done: Promise<void>;
}

/** All three watches work: a cache that only has been complete is told apart. */
function isSynced(caches: AgentCaches): boolean {
  const governance = caches.governance();
  const isGovernanceKnown = governance.kind === 'governed' || governance.reason !== 'NodeUnknown';
  return isGovernanceKnown && caches.node() !== undefined && caches.pods() !== undefined;
}

function unwatched(): never {
  throw new Error('the fleet does not watch yet');
}

const patienceMs = 300_000;

/** Whether the condition holds before the time is up. */
export async function isSoon(condition: () => boolean, atMostMs: number): Promise<boolean> {
  const deadline = performance.now() + atMostMs;
  while (!condition()) {
    if (performance.now() > deadline) return false;
    await clock.sleep(100, new AbortController().signal);
  }
  return true;
}
