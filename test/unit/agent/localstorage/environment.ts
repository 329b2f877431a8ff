import { Registry } from 'prom-client';
import type { StoragePod, StorageUsage } from '../../../../src/api/local-storage.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import { LocalStorageManager, type LocalStorageDeps } from '../../../../src/agent/localstorage/manager.ts';
import { localStorageMetrics, localStorageReasons } from '../../../../src/agent/localstorage/metrics.ts';
import { startMetrics, unitMetrics } from '../../../../src/gc/metrics.ts';
import type { EventSpec } from '../../../../src/kube/events/recorder.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { keptBy } from '../builders.ts';
import { container, governedBy, scratch, storagePod, storagePolicy, usage, type Used } from './builders.ts';
import type { StorageInventory } from '../../../../src/agent/localstorage/facts.ts';
import type { NodePassReport } from '../../../../src/gc/pass.ts';

const never = new AbortController().signal;
export const off: NodeGovernance = governedBy(undefined);
export const unknown: NodeGovernance = keptBy('NodeUnknown');

/** A node with the pods `scratch` and `logger`, and the manager that watches their local storage. */
export class Node {
  readonly clock = new FakeClock();
  readonly log = new RecordingLogger();
  readonly registry = new Registry();
  readonly events: EventSpec[] = [];
  readonly passes: NodePassReport[] = [];
  governance: NodeGovernance = governedBy(storagePolicy());
  pods: readonly StoragePod[] | undefined = [
    storagePod('scratch', scratch),
    storagePod('logger', { containers: [container('main', '200Mi')] }),
  ];
  used: Readonly<Record<string, Used>> = {};
  isDown = false;
  /** Called while the usage is read. */
  duringRead: () => void = () => undefined;
  reads = 0;
  closed = 0;
  readonly metrics = unitMetrics(this.registry);
  readonly manager: LocalStorageManager;

  constructor(over: Partial<LocalStorageDeps> = {}) {
    startMetrics(this.metrics, 'localstorage', localStorageReasons);
    this.manager = new LocalStorageManager({
      governance: () => this.governance,
      pods: () => this.pods,
      isUsed: () => true,
      node: () => undefined,
      source: {
        usage: () => this.#read(),
        close: () => {
          this.closed += 1;
        },
      },
      recorder: { record: (event) => this.events.push(event) },
      clock: this.clock,
      metrics: this.metrics,
      own: localStorageMetrics(this.registry),
      log: this.log,
      onPass: (pass) => this.passes.push(pass),
      ...over,
    });
  }

  #read(): Promise<StorageUsage> {
    this.reads += 1;
    this.duringRead();
    if (this.isDown) return Promise.reject(new Error('connect ECONNREFUSED'));
    const atMs = this.clock.now().getTime();
    const measured = Object.entries(this.used).map(([name, used]) => [name, { atMs, ...used }] as const);
    return Promise.resolve(usage(Object.fromEntries(measured), { atMs }));
  }

  /** One pass, ten seconds after the last. */
  async pass(used: Readonly<Record<string, Used>> = this.used, signal = never): Promise<void> {
    this.used = used;
    this.clock.advance(10_000);
    await this.manager.collect(signal);
  }

  get inventory(): StorageInventory | undefined {
    return this.manager.inventory;
  }

  get requests(): string[] {
    return (this.inventory?.evictionRequests ?? []).map(({ pod, signal }) => `${pod.name} ${signal}`);
  }

  get last(): NodePassReport | undefined {
    return this.passes.at(-1);
  }

  /** How often the log has this message at level info. */
  logged(message: string): number {
    return this.log.lines.filter((line) => line.level === 'info' && line.message === message).length;
  }

  /** Whether the metrics have this line, after the prefix `dustpan_`. */
  async hasMetric(line: string): Promise<boolean> {
    return (await this.registry.metrics()).includes(`dustpan_${line}\n`);
  }
}

/** `scratch` exceeds the limit of its volume. */
export const full = { scratch: { volumes: { tmp: 130 }, total: 140 }, logger: { total: 50 } };
