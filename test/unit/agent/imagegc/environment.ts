import type { ImageInventory } from '../../../../src/agent/imagegc/facts.ts';
import type { LastRemoved, NodePassReport } from '../../../../src/gc/pass.ts';
import type { WantedImages } from '../../../../src/api/wanted-images.ts';
import type { NodePod } from '../../../../src/api/node-pod.ts';
import { namesOf } from '../../../../src/agent/imagegc/pin-labels.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import type { ContainerdStore, ImageName, Labels, NamespaceStore } from '../../../../src/containerd/store.ts';
import { Registry } from 'prom-client';
import type { NodeConfirmation } from '../../../../src/api/node-confirmation.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { ImageGcPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { ImageGcManager, type ImageGcDeps } from '../../../../src/agent/imagegc/manager.ts';
import { imageGcMetrics, imageGcReasons } from '../../../../src/agent/imagegc/metrics.ts';
import { startMetrics, unitMetrics, type UnitMetrics } from '../../../../src/gc/metrics.ts';
import type { StateReading } from '../../../../src/node/disk/state-file.ts';
import type { AgentState } from '../../../../src/node/disk/state-format.ts';
import { ImageMounts } from '../../../../src/cri/image-mounts.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { FakeRuntime, image } from '../../../fakes/runtime.ts';
import { reliefOf } from '../nodepressure/builders.ts';
import { governedBy, imageRule, nameOf } from './builders.ts';
import type { PlannedContainers, ReclaimResult, Relief } from '../../../../src/agent/nodepressure/facts.ts';
import { noContainers } from '../../../../src/agent/nodepressure/demands.ts';
import type { ImageDisk } from '../../../../src/node/disk/filesystem.ts';

const never = new AbortController().signal;

/** A policy with this rule and no minimum age governs the node; undefined = it has no rule for images. */
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

/** A node with a disk of 10 000 bytes, on which each image uses twice the size that the runtime reports. */
export class Node {
  /** Calls of `onProgress` so far. */
  progress = 0;
  readonly runtime = new FakeRuntime();
  readonly clock = new FakeClock();
  readonly recorder = new FakeRecorder();
  readonly log = new RecordingLogger();
  readonly registry = new Registry();
  readonly state = new FakeStateFile();
  readonly reports: NodePassReport[] = [];
  readonly inventories: (ImageInventory | undefined)[] = [];
  pods: readonly NodePod[] | undefined = [];
  wanted: WantedImages = { images: [], elsewhere: [], unknownBecause: undefined };
  wantedReads = 0;
  governance: NodeGovernance = governed({});
  /** How the response of the API server differs from the caches. */
  live: Partial<NodeConfirmation> = {};
  liveError: Error | undefined;
  /** Runs before the API server responds. */
  beforeResponse: () => void = () => undefined;
  /** Requests to the API server so far. */
  requests = 0;
  /** Bytes on the disk besides the images. */
  otherBytes = 0;
  capacityBytes = 10_000;
  /** The inodes of the file system, those used besides the images, and those of each image; undefined = it reports none. */
  inodes:
    { readonly total: number; readonly other: number; readonly of: (name: string) => number } | undefined;
  diskError: Error | undefined;
  /** What containerd keeps; undefined = the runtime is another one. */
  store: () => Promise<ContainerdStore | undefined> = () => Promise.resolve(undefined);
  /** Whether a pull receives anything. */
  isReceiving = false;
  /** Sets labels of a name; by default it has none that exists. */
  labelImage: (name: string, labels: Labels) => Promise<boolean> = () => Promise.resolve(false);
  #manager: ImageGcManager;

  constructor() {
    this.#manager = this.#make();
  }

  /** Restarts the agent: only the state file is left. */
  restart(): void {
    this.registry.clear();
    this.#manager = this.#make();
  }

  /** A pass for node pressure that measures this disk; `wanted` bytes must become available. */
  async relieve(
    wanted: number,
    over: Partial<Relief & { planned: PlannedContainers }> = {},
  ): Promise<ReclaimResult> {
    this.clock.advance(60_000);
    const until = this.disk.availableBytes + wanted;
    const missing = (): Promise<number> => Promise.resolve(until - this.disk.availableBytes);
    return await this.#manager.relieve(
      { ...reliefOf({ wanted, missing }), planned: noContainers, ...over },
      never,
    );
  }

  isPulling(): Promise<boolean> {
    return this.#manager.isPulling(never);
  }

  get lastRemoved(): LastRemoved['images'] {
    return this.#manager.lastRemoved;
  }

  async pass(signal = never): Promise<NodePassReport> {
    const before = this.reports.length;
    this.clock.advance(300_000);
    let isRejected = false;
    try {
      await this.#manager.collect(signal);
    } catch (err) {
      isRejected = true;
      if (this.reports.at(-1)?.result !== 'Failed' || this.reports.length === before) throw err;
    }
    const report = this.reports[before];
    if (report === undefined) throw new Error('the pass made no report');
    if (report.result === 'Failed' && !isRejected) throw new Error('the failed pass did not reject');
    return report;
  }

  /** Runs passes for so many days; returns how many images they removed. */
  async days(count: number): Promise<number> {
    let removed = 0;
    for (let hour = 0; hour < 24 * count; hour++) {
      this.clock.advance(55 * 60_000);
      removed += (await this.pass()).removed;
    }
    return removed;
  }

  /** Adds nine images, a to i, each of 1000 bytes on the disk and 500 by the runtime: 90 % are used, 1000 bytes above the low threshold. */
  fill(): void {
    this.runtime.add(...'a b c d e f g h i'.split(' ').map((name) => image(name, { sizeBytes: 500 })));
  }

  /** Runs a pass without a rule, so that the images are old in the next pass. */
  async observe(): Promise<void> {
    const { governance } = this;
    this.governance = governed(undefined);
    await this.pass();
    this.governance = governance;
  }

  /** The names of the images that are left, such as `a b`. */
  get left(): string {
    return this.runtime.images.map(nameOf).join(' ');
  }

  get disk(): ImageDisk {
    const used = this.otherBytes + this.runtime.images.reduce((sum, { sizeBytes }) => sum + 2 * sizeBytes, 0);
    const { capacityBytes } = this;
    const availableBytes = Math.max(0, capacityBytes - used);
    return { capacityBytes, availableBytes, usedPercent: 0, ...this.#inodes() };
  }

  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
    const found = await this.registry.getSingleMetric(name)?.get();
    return found?.values.find((value) => Object.entries(labels).every(([k, v]) => value.labels[k] === v))
      ?.value;
  }

  #inodes(): Pick<ImageDisk, 'inodes' | 'inodesFree' | 'inodesUsed'> {
    const { inodes } = this;
    if (inodes === undefined) return { inodes: undefined, inodesFree: undefined };
    const inodesUsed = this.runtime.images.reduce((sum, one) => sum + inodes.of(nameOf(one)), 0);
    return { inodes: inodes.total, inodesFree: inodes.total - inodes.other - inodesUsed, inodesUsed };
  }

  #confirm(): Promise<NodeConfirmation> {
    this.requests += 1;
    this.beforeResponse();
    if (this.liveError !== undefined) return Promise.reject(this.liveError);
    const { governance, pods = [] } = this;
    return Promise.resolve({ governance, labels: {}, pods, clockSkewMs: 0, ...this.live });
  }

  #make(): ImageGcManager {
    const deps: ImageGcDeps = {
      ...{
        runtime: this.runtime,
        mounts: new ImageMounts(this.runtime),
        clock: this.clock,
        recorder: this.recorder,
        log: this.log,
        state: this.state,
      },
      disk: () =>
        this.diskError === undefined ? Promise.resolve(this.disk) : Promise.reject(this.diskError),
      containerd: {
        read: () => this.store(),
        labelImage: (name, labels) => this.labelImage(name, labels),
        isReceiving: () => Promise.resolve(this.isReceiving),
      },
      pods: () => this.pods,
      wanted: () => {
        this.wantedReads += 1;
        return Promise.resolve(this.wanted);
      },
      governance: () => this.governance,
      live: { confirm: () => this.#confirm(), podState: () => Promise.resolve('unknown') },
      node: () => ({ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid-node-1' }),
      logBytes: () => Promise.resolve(70),
      periodMs: 300_000,
      onProgress: () => (this.progress += 1),
      metrics: startedMetrics(this.registry),
      own: imageGcMetrics(this.registry),
      onPass: (report) => {
        this.reports.push(report);
        this.inventories.push(this.#manager.inventory);
      },
    };
    return new ImageGcManager(deps);
  }
}

function startedMetrics(registry: Registry): UnitMetrics {
  const metrics = unitMetrics(registry);
  startMetrics(metrics, 'imagegc', imageGcReasons);
  return metrics;
}

/** What containerd keeps of the images of a node: names alone. Its CRI shows an image as pinned if a name has the label. */
export class FakeStore {
  readonly labels = new Map<string, Labels>();
  readonly #node: Node;

  constructor(node: Node) {
    this.#node = node;
    node.store = () => Promise.resolve(new Map([['k8s.io', { ...noStore, ...this.#stored() }]]));
    node.labelImage = (name, labels) => {
      this.labels.set(name, without({ ...this.labels.get(name), ...labels }));
      const { runtime } = node;
      const isPinned = (one: RuntimeImage): boolean => namesOf(one).some((of) => this.pinned.includes(of));
      runtime.images = runtime.images.map((one) => ({ ...one, pinned: isPinned(one) }));
      return Promise.resolve(true);
    };
  }

  imagesWith(label: string): Promise<readonly ImageName[]> {
    return Promise.resolve(this.#stored().images.filter(({ labels }) => label in labels));
  }

  get pinned(): readonly string[] {
    return [...this.labels]
      .flatMap(([name, labels]) => ('io.cri-containerd.pinned' in labels ? [name] : []))
      .sort();
  }

  #stored(): Pick<NamespaceStore, 'images' | 'blobs'> {
    const { images } = this.#node.runtime;
    const managed = { 'io.cri-containerd.image': 'managed' };
    const names = images.flatMap((one) => namesOf(one).map((name) => ({ name, target: one.id })));
    return {
      images: names.map((one) => ({ ...one, labels: { ...managed, ...this.labels.get(one.name) } })),
      blobs: images.map(({ id, sizeBytes }) => ({
        digest: id,
        sizeBytes: 2 * sizeBytes,
        createdAtSeconds: 0,
        labels: {},
      })),
    };
  }
}

const noStore = { snapshots: [], leases: [], containers: [], sandboxes: [], ingests: [] };

const without = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
