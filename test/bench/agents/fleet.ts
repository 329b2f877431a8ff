import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { ReportManager } from '../../../src/agent/report/manager.ts';
import { reportMetrics } from '../../../src/agent/report/metrics.ts';
import { agentCaches, type AgentCaches } from '../../../src/commands/agent/caches.ts';
import { AgentLoops } from '../../../src/commands/agent/loops.ts';
import { NodeReports, type ReportingNode } from '../../../src/kube/actions/node-report.ts';
import { tokenCredentials } from '../../../src/kube/auth/credentials.ts';
import { createTransport, type ApiCall, type HttpTransport } from '../../../src/kube/http/http-transport.ts';
import { systemClock as clock } from '../../../src/runtime/scheduling/clock.ts';
import { agentUser } from '../../cluster/agent/agent.ts';
import type { Cluster } from '../../cluster/servers/cluster.ts';
import { waitUntil } from '../../cluster/servers/waiting.ts';
import { silentLogger as log } from '../../fakes/logger.ts';
import { simulatedNode, simulatedPass } from './simulated-node.ts';
import type { Tally } from './tally.ts';

interface FleetOptions {
  readonly cluster: Cluster;
  readonly nodes: readonly ReportingNode[];
  /** Agents with the three watches of a real one. The other agents share the caches of the first. */
  readonly watchers: number;
  /** The share of agents that remove something in each pass over containers. */
  readonly busy: number;
  readonly tally: Tally;
}

/** The defaults of the flags. */
const config = { imageGcPeriodMs: 300_000, containerGcPeriodMs: 60_000, localStoragePeriodMs: 10_000 };
const limits = { qps: 5, burst: 10 };

/** Agents in one process: each with the real loops, report and caches, on a simulated node. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #metrics = reportMetrics(new Registry());
  readonly #reports: HttpTransport;
  readonly #watching = new AbortController();
  readonly #transports: HttpTransport[] = [];
  readonly #watchers: { readonly caches: AgentCaches; readonly done: Promise<void> }[] = [];
  #stop = new AbortController();
  #agents: { readonly loops: AgentLoops; readonly done: Promise<void> }[] = [];

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#reports = this.#transport({}, ({ verb, code, seconds }) => {
      options.tally.add(Number(code) < 400 || code === '404' ? verb : `${verb} ${code}`, seconds);
    });
  }

  /** Opens the watches and waits until all caches are complete. */
  async watch(): Promise<void> {
    const { watchers, nodes } = this.#options;
    for (const [index, { name }] of nodes.slice(0, watchers).entries()) this.#openWatches(name, index);
    await waitUntil('all agents have listed', () => this.synced === watchers, { timeout: 300_000 });
  }

  /** Agents whose three watches work. */
  get synced(): number {
    return this.#watchers.filter(({ caches }) => isSynced(caches)).length;
  }

  /** Starts all agents now. */
  start(): void {
    this.#stop = new AbortController();
    this.#agents = this.#options.nodes.map((node, index) => this.#startAgent(node, index));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#agents.map(({ done }) => done));
    this.#agents = [];
  }

  async close(): Promise<void> {
    await this.stop();
    this.#watching.abort();
    await Promise.all(this.#watchers.map(({ done }) => done));
    for (const transport of this.#transports) transport.close();
  }

  #transport(
    rates: { readonly qps?: number; readonly burst?: number },
    metrics: (call: ApiCall) => void,
  ): HttpTransport {
    const { cluster } = this.#options;
    const endpoint = { server: cluster.url, tls: { ca: readFileSync(cluster.caFile) } };
    const auth = tokenCredentials(cluster.token(agentUser.name));
    const transport = createTransport({
      ...rates,
      endpoint,
      auth,
      clock,
      metrics,
      userAgent: 'dustpan-bench',
    });
    this.#transports.push(transport);
    return transport;
  }

  #openWatches(nodeName: string, index: number): void {
    const { tally } = this.#options;
    const { signal } = this.#watching;
    const caches = agentCaches({
      transport: this.#transport(limits, () => undefined),
      ...{ clock, random: Math.random, log, nodeName },
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
        const { watchers } = this.#options;
        const sharing = index === 0 ? this.#agents.slice(watchers) : [];
        for (const { loops } of [...this.#agents.slice(index, index + 1), ...sharing])
          loops.wakePasses(signal);
      },
    });
    this.#watchers.push({ caches, done: caches.run(signal) });
  }

  #startAgent(node: ReportingNode, index: number): { loops: AgentLoops; done: Promise<void> } {
    const { caches } = this.#watchers[index] ?? this.#watchers[0] ?? notWatching();
    const report = new ReportManager({
      ...simulatedNode,
      ...{ clock, random: Math.random, log, agentVersion: 'bench' },
      node: () => (caches.node() === undefined ? undefined : node),
      governance: () => caches.governance(),
      reports: new NodeReports(this.#reports),
      recorder: { record: () => undefined },
      metrics: this.#metrics,
    });
    const onResult = () => () => undefined;
    const loops = new AgentLoops({ config, clock, random: Math.random, log, onResult });
    const isBusy = index / this.#options.nodes.length >= 1 - this.#options.busy;
    const pass = (unit: 'imagegc' | 'containergc', removed: number) => () => {
      report.observe(simulatedPass(unit, removed));
      loops.wakeReport();
      return Promise.resolve();
    };
    const idle = (): Promise<void> => Promise.resolve();
    const done = loops.run(
      {
        containers: pass('containergc', isBusy ? 1 : 0),
        images: pass('imagegc', 0),
        ...{ storage: idle, pressure: idle, usage: idle, runtime: idle },
        report: (signal) => report.reconcile(signal),
        isReportAwaited: () => report.isAwaited,
      },
      this.#stop.signal,
    );
    return { loops, done };
  }
}

/** A cache whose watch has ended does not count. */
function isSynced(caches: AgentCaches): boolean {
  const governance = caches.governance();
  const isGovernanceKnown = governance.kind === 'governed' || governance.reason !== 'NodeUnknown';
  return isGovernanceKnown && caches.node() !== undefined && caches.pods() !== undefined;
}

function notWatching(): never {
  throw new Error('the fleet does not watch yet');
}
