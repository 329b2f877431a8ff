import { Registry } from 'prom-client';
import type { NodeConfirmation } from '../../../../src/api/node-confirmation.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type {
  ImageDisk,
  ImageInventory,
  NodePassReport,
  NodePod,
} from '../../../../src/api/report/node-pass.ts';
import type { ImageGcPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { ImageGcManager, type ImageGcDeps } from '../../../../src/agent/imagegc/manager.ts';
import { imageGcMetrics } from '../../../../src/agent/imagegc/metrics.ts';
import type { StateReading } from '../../../../src/node/disk/state-file.ts';
import type { AgentState } from '../../../../src/node/disk/state-format.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { FakeRuntime, image } from '../../../fakes/runtime.ts';
import { governedBy, imageRule, nameOf } from './builders.ts';

const never = new AbortController().signal;

/** As `governedBy`, of a rule without a minimum age; undefined = the policy says nothing of images. */
export const governed = (
  rule: Partial<ImageGcPolicy> | undefined,
  over: Partial<Policy> = {},
): NodeGovernance =>
  governedBy(rule === undefined ? undefined : imageRule({ minimumAgeMs: 0, ...rule }), over);

/** A state file in memory. */
class FakeStateFile {
  reading: StateReading = { kind: 'missing' };
  written: AgentState | undefined;
  error: Error | undefined;

  read(): Promise<StateReading> {
    return Promise.resolve(this.reading);
  }

  write(state: AgentState): Promise<void> {
    if (this.error !== undefined) return Promise.reject(this.error);
    this.written = state;
    this.reading = { kind: 'read', state };
    return Promise.resolve();
  }
}

/** A node with a disk of 10 000 bytes on which each image takes twice what the runtime says. */
export class Bed {
  readonly runtime = new FakeRuntime();
  readonly clock = new FakeClock();
  readonly recorder = new FakeRecorder();
  readonly log = new RecordingLogger();
  readonly registry = new Registry();
  readonly state = new FakeStateFile();
  readonly reports: NodePassReport[] = [];
  readonly inventories: (ImageInventory | undefined)[] = [];
  pods: readonly NodePod[] | undefined = [];
  governance: NodeGovernance = governed({});
  /** What the API server itself says, where that is not what the caches do. */
  live: Partial<NodeConfirmation> = {};
  liveError: Error | undefined;
  /** Runs before the API server answers. */
  beforeAnswer: () => void = () => undefined;
  /** How often the API server was asked. */
  asked = 0;
  /** What else is on the disk. */
  otherBytes = 0;
  capacityBytes = 10_000;
  diskError: Error | undefined;
  #manager: ImageGcManager;

  constructor() {
    this.#manager = this.#make();
  }

  /** As after a restart of the agent: what is not on the disk is forgotten. */
  restart(): void {
    this.registry.clear();
    this.#manager = this.#make();
  }

  async pass(signal = never): Promise<NodePassReport> {
    const before = this.reports.length;
    this.clock.advance(300_000);
    try {
      await this.#manager.collect(signal);
    } catch (err) {
      if (this.reports.at(-1)?.result !== 'Failed' || this.reports.length === before) throw err;
    }
    const report = this.reports[before];
    if (report === undefined) throw new Error('the pass made no report');
    return report;
  }

  /** Nine images of 1000 on disk each, 500 as the runtime counts: 90 %, 1000 bytes over the low threshold. */
  fill(): void {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    this.runtime.add(...names.map((name) => image(name, { sizeBytes: 500 })));
  }

  /** A pass that only sees the images for the first time, so that they are old in the next. */
  async settle(): Promise<void> {
    const { governance } = this;
    this.governance = governed(undefined);
    await this.pass();
    this.governance = governance;
  }

  /** The names of the images that are left. */
  get left(): readonly string[] {
    return this.runtime.images.map(nameOf);
  }

  get disk(): ImageDisk {
    const used = this.otherBytes + this.runtime.images.reduce((sum, { sizeBytes }) => sum + 2 * sizeBytes, 0);
    const { capacityBytes } = this;
    const availableBytes = Math.max(0, capacityBytes - used);
    return { capacityBytes, availableBytes, usedPercent: 0, inodes: undefined, inodesFree: undefined };
  }

  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
    const found = await this.registry.getSingleMetric(name)?.get();
    return found?.values.find((value) => Object.entries(labels).every(([k, v]) => value.labels[k] === v))
      ?.value;
  }

  #confirm(): Promise<NodeConfirmation> {
    this.asked += 1;
    this.beforeAnswer();
    if (this.liveError !== undefined) return Promise.reject(this.liveError);
    const { governance, pods = [] } = this;
    return Promise.resolve({ governance, pods, clockSkewMs: 0, ...this.live });
  }

  #make(): ImageGcManager {
    const deps: ImageGcDeps = {
      ...{
        runtime: this.runtime,
        clock: this.clock,
        recorder: this.recorder,
        log: this.log,
        state: this.state,
      },
      disk: () =>
        this.diskError === undefined ? Promise.resolve(this.disk) : Promise.reject(this.diskError),
      pods: () => this.pods,
      governance: () => this.governance,
      confirm: () => this.#confirm(),
      node: () => ({ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid-node-1' }),
      logBytes: () => Promise.resolve(70),
      metrics: imageGcMetrics(this.registry),
      onPass: (report, inventory) => {
        this.reports.push(report);
        this.inventories.push(inventory);
      },
    };
    return new ImageGcManager(deps);
  }
}
