import { Registry } from 'prom-client';
import { LeftoversManager } from '../../../../src/agent/leftovers/manager.ts';
import { leftoverMetrics, leftoverUnitReasons } from '../../../../src/agent/leftovers/metrics.ts';
import type { NodeConfirmation } from '../../../../src/api/node-confirmation.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { LeftoversPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { NamespaceStore } from '../../../../src/containerd/store.ts';
import { startMetrics, unitMetrics } from '../../../../src/gc/metrics.ts';
import type { NodePassReport } from '../../../../src/gc/pass.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { FakeRuntime } from '../../../fakes/runtime.ts';
import { governedNode } from '../builders.ts';
import { blob, block, lease, nothing } from '../stored.ts';

export const removing: LeftoversPolicy = { downloads: 'Remove', leases: 'Remove', snapshots: 'Remove' };
export const governed = (
  leftovers: LeftoversPolicy | undefined,
  mode: Policy['mode'] = 'Enforce',
): ReturnType<typeof governedNode> => {
  const governance = governedNode({ leftovers });
  return { ...governance, policy: { ...governance.policy, mode } };
};

/** One lease of nobody on a blob of 20 blocks. */
export const oneLease: NamespaceStore = {
  ...nothing,
  leases: [lease('left', 'content', 'b')],
  blobs: [blob('b', 20)],
};

/** A node whose containerd a test sets before a pass. */
export class Node {
  readonly runtime = new FakeRuntime();
  readonly clock = new FakeClock();
  readonly recorder = new FakeRecorder();
  readonly registry = new Registry();
  readonly log = new RecordingLogger();
  readonly reports: NodePassReport[] = [];
  /** What has changed containerd. */
  readonly changes: string[] = [];
  stored: NamespaceStore | undefined = oneLease;
  directories: number | undefined;
  /** Of the next reads. */
  error: Error | undefined;
  /** Of the next changes. */
  failing: Error | undefined;
  governance: NodeGovernance = governed(removing);
  live: Partial<NodeConfirmation> | Error = {};
  /** Called before each read. */
  onRead = (): void => undefined;
  readonly manager: LeftoversManager;

  constructor() {
    const { runtime, clock, recorder, registry, log } = this;
    const metrics = unitMetrics(registry);
    startMetrics(metrics, 'leftovers', leftoverUnitReasons);
    const changed = (change: string): Promise<boolean> => {
      this.changes.push(change);
      return this.failing === undefined ? Promise.resolve(true) : Promise.reject(this.failing);
    };
    this.manager = new LeftoversManager({
      ...{ runtime, clock, recorder, log, metrics, own: leftoverMetrics(registry), periodMs: 600_000 },
      containerd: {
        read: () => {
          this.onRead();
          if (this.error !== undefined) return Promise.reject(this.error);
          return Promise.resolve(this.stored && new Map([['k8s.io', this.stored]]));
        },
        measure: (snapshots) => Promise.resolve(new Map(snapshots.map((one) => [one, block]))),
        deleteLease: async (id) => {
          await changed(`lease ${id}`);
          const { leases = [] } = this.stored ?? {};
          const left = leases.filter((one) => one.id !== id);
          if (this.stored !== undefined) this.stored = { ...this.stored, leases: left };
          return left.length < leases.length;
        },
        abort: (ref) => changed(`abort ${ref}`),
        collect: async () => {
          await changed('collect');
        },
      },
      directories: { count: () => Promise.resolve(this.directories) },
      governance: () => this.governance,
      node: () => ({ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u' }),
      live: {
        confirm: () =>
          this.live instanceof Error
            ? Promise.reject(this.live)
            : Promise.resolve({
                governance: this.governance,
                pods: [],
                labels: {},
                clockSkewMs: 0,
                ...this.live,
              }),
        podState: () => Promise.resolve('gone'),
      },
      onProgress: () => undefined,
      onPass: (report) => this.reports.push(report),
    });
  }

  async pass(signal = new AbortController().signal): Promise<void> {
    await this.manager.collect(signal);
  }

  async passTwice(): Promise<void> {
    await this.pass();
    this.clock.advance(600_000);
    await this.pass();
  }

  get reasons(): readonly (string | undefined)[] {
    const { inventory } = this.manager;
    if (inventory === undefined || 'unknown' in inventory) return [];
    return inventory.leftovers.map(({ id, reason }) => `${id}: ${reason ?? ''}`);
  }
}
