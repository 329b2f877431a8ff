import type { ImageDisk } from '../../api/report/node-pass.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { skewText } from '../../gc/checks.ts';
import type { Outcome } from '../../gc/decision.ts';
import { execute, logStop, type StepResult } from '../../gc/execute.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { imageChecks, type ImageCheckDeps, type PlanBasis } from './checks.ts';
import { bytesOverLow, hasCapacity } from './disk.ts';
import type { ImageGcPlan, ImageRemoval } from './facts.ts';
import { upstreamReason, type ImageGcMetrics } from './metrics.ts';
import { resultsOf, type RemovalResults } from './report.ts';

interface ActDeps extends ImageCheckDeps {
  readonly runtime: Pick<ContainerRuntime, 'removeImage'>;
  readonly disk: (signal: AbortSignal) => Promise<ImageDisk>;
  readonly clock: Clock;
  readonly metrics: ImageGcMetrics;
  readonly log: Logger;
  readonly onRemoved: (removal: ImageRemoval) => void;
}

interface Planned extends PlanBasis {
  readonly plan: ImageGcPlan;
  /** Measured before the pass. */
  readonly disk: ImageDisk | undefined;
}

/** After so many failures in a row the rest would fail as well. */
const giveUpAfter = 8;

/** Removes the images of a plan, in order, until enough is free. */
export async function removeImages(
  deps: ActDeps,
  planned: Planned,
  signal: AbortSignal,
): Promise<RemovalResults & { readonly disk: ImageDisk | undefined }> {
  const { clock, log } = deps;
  const { candidates } = planned.plan;
  const remover = new ImageRemover(deps, planned);
  const { checks, node } = imageChecks(deps, planned);
  const executed = await execute(
    candidates,
    {
      ...{ checks, clock, isHopeless, giveUpAfter, concurrency: 1 },
      steps: [(removal) => remover.remove(removal)],
      enough: (next) => remover.enough(next),
      onOutcome: (outcome) => {
        record(outcome, deps);
      },
    },
    signal,
  );
  const { endedBecause: why } = remover;
  const stopped = executed.stopped ?? (why === undefined ? undefined : ({ kind: 'stop', why } as const));
  logStop(log, stopped);
  if (stopped?.error !== undefined) deps.metrics.errors.inc({ stage: 'observe' });
  const [first] = candidates;
  const skew = first && skewText(node.clockSkewMs(first));
  const { missingBytes, disk } = remover;
  return { ...resultsOf({ ...executed, stopped }, missingBytes, skew), disk };
}

function record(outcome: Outcome<ImageRemoval>, { metrics, log, onRemoved }: ActDeps): void {
  const { decision } = outcome;
  const fields = fieldsOf(decision);
  switch (outcome.kind) {
    case 'done':
      onRemoved(decision);
      metrics.removed.inc({ reason: upstreamReason[decision.reason] });
      metrics.freedBytes.inc(outcome.freedBytes);
      log.info({ ...fields, freedBytes: outcome.freedBytes }, 'removed image');
      return;
    case 'kept':
      metrics.skipped.inc({ reason: outcome.reason });
      log.debug({ ...fields, kept: outcome.reason }, 'keeping image after live check');
      return;
    case 'gone':
      log.debug(fields, 'image is already gone');
      return;
    case 'failed':
      metrics.errors.inc({ stage: 'remove' });
      log.warn({ ...fields, err: errorLine(outcome.error) }, 'removing image failed');
  }
}

/** Removes the images of one pass and measures the disk after each. */
class ImageRemover {
  readonly #deps: ActDeps;
  readonly #planned: Planned;
  readonly #wantedBytes: number;
  #removed = 0;
  #nominalBytes = 0;
  #lastFreedBytes = 0;
  disk: ImageDisk | undefined;
  /** Bytes to free until usage is at the low threshold; 0 or less = it is. */
  missingBytes: number;
  /** Why the space step ended above the low threshold. */
  endedBecause: string | undefined;

  constructor(deps: ActDeps, planned: Planned) {
    this.#deps = deps;
    this.#planned = planned;
    this.disk = planned.disk;
    this.missingBytes = this.#missing(planned.disk) ?? 0;
    this.#wantedBytes = this.missingBytes;
  }

  /** Whether the pass ends before this image. */
  enough({ reason }: ImageRemoval): boolean {
    return this.#removed >= this.#planned.plan.maxImages || (reason === 'Space' && this.#hasSpace());
  }

  /** The kubelet compares after a removal: the space step removes at least one image, even if rounding makes `missingBytes` 0. */
  #hasSpace(): boolean {
    if (this.#removed === 0) return false;
    if (this.missingBytes <= 0) return true;
    // The runtime frees the space later, or on another file system: removing more could remove every image for nothing.
    if (this.#nominalBytes < this.#wantedBytes || this.#lastFreedBytes > 0) return false;
    this.endedBecause = 'removed images of the wanted size, but the file system does not show it';
    return true;
  }

  /** Removes the image. `freedBytes` is measured on the file system, or the image size if that fails. */
  async remove({ target: { image } }: ImageRemoval): Promise<StepResult> {
    await this.#deps.runtime.removeImage(image.id, new AbortController().signal);
    const before = this.disk;
    const after = await this.#measure();
    this.#removed += 1;
    this.#nominalBytes += image.sizeBytes;
    this.disk = after;
    this.missingBytes = this.#missing(after) ?? this.missingBytes - image.sizeBytes;
    const isMeasured = hasCapacity(before) && hasCapacity(after);
    const freedBytes = isMeasured
      ? Math.max(0, after.availableBytes - before.availableBytes)
      : image.sizeBytes;
    this.#lastFreedBytes = freedBytes;
    return { kind: 'done', freedBytes };
  }

  async #measure(): Promise<ImageDisk | undefined> {
    const { disk, metrics, log } = this.#deps;
    try {
      return await disk(new AbortController().signal);
    } catch (err) {
      metrics.errors.inc({ stage: 'disk' });
      log.warn({ err: errorLine(err) }, 'measuring image file system failed');
      return undefined;
    }
  }

  #missing(disk: ImageDisk | undefined): number | undefined {
    return hasCapacity(disk) ? bytesOverLow(disk, this.#planned.rule) : undefined;
  }
}

/** Whether every other removal would fail too: the runtime is unavailable, does not respond, or denies access. */
const isHopeless = (err: unknown): boolean =>
  err instanceof Error &&
  'failure' in err &&
  (err.failure === 'unavailable' || err.failure === 'deadline' || err.failure === 'denied');

/** Log fields that identify an image even after its removal. */
export const fieldsOf = ({ target: { image }, reason }: ImageRemoval): object => ({
  image: image.id,
  names: [...image.tags, ...image.digests].slice(0, 4),
  bytes: image.sizeBytes,
  reason,
});
