import { isSameFileSystem } from '../../api/file-system.ts';
import type { StoragePod, StorageUsage } from '../../api/local-storage.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import type { ObjectRef } from '../../api/event-refs.ts';
import { podUidOf } from '../../api/pod-ref.ts';
import type { NodeGCReportStatusUsage } from '../../api/gen/nodegcreport.gen.ts';
import type { Recorder } from '../../kube/events/recorder.ts';
import type { Marks } from '../../node/disk/marks-format.ts';
import type { StateFile } from '../../node/disk/state-file.ts';
import type { FileSystemStats, MountedImageDisk } from '../../node/disk/filesystem.ts';
import { Changed } from '../../gc/changed.ts';
import { errorLine, withoutNumbers } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { sum } from '../../runtime/sum.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { PassClock } from '../../runtime/scheduling/jump.ts';
import type { ContainerInventory } from '../containergc/facts.ts';
import type { ImageInventory } from '../imagegc/facts.ts';
import { diskFillsDespiteCollection } from './events.ts';
import type { LayerBytes, MeasuredUsage, PodUse, UsageFacts } from './facts.ts';
import { noHistory, observeUsage, type UsageHistory } from './forecast.ts';
import { lastingImages, measureUsage, type ExactImages } from './measure.ts';
import { noMarks, observeMarks, watchedPods } from './marks.ts';
import { partialText, unlistedTexts } from './words.ts';
import { showUsage, type UsageMetrics } from './metrics.ts';
import { planUsage, type ReportLists, type UsagePlan } from './plan.ts';

export interface UsageDeps {
  /** The usage of the pods, as this node's kubelet reports it. */
  readonly kubelet: (signal: AbortSignal) => Promise<StorageUsage>;
  readonly nodeDisk: (signal: AbortSignal) => Promise<FileSystemStats>;
  readonly imageDisk: (signal: AbortSignal) => Promise<MountedImageDisk>;
  readonly runtime: Pick<ContainerRuntime, 'containerStats'>;
  /** The file system of the logs of pods. */
  readonly logDisk: (signal: AbortSignal) => Promise<FileSystemStats>;
  /** The pods bound to the node; undefined = unknown. */
  readonly pods: () => readonly StoragePod[] | undefined;
  /** Pods that the node may have, without finished ones; undefined = unknown. */
  readonly podSlots: () => number | undefined;
  readonly lists: () => ReportLists;
  /** Inventories of the last passes. */
  readonly images: () => ImageInventory | undefined;
  readonly containers: () => ContainerInventory | undefined;
  readonly leftovers: () => UsageFacts['leftovers'];
  readonly marks: Pick<StateFile<Marks>, 'read' | 'write'>;
  /** Bytes that dustpan has removed since it started. */
  readonly freedBytes: () => number;
  /** This node, for its Events; undefined = unknown: no Events. */
  readonly node: () => ObjectRef | undefined;
  readonly recorder: Recorder;
  readonly metrics: UsageMetrics;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly log: Logger;
}

/** A disk that is full later is no reason to act today. */
const warnSeconds = 24 * 60 * 60;
/** A forecast that wavers is not a new one. */
const warnEveryMs = 6 * 60 * 60_000;

/** A crash of the agent loses no more; each write waits for the disk. */
const saveEveryMs = 5 * 60_000;

/** Measures what uses the disks of the node, and when they will be full. It removes nothing, and needs no policy. */
export class UsageManager {
  readonly #deps: UsageDeps;
  #history: UsageHistory = noHistory;
  readonly #passClock: PassClock;
  #usage: NodeGCReportStatusUsage | undefined;
  #warnedMs: number | undefined;
  /** Pods by their UIDs. */
  #measured: ReadonlyMap<string, PodUse> = new Map();
  #exactImages: ExactImages | undefined;
  /** UIDs of pods of which not all was measured in the last pass. */
  #partial: ReadonlySet<string> = new Set();
  /** undefined = not read yet. */
  #marks: Marks | undefined;
  /** Monotonic times. */
  #watchedMs: number | undefined;
  #savedMs: number | undefined;
  /** undefined = the marks are written, or not yet. */
  #marksTrouble: string | undefined;
  /** What could not be read in the last pass, without its numbers. */
  readonly #failed = new Changed<string>();

  constructor(deps: UsageDeps) {
    this.#deps = deps;
    this.#passClock = new PassClock(deps.clock);
  }

  /** undefined = not measured yet. */
  get usage(): NodeGCReportStatusUsage | undefined {
    return this.#usage;
  }

  /** One measurement. What cannot be read is unknown, and no failure of the agent. */
  async measure(signal: AbortSignal): Promise<void> {
    const { pods, podSlots, lists, images, containers, leftovers, freedBytes, clock, metrics } = this.#deps;
    const unknown: string[] = [];
    const tried = async <T>(what: string, read: Promise<T>): Promise<T | undefined> => {
      try {
        return await read;
      } catch (err) {
        signal.throwIfAborted();
        unknown.push(`${what}: ${errorLine(err)}`);
        return undefined;
      }
    };
    const [kubelet, nodeDisk, imageDisk, logDisk, layers] = await Promise.all([
      tried('usage of the pods', this.#deps.kubelet(signal)),
      tried('disk of the kubelet', this.#deps.nodeDisk(signal)),
      tried('disk of images', this.#deps.imageDisk(signal)),
      // Without it logs count on the disk of the kubelet, where they usually are.
      this.#deps.logDisk(signal).catch(() => undefined),
      tried('writable layers', this.#layers(signal)),
    ]);
    if (kubelet !== undefined && kubelet.impossible.length > 0)
      unknown.push(`impossible values: ${kubelet.impossible.join(', ')}`);
    const facts = {
      kubelet,
      nodeDisk,
      imageDisk,
      layers,
      areLogsApart: nodeDisk && logDisk && !isSameFileSystem(nodeDisk, logDisk),
      pods: pods(),
      measuredBefore: this.#measured,
      images: this.#lastingImages(images()),
      containers: containers(),
      leftovers: leftovers(),
    };
    const failed = unknown.join('; ');
    unknown.push(...unlistedTexts(facts));
    const measured = measureUsage({ ...facts, now: clock.now() });
    if (measured.pods !== undefined) this.#measured = new Map(measured.pods.map((one) => [one.pod.uid, one]));
    else if (kubelet !== undefined && facts.pods !== undefined)
      unknown.push('usage of the pods: not measured yet by the kubelet');
    const unmeasured = this.#unmeasured(measured);
    if (unmeasured.length > 0) unknown.push(partialText(unmeasured));
    this.#history = observeUsage(this.#historyBefore(), measured, freedBytes());
    const marks = await this.#watch(facts, measured, signal);
    if (this.#marksTrouble !== undefined) unknown.push(this.#marksTrouble);
    const plan = planUsage({
      measured,
      history: this.#history,
      marks,
      images: facts.images,
      unmeasured,
      bound: facts.pods,
      podSlots: podSlots(),
      unknown,
      lists: lists(),
    });
    showUsage(metrics, { measured, plan });
    this.#usage = plan.usage;
    this.#warn(plan);
    this.#logFailed(failed);
  }

  async #watch(
    facts: Pick<UsageFacts, 'kubelet' | 'pods'>,
    measured: MeasuredUsage,
    signal: AbortSignal,
  ): Promise<Marks> {
    const marks = (this.#marks ??= await this.#readMarks(signal));
    const pods = watchedPods(facts, measured);
    if (pods === undefined) return marks;
    const atMs = this.#deps.clock.monotonicMs();
    this.#marks = observeMarks(marks, pods, atMs - (this.#watchedMs ?? atMs));
    this.#watchedMs = atMs;
    this.#savedMs ??= atMs;
    if (atMs - this.#savedMs >= saveEveryMs) await this.saveMarks(signal);
    return this.#marks;
  }

  async #readMarks(signal: AbortSignal): Promise<Marks> {
    const reading = await this.#deps.marks.read(signal);
    if (reading.kind === 'read') return reading.state;
    if (reading.kind === 'startOver')
      this.#deps.log.warn({ reason: reading.reason }, 'high-water marks cannot be used, starting over');
    return noMarks;
  }

  /** Writes the marks to the disk; also before the agent stops. Never rejects: a failure is reported as unknown. */
  async saveMarks(signal: AbortSignal): Promise<void> {
    if (this.#marks === undefined) return;
    this.#savedMs = this.#deps.clock.monotonicMs();
    try {
      await this.#deps.marks.write(this.#marks, signal);
      this.#marksTrouble = undefined;
    } catch (err) {
      this.#marksTrouble = `high-water marks after a restart of the agent: ${errorLine(err)}`;
      this.#deps.log.warn({ err: errorLine(err) }, 'writing high-water marks failed');
    }
  }

  /** Not a new pod, which the kubelet measures within a minute. */
  #unmeasured({ partial }: MeasuredUsage): readonly StoragePod[] {
    const lasting = partial.filter(({ uid }) => this.#partial.has(uid));
    this.#partial = new Set(partial.map(({ uid }) => uid));
    return lasting;
  }

  #lastingImages(images: ImageInventory | undefined): ImageInventory | undefined {
    const now = this.#deps.clock.now();
    if (images !== undefined && typeof images.packed === 'object')
      this.#exactImages = { images, atMs: now.getTime() };
    return lastingImages(images, this.#exactImages, now);
  }

  async #layers(signal: AbortSignal): Promise<LayerBytes> {
    const stats = await this.#deps.runtime.containerStats(signal);
    const sizeOf = (some: typeof stats): number =>
      sum(some.map(({ writableLayerBytes = 0 }) => writableLayerBytes));
    const byPod = Map.groupBy(stats, (one) => podUidOf(one) ?? '');
    return { total: sizeOf(stats), byPod: new Map([...byPod].map(([uid, own]) => [uid, sizeOf(own)])) };
  }

  /** After a jump of the clock the growth is unknown. */
  #historyBefore(): UsageHistory {
    return this.#passClock.begin().jumpedMs === 0 ? this.#history : noHistory;
  }

  #warn({ fullFirst }: UsagePlan): void {
    const { clock, node, recorder, log } = this.#deps;
    const regarding = node();
    if (fullFirst === undefined || fullFirst.seconds > warnSeconds || regarding === undefined) return;
    const atMs = clock.monotonicMs();
    if (this.#warnedMs !== undefined && atMs - this.#warnedMs < warnEveryMs) return;
    this.#warnedMs = atMs;
    recorder.record(diskFillsDespiteCollection(regarding, fullFirst.note));
    log.info({ note: fullFirst.note }, 'a disk fills despite collection');
  }

  #logFailed(unknown: string): void {
    if (this.#failed.added(unknown === '' ? [] : [withoutNumbers(unknown)]).size > 0)
      this.#deps.log.warn({ unknown }, 'the usage of the node is known in part');
  }
}
