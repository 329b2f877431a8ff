import { Registry } from 'prom-client';
import type { Demand, ReclaimResult, PressureInventory } from '../../../../src/agent/nodepressure/facts.ts';
import { NodePressureManager } from '../../../../src/agent/nodepressure/manager.ts';
import type { DiskReading } from '../../../../src/agent/nodepressure/signals.ts';
import { nodePressureMetrics, nodePressureReasons } from '../../../../src/agent/nodepressure/metrics.ts';
import { startMetrics, unitMetrics } from '../../../../src/gc/metrics.ts';
import type { StoragePod, StorageUsage } from '../../../../src/api/local-storage.ts';
import type { SignalReading } from '../../../../src/api/node-pressure.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { NodePassReport } from '../../../../src/gc/pass.ts';
import type { EventSpec } from '../../../../src/kube/events/recorder.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { storagePod, usage, type Used } from '../localstorage/builders.ts';
import { governedBy, pressurePolicy, reading, thresholds } from './builders.ts';

const never = new AbortController().signal;

/** A node with a disk of 1000, with the pods `big` and `small`, and the manager that watches its signals. */
export class Node {
  readonly clock = new FakeClock();
  readonly log = new RecordingLogger();
  readonly registry = new Registry();
  readonly events: EventSpec[] = [];
  readonly passes: NodePassReport[] = [];
  readonly relieved: Demand[] = [];
  governance: NodeGovernance = governedBy(pressurePolicy());
  available = 500;
  isUsed = true;
  isDown = false;
  pods: readonly StoragePod[] | undefined = [storagePod('big'), storagePod('small')];
  /** Usage by the names of the pods, measured now unless it has a time. */
  used: Readonly<Record<string, Used>> = {
    big: { containers: { main: { logs: 30 } } },
    small: { containers: { main: { logs: 3 } } },
  };
  /** Age of what the kubelet has measured. */
  ageMs = 0;
  disk: () => Promise<DiskReading> = () => Promise.reject(new Error('ENOENT'));
  onUsage = (): void => undefined;
  /** What a relief makes available, and what it leaves. */
  freed = 0;
  reclaim: ReclaimResult = 'Exhausted';
  readonly #metrics = unitMetrics(this.registry);
  readonly manager = new NodePressureManager({
    governance: () => this.governance,
    isUsed: () => this.isUsed,
    pods: () => this.pods,
    source: {
      usage: () => this.usage(),
      thresholds: () => Promise.resolve(thresholds({ 'nodefs.available': '10%' })),
    },
    disk: () => this.disk(),
    consumers: () => [{ kind: 'image', name: 'ml:1', amount: 7 }],
    node: () => ({ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u' }),
    relieve: (demand) => {
      this.relieved.push(demand);
      this.available += this.freed;
      return Promise.resolve(this.reclaim);
    },
    recorder: { record: (event) => this.events.push(event) },
    clock: this.clock,
    metrics: this.#metrics,
    own: nodePressureMetrics(this.registry),
    log: this.log,
    onPass: (pass) => this.passes.push(pass),
  });

  constructor() {
    startMetrics(this.#metrics, 'nodepressure', nodePressureReasons);
  }

  usage(): Promise<StorageUsage> {
    this.onUsage();
    if (this.isDown) return Promise.reject(new Error('connect ECONNREFUSED'));
    const atMs = this.clock.now().getTime();
    const signals: readonly SignalReading[] = [
      reading({ available: this.available, measuredAtMs: atMs - this.ageMs }),
    ];
    const used = Object.fromEntries(
      Object.entries(this.used).map(([name, one]) => [name, { ...one, atMs: one.atMs ?? atMs }]),
    );
    return Promise.resolve(usage(used, { signals, atMs }));
  }

  /** So many passes, ten seconds apart. */
  async pass(count = 1, signal = never): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.clock.advance(10_000);
      await this.manager.collect(signal);
    }
  }

  get inventory(): PressureInventory | undefined {
    return this.manager.inventory;
  }

  get requests(): readonly string[] {
    return (this.inventory?.requests ?? []).map(({ pod, signal }) => `${pod.name} ${signal}`);
  }

  get last(): NodePassReport | undefined {
    return this.passes.at(-1);
  }
}
