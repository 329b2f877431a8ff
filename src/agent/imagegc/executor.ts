import { LiveCheck, podsOfBoth, type LiveCheckDeps } from '../../api/node-confirmation.ts';
import type { ImageDisk } from '../../api/node-pass.ts';
import type { ImageKeepReason } from '../../api/reasons.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { errorLine } from '../../runtime/errors.ts';
import { liveMs, lookLive } from '../../runtime/fresh.ts';
import type { Logger } from '../../runtime/logger.ts';
import { bytesOverLow, hasCapacity, type DiskSpace } from './disk.ts';
import type { Given, ImageCandidate, ImageGcFacts, ImageGcPlan } from './facts.ts';
import { upstreamReason, type ImageGcMetrics } from './metrics.ts';
import { recheckImage } from './plan.ts';

interface ExecutorDeps extends LiveCheckDeps {
  readonly runtime: Pick<ContainerRuntime, 'removeImage'>;
  readonly disk: (signal: AbortSignal) => Promise<ImageDisk>;
  /** Lists images and containers anew and reads the pods as the cache has them then. */
  readonly observe: (signal: AbortSignal) => Promise<Omit<ImageGcFacts, 'disk'>>;
  /** Why nothing new may begin; undefined = go on. Asked after every wait. */
  readonly halted: () => string | undefined;
  readonly onRemoved: (image: ImageCandidate) => void;
  readonly given: Given;
  readonly metrics: ImageGcMetrics;
  readonly log: Logger;
}

/** So many failures in a row are no accident of single images: the rest would only fail as well. */
const hopelessInARow = 8;

/** The removals of one pass: each image looked at once more, removed, measured, told and counted. */
export class RemovalExecutor {
  readonly #deps: ExecutorDeps;
  readonly #live: LiveCheck;
  readonly removed: ImageCandidate[] = [];
  readonly failed: ImageCandidate[] = [];
  /** Measured where it can be, else as the runtime counts. */
  freedBytes = 0;
  /** To the low threshold; 0 or less = it is met. */
  missingBytes = 0;
  disk: ImageDisk | undefined;
  lastError: string | undefined;
  /** Why the pass ended early. */
  halted: string | undefined;
  /** Why the pass had to end: the node cannot be seen any more. */
  lostSight: string | undefined;
  #failedInARow = 0;
  #nominalBytes = 0;
  #lastCameFree = 0;
  /** Not the pass's own: a removal that has been sent is waited for, or it would go untold. It has its deadline. */
  readonly #signal = new AbortController().signal;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
    this.#live = new LiveCheck(deps);
  }

  /** Why not everything could be decided. */
  get undecided(): string | undefined {
    return this.#live.undecided;
  }

  /** Walks the candidates until all is done; a failed removal falls through to the next. Never rejects: what was done is to be told. */
  async run(
    { candidates, maxImages }: ImageGcPlan,
    disk: ImageDisk | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    this.disk = disk;
    this.missingBytes = missing(disk, this.#deps.given);
    const wantedBytes = this.missingBytes;
    for (const candidate of candidates) {
      if (this.removed.length >= maxImages || this.#mustStop(signal)) return;
      if (candidate.reason === 'Space' && this.#isEnough(wantedBytes)) return;
      await this.#perform(candidate, signal);
    }
  }

  /** Upstream looks after a removal: once the step runs, one image goes even if rounding says that nothing is missing. */
  #isEnough(wantedBytes: number): boolean {
    if (this.removed.length === 0) return false;
    if (this.missingBytes <= 0) return true;
    // The runtime frees later, or elsewhere: the next pass will know. Going on could take every image for nothing.
    if (this.#nominalBytes < wantedBytes || this.#lastCameFree > 0) return false;
    this.halted = 'removed what was wanted, but the file system does not show it';
    return true;
  }

  #mustStop(signal: AbortSignal): boolean {
    this.halted ??= signal.aborted ? 'shutting down' : this.#deps.halted();
    return this.halted !== undefined;
  }

  async #perform(candidate: ImageCandidate, signal: AbortSignal): Promise<void> {
    const { metrics, log } = this.#deps;
    const kept = await this.#recheck(candidate, signal);
    if (kept === 'Halted' || this.#mustStop(signal)) return;
    if (kept === undefined) return this.#remove(candidate, signal);
    if (kept !== 'Gone') metrics.skipped.inc({ reason: kept });
    log.debug({ ...fieldsOf(candidate), kept }, 'keeping image after live check');
  }

  async #recheck(candidate: ImageCandidate, signal: AbortSignal): Promise<Recheck> {
    const { clock, metrics } = this.#deps;
    const kept = await lookLive(() => this.#recheckOnce(candidate, signal), {
      clock,
      isYes: (answer) => answer === undefined,
    });
    if (kept !== 'slow') return kept;
    metrics.errors.inc({ stage: 'observe' });
    this.lostSight = `looking whether an image is in use takes longer than ${liveMs / 1000} s: it may have come into use meanwhile`;
    this.halted ??= this.lostSight;
    return 'Halted';
  }

  /** The API server is asked before the runtime, and once more where that was so slow that the answer is old. */
  async #recheckOnce({ image, reason }: ImageCandidate, signal: AbortSignal): Promise<Recheck> {
    const isConfirmed = (await this.#live.ask(signal)) !== undefined;
    const facts = isConfirmed ? await this.#observe(signal) : undefined;
    const live = facts === undefined ? undefined : await this.#live.ask(signal);
    this.halted ??= this.#live.halted;
    if (facts === undefined || live === undefined) return 'Halted';
    if (reason === 'Age' && this.#live.isClockUnsure(live)) return 'ClockUnsure';
    const pods = podsOfBoth(facts.pods, live.pods);
    return recheckImage(image.id, { ...facts, pods, disk: undefined }, this.#deps.given);
  }

  async #observe(signal: AbortSignal): Promise<Omit<ImageGcFacts, 'disk'> | undefined> {
    try {
      return await this.#deps.observe(signal);
    } catch (err) {
      if (!signal.aborted) this.#deps.metrics.errors.inc({ stage: 'observe' });
      if (!signal.aborted) this.lostSight = errorLine(err);
      this.halted ??= signal.aborted ? 'shutting down' : errorLine(err);
      return undefined;
    }
  }

  async #remove(candidate: ImageCandidate, signal: AbortSignal): Promise<void> {
    const { runtime, onRemoved, metrics, log } = this.#deps;
    try {
      await runtime.removeImage(candidate.image.id, this.#signal);
    } catch (err) {
      this.#fail(candidate, err);
      return;
    }
    this.#failedInARow = 0;
    this.removed.push(candidate);
    onRemoved(candidate);
    const cameFree = await this.#measure(candidate, signal);
    metrics.removed.inc({ reason: upstreamReason[candidate.reason] });
    metrics.freedBytes.inc(cameFree);
    log.info({ ...fieldsOf(candidate), freedBytes: cameFree }, 'removed image');
  }

  /** What came free, as the file system shows it; as the runtime counts where that cannot be seen. */
  async #measure({ image }: ImageCandidate, signal: AbortSignal): Promise<number> {
    const before = this.disk;
    this.#nominalBytes += image.sizeBytes;
    const after = await this.#look(signal);
    this.disk = after;
    this.missingBytes = hasCapacity(after)
      ? missing(after, this.#deps.given)
      : this.missingBytes - image.sizeBytes;
    const isMeasured = hasCapacity(before) && hasCapacity(after);
    const cameFree = isMeasured ? Math.max(0, after.availableBytes - before.availableBytes) : image.sizeBytes;
    this.#lastCameFree = cameFree;
    this.freedBytes += cameFree;
    return cameFree;
  }

  async #look(signal: AbortSignal): Promise<ImageDisk | undefined> {
    try {
      return await this.#deps.disk(signal);
    } catch (err) {
      if (signal.aborted) return undefined;
      this.#deps.metrics.errors.inc({ stage: 'disk' });
      this.#deps.log.warn({ err: errorLine(err) }, 'measuring image file system failed');
      return undefined;
    }
  }

  #fail(candidate: ImageCandidate, err: unknown): void {
    const { metrics, log } = this.#deps;
    this.failed.push(candidate);
    this.lastError = errorLine(err);
    this.#failedInARow++;
    metrics.errors.inc({ stage: 'remove' });
    log.warn({ ...fieldsOf(candidate), err: this.lastError }, 'removing image failed');
    if (isHopeless(err) || this.#failedInARow >= hopelessInARow) this.halted ??= this.lastError;
  }
}

/** undefined = it may go. */
type Recheck = ImageKeepReason | 'Gone' | 'Halted' | undefined;

const missing = (disk: DiskSpace | undefined, { policy }: Given): number =>
  hasCapacity(disk) ? bytesOverLow(disk, policy) : 0;

/** The runtime is away, hangs or lets nobody in: no other image will do better. */
const isHopeless = (err: unknown): boolean =>
  err instanceof Error &&
  'failure' in err &&
  (err.failure === 'unavailable' || err.failure === 'deadline' || err.failure === 'denied');

/** What a log line says of an image: enough to know it by when it is gone. */
export const fieldsOf = ({ image, reason }: ImageCandidate): object => ({
  image: image.id,
  names: [...image.tags, ...image.digests].slice(0, 4),
  bytes: image.sizeBytes,
  reason,
});
