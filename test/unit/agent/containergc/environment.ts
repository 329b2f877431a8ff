import { Registry } from 'prom-client';
import type { NodeConfirmation } from '../../../../src/api/node-confirmation.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { ContainerInventory, NodePassReport } from '../../../../src/api/report/node-pass.ts';
import type { ContainerGcPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { PodAnswer } from '../../../../src/agent/containergc/checks.ts';
import { ContainerGcManager, type ContainerGcDeps } from '../../../../src/agent/containergc/manager.ts';
import { containerGcMetrics } from '../../../../src/agent/containergc/metrics.ts';
import type { NodeLogs } from '../../../../src/node/logs/logs.ts';
import type { LogEntry, LogListing } from '../../../../src/node/logs/list.ts';
import { nodesRules, policy } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { FakeRuntime } from '../../../fakes/runtime.ts';
import { rule } from './builders.ts';

/** Logs in memory: files and links by path. */
class FakeLogs implements NodeLogs {
  readonly roots = { pods: '/var/log/pods', containers: '/var/log/containers' };
  readonly entries = new Map<string, LogEntry>();
  readonly failing = new Set<string>();
  readonly calls: string[] = [];

  add(...entries: readonly LogEntry[]): this {
    for (const entry of entries) this.entries.set(entry.path, entry);
    return this;
  }

  get paths(): string[] {
    return [...this.entries.keys()].sort();
  }

  list(): Promise<LogListing> {
    if (this.failing.has('list'))
      return Promise.reject(new Error('listing logs', { cause: new Error('EACCES') }));
    const entries = [...this.entries.values()];
    return Promise.resolve({ roots: this.roots, entries, directories: [], complete: true });
  }

  removeDirectory(path: string): Promise<number> {
    return this.#remove(`directory ${path}`, (other) => other.startsWith(`${path}/`));
  }

  removeRotated(path: string): Promise<number> {
    return this.#remove(`rotated ${path}`, (other) => other === path);
  }

  removeContainerLog(path: string): Promise<number> {
    return this.#remove(`log ${path}`, (other) => other.startsWith(path));
  }

  async removeBrokenLink(path: string): Promise<boolean> {
    const target = this.entries.get(path)?.target;
    if (target === undefined || this.entries.has(target)) return false;
    await this.#remove(`link ${path}`, (other) => other === path);
    return true;
  }

  #remove(call: string, goes: (path: string) => boolean): Promise<number> {
    this.calls.push(call);
    if (this.failing.has(call))
      return Promise.reject(new Error(`removing ${call}`, { cause: new Error('EROFS') }));
    const going = [...this.entries.values()].filter(({ path }) => goes(path));
    for (const { path } of going) this.entries.delete(path);
    return Promise.resolve(going.reduce((sum, { bytes }) => sum + bytes, 0));
  }
}

export const nodePolicy = (
  over: Partial<ContainerGcPolicy> = {},
  mode: Policy['mode'] = 'Enforce',
): Policy => ({
  ...policy({ pods: undefined, mode }),
  nodes: nodesRules({ containerGC: rule(over) }),
});

export const governed = (by: Policy): NodeGovernance =>
  by.nodes === undefined
    ? { kind: 'keep', reason: 'NoPolicy', policy: undefined }
    : { kind: 'governed', policy: by, nodes: by.nodes };

export interface Bed {
  readonly runtime: FakeRuntime;
  readonly logs: FakeLogs;
  readonly clock: FakeClock;
  readonly recorder: FakeRecorder;
  readonly log: RecordingLogger;
  readonly registry: Registry;
  /** To be changed by a test. */
  readonly world: {
    pods: ReturnType<ContainerGcDeps['pods']>;
    governance: NodeGovernance;
    /** By UID; any other pod is gone. */
    readonly answers: Map<string, PodAnswer | Error>;
    /** What the API server itself says, where that is not what the caches do. */
    live: Partial<NodeConfirmation> | Error;
  };
  /** How often the API server was asked to confirm. */
  readonly confirmed: () => number;
  readonly asked: string[];
  readonly reports: NodePassReport[];
  readonly inventories: (ContainerInventory | undefined)[];
  /** Ids that are left. */
  readonly left: () => string[];
  readonly pass: (signal?: AbortSignal) => Promise<void>;
}

export function bed(by: Policy = nodePolicy()): Bed {
  const runtime = new FakeRuntime();
  const logs = new FakeLogs();
  const clock = new FakeClock();
  const recorder = new FakeRecorder();
  const log = new RecordingLogger();
  const registry = new Registry();
  const world: Bed['world'] = { pods: [], governance: governed(by), answers: new Map(), live: {} };
  const asked: string[] = [];
  let confirmed = 0;
  const reports: NodePassReport[] = [];
  const inventories: (ContainerInventory | undefined)[] = [];
  const manager = new ContainerGcManager({
    runtime,
    logs,
    pods: () => world.pods,
    podGone: ({ uid, namespace = '', name = '' }) => {
      asked.push(`${namespace}/${name} ${uid}`);
      const answer = world.answers.get(uid) ?? 'gone';
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    governance: () => world.governance,
    confirm: () => {
      confirmed += 1;
      if (world.live instanceof Error) return Promise.reject(world.live);
      return Promise.resolve({ governance: world.governance, pods: [], clockSkewMs: 0, ...world.live });
    },
    node: () => ({ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid-node-1' }),
    recorder,
    clock,
    metrics: containerGcMetrics(registry),
    log,
    onProgress: () => undefined,
    onPass: (report, inventory) => {
      reports.push(report);
      inventories.push(inventory);
    },
  });
  return {
    ...{ runtime, logs, clock, recorder, log, registry, world, asked, reports, inventories },
    confirmed: () => confirmed,
    left: () => [...runtime.containers, ...runtime.sandboxes].map(({ id }) => id).sort(),
    pass: (signal = new AbortController().signal) => manager.collect(signal),
  };
}
