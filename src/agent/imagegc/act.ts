import type { ImageDisk } from '../../api/report/node-pass.ts';
import type { Thresholds } from '../../api/policy/policy.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { skewText } from '../../gc/checks.ts';
import type { Outcome } from '../../gc/decision.ts';
import { execute, logStop, type StepResult } from '../../gc/execute.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { imageChecks, type ImageCheckDeps, type PlanBasis } from './checks.ts';
import type { SpaceUnit } from '../../gc/reasons/space-words.ts';
import { amountOf, amountOverLow } from './disk.ts';
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
  const { missing, freedInodes, disk } = remover;
  return { ...resultsOf({ ...executed, stopped }, { missing, freedInodes }, skew), disk };
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

/** One crossed threshold, and what is missing until usage is at the low one. */
class Goal {
  readonly unit: SpaceUnit;
  readonly #thresholds: Thresholds;
  readonly #wanted: number;
  #nominal = 0;
  #lastFreed = 0;
  #isMeasured = true;
  /** 0 or less = usage is at the low threshold. */
  missing: number;

  constructor(unit: SpaceUnit, { rule, disk }: Pick<Planned, 'rule' | 'disk'>) {
    this.unit = unit;
    this.#thresholds = unit === 'bytes' ? rule : (rule.inodes ?? rule);
    this.missing = this.#over(disk) ?? 0;
    this.#wanted = this.missing;
  }

  /** Why no further image may be removed for this goal; undefined = one may. */
  get endedBecause(): string | undefined {
    // Without a measurement the sizes of the images show their bytes, but nothing shows their inodes.
    if (this.unit === 'inodes' && !this.#isMeasured)
      return 'the inodes of the file system cannot be measured';
    // The runtime frees the space later, or on another file system: removing more could remove every image for nothing.
    return this.#nominal >= this.#wanted && this.#lastFreed <= 0
      ? 'removed images of the planned size, but the usage of the file system did not fall accordingly'
      : undefined;
  }

  record(nominal: number, freed: number, after: ImageDisk | undefined): void {
    this.#nominal += nominal;
    this.#lastFreed = freed;
    const over = this.#over(after);
    this.#isMeasured = over !== undefined;
    this.missing = over ?? this.missing - nominal;
  }

  #over(disk: ImageDisk | undefined): number | undefined {
    const amount = amountOf(this.unit, disk);
    return amount && amountOverLow(amount, this.#thresholds);
  }
}

/** Removes the images of one pass and measures the disk after each. */
class ImageRemover {
  readonly #deps: ActDeps;
  readonly #plan: ImageGcPlan;
  readonly #goals: readonly Goal[];
  #removed = 0;
  disk: ImageDisk | undefined;
  freedInodes = 0;
  /** Why the space step ended above the low threshold. */
  endedBecause: string | undefined;

  constructor(deps: ActDeps, planned: Planned) {
    this.#deps = deps;
    this.#plan = planned.plan;
    this.disk = planned.disk;
    this.#goals = planned.plan.crossed.map((unit) => new Goal(unit, planned));
  }

  /** Amount to free until usage is at the low thresholds; 0 if the high threshold was not crossed. */
  get missing(): RemovalResults['missing'] {
    const missing = new Map(this.#goals.map((goal) => [goal.unit, goal.missing]));
    return { bytes: missing.get('bytes') ?? 0, inodes: missing.get('inodes') ?? 0 };
  }

  /** Whether the pass ends before this image. */
  enough({ reason }: ImageRemoval): boolean {
    return this.#removed >= this.#plan.maxImages || (reason !== 'Age' && this.#hasSpace());
  }

  /** The kubelet compares after a removal: the space step removes at least one image, even if rounding makes `missing` 0. */
  #hasSpace(): boolean {
    if (this.#removed === 0) return false;
    const unmet = this.#goals.filter(({ missing }) => missing > 0);
    if (unmet.some((goal) => goal.endedBecause === undefined)) return false;
    this.endedBecause = unmet[0]?.endedBecause;
    return true;
  }

  /** Removes the image. `freedBytes` is measured on the file system, or the image size if that fails. */
  async remove({ target: { image } }: ImageRemoval): Promise<StepResult> {
    await this.#deps.runtime.removeImage(image.id, new AbortController().signal);
    const before = this.disk;
    const after = await this.#measure();
    this.#removed += 1;
    this.disk = after;
    const nominal = { bytes: image.sizeBytes, inodes: this.#plan.inodesOf(image.sizeBytes) };
    const freed = {
      bytes: freedBetween('bytes', before, after) ?? nominal.bytes,
      inodes: freedBetween('inodes', before, after) ?? nominal.inodes,
    };
    for (const goal of this.#goals) goal.record(nominal[goal.unit], freed[goal.unit], after);
    this.freedInodes += freed.inodes;
    return { kind: 'done', freedBytes: freed.bytes };
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
}

/** Amount freed between two measurements; undefined = one of them failed. */
function freedBetween(
  unit: SpaceUnit,
  before: ImageDisk | undefined,
  after: ImageDisk | undefined,
): number | undefined {
  const [first, last] = [amountOf(unit, before), amountOf(unit, after)];
  return first && last && Math.max(0, last.free - first.free);
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
