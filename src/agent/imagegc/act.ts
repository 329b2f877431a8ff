import { isDiskSignal } from '../../api/node-pressure.ts';
import type { ContainerdClient } from '../../containerd/client.ts';
import type { RuntimeImage } from '../../cri/runtime.ts';
import { skewText } from '../../gc/checks.ts';
import { logStop, type StepResult, type Stop } from '../../gc/execute.ts';
import { FailureMemory } from '../../gc/failures.ts';
import type { LateRemovals } from '../../gc/late-removals.ts';
import { carryOut, recordLate, undecidedBecause, type Reporting } from '../../gc/pass.ts';
import { isHopeless, isRuntimeDown } from '../../gc/runtime-failures.ts';
import type { ImageDisk } from '../../node/disk/filesystem.ts';
import { errorLine } from '../../runtime/errors.ts';
import { imageChecks, type ImageCheckDeps, type PlanBasis } from './checks.ts';
import { amountOf, amountOverLow } from './disk.ts';
import {
  bytesOf,
  isDueAnyway,
  signalOf,
  type Goal,
  type ImageGcPlan,
  type ImageRemoval,
  type SpaceUnit,
} from './facts.ts';
import { upstreamReason, type ImageGcMetrics, type Stage } from './metrics.ts';
import { ownLabel, unpinned } from './pin-labels.ts';
import type { PinChange } from './pins.ts';
import type { RemovalResults } from './report.ts';
import type { Relief } from '../nodepressure/facts.ts';

interface ActDeps extends ImageCheckDeps {
  readonly reporting: Reporting;
  readonly own: ImageGcMetrics;
  readonly disk: (signal: AbortSignal) => Promise<ImageDisk>;
  readonly failures: FailureMemory<ImageRemoval>;
  readonly late: LateRemovals<ImageRemoval>;
  readonly onRemoved: (removal: ImageRemoval) => void;
}

export interface PlannedRemovals extends PlanBasis {
  readonly plan: ImageGcPlan;
  /** Measured before the pass. */
  readonly disk: ImageDisk | undefined;
  /** undefined = no demand of node pressure. */
  readonly relief: Relief | undefined;
}

/** Removes the images of a plan, in order, until enough is free; undefined = the mode is DryRun, and nothing is removed. */
export async function removeImages(
  deps: ActDeps,
  planned: PlannedRemovals,
  signal: AbortSignal,
): Promise<RemovalResults | undefined> {
  const { clock, reporting, own, failures, onProgress, onRemoved } = deps;
  const { plan, policy } = planned;
  const isDryRun = policy.mode === 'DryRun';
  const remover = new ImageRemover(deps, planned);
  const { checks, node } = imageChecks(deps, planned);
  const results = await carryOut(
    // An image whose removal fails is replaced by the next candidate.
    isDryRun ? plan.removals : plan.candidates,
    reporting,
    {
      checks,
      steps: [(removal) => remover.remove(removal)],
      clock,
      concurrency: 1,
      isHopeless,
      enough: (next) => remover.enough(next),
      fieldsOf,
      failures,
      onProgress,
      onOutcome: (outcome) => {
        if (outcome.kind !== 'done') return;
        onRemoved(outcome.decision);
        countRemoved(own, outcome.decision);
        own.collectedBytes.inc(outcome.freedBytes);
      },
    },
    signal,
  );
  if (isDryRun) return undefined;
  if (results.stopped?.error !== undefined) countError(reporting, 'observe');
  const [first] = plan.candidates;
  const { endedBecause, missing, freedInodes, disk } = remover;
  if (results.stopped === undefined) logStop(reporting.log, endedBecause);
  return {
    ...results,
    missing,
    freedInodes,
    disk,
    stopped: results.stopped ?? endedBecause,
    unknown: undecidedBecause(results, first && skewText(node.clockSkewMs(first))),
  };
}

const countRemoved = (own: ImageGcMetrics, { reason }: ImageRemoval): void =>
  own.collected.inc({ reason: upstreamReason[reason] });

export function recordLateImage(
  removal: ImageRemoval,
  { reporting, own }: Pick<ActDeps, 'reporting' | 'own'>,
): void {
  countRemoved(own, removal);
  recordLate(removal, fieldsOf(removal), reporting);
}

/** One goal of the plan, and what is missing until it is met. */
class Measured {
  readonly goal: Goal;
  readonly #wanted: number;
  #nominal = 0;
  /** By the sizes that the runtime reports. */
  #listed = 0;
  #lastFreed = 0;
  /** The same, of the last removal that was expected to free something. */
  #lastExpected = 0;
  #isMeasured = true;
  /** 0 or less = the goal is met. */
  missing: number;

  constructor(goal: Goal, missing: number) {
    this.goal = goal;
    this.missing = missing;
    this.#wanted = missing;
  }

  /** Why no further image may be removed for this goal; undefined = one may. `expectsMore`: one that is left frees something by the plan. */
  endedBecause(expectsMore: boolean): string | undefined {
    // Without a measurement the sizes of the images show their bytes, but nothing shows their inodes.
    if (this.goal.unit === 'inodes' && !this.#isMeasured)
      return 'the inodes of the file system cannot be measured';
    // The runtime frees the space later, or on another file system: removing more could remove every image for nothing.
    const isMissed = this.#nominal >= this.#wanted && this.#lastExpected <= 0;
    // Something else holds the layers of all images that are left.
    const isHeld = !expectsMore && this.#listed >= this.#wanted && this.#lastFreed <= 0;
    return isMissed || isHeld
      ? 'removed images of the planned size, but the usage of the file system did not fall accordingly'
      : undefined;
  }

  /** Takes a removal into account; `missing` undefined = it could not be measured. */
  record(nominal: number, listed: number, missing: number | undefined): void {
    this.#lastFreed = missing === undefined || !this.#isMeasured ? nominal : this.missing - missing;
    if (nominal > 0) this.#lastExpected = this.#lastFreed;
    this.#nominal += nominal;
    this.#listed += listed;
    this.#isMeasured = missing !== undefined;
    this.missing = missing ?? this.missing - nominal;
  }
}

class ImageRemover {
  readonly #deps: ActDeps;
  readonly #planned: PlannedRemovals;
  readonly #goals: readonly Measured[];
  /** The images up to the last one that frees something by the plan. */
  readonly #promising: ReadonlySet<string>;
  #removed = 0;
  disk: ImageDisk | undefined;
  freedInodes = 0;
  endedBecause: Stop | undefined;

  constructor(deps: ActDeps, planned: PlannedRemovals) {
    this.#deps = deps;
    this.#planned = planned;
    this.disk = planned.disk;
    const { goals, candidates } = planned.plan;
    this.#goals = goals.map((goal) => new Measured(goal, this.#missingAtFirst(goal)));
    const last = candidates.findLastIndex(({ bytes = 0 }) => bytes > 0);
    this.#promising = new Set(candidates.slice(0, last + 1).map(({ target }) => target.id));
  }

  /** Amounts to free until the goals are met; 0 if there is none. */
  get missing(): RemovalResults['missing'] {
    const of = (isOne: (goal: Goal) => boolean): number =>
      this.#goals.find(({ goal }) => isOne(goal))?.missing ?? 0;
    return {
      bytes: of(({ reason, unit }) => reason === 'Space' && unit === 'bytes'),
      inodes: of(({ reason, unit }) => reason === 'Space' && unit === 'inodes'),
      demand: of((goal) => signalOf(goal) !== undefined),
    };
  }

  enough({ reason, target }: ImageRemoval): boolean {
    const expectsMore = this.#promising.has(target.id);
    return (
      this.#removed >= this.#planned.plan.maxImages || (!isDueAnyway(reason) && this.#hasSpace(expectsMore))
    );
  }

  /** The kubelet compares after a removal: the space step removes at least one image, even if rounding makes `missing` 0. */
  #hasSpace(expectsMore: boolean): boolean {
    if (this.#removed === 0 && this.#planned.plan.crossed.length > 0) return false;
    const unmet = this.#goals.filter(({ missing }) => missing > 0);
    const reasons = unmet.map((goal) => goal.endedBecause(expectsMore));
    if (reasons.includes(undefined)) return false;
    const [why] = reasons;
    if (why !== undefined) this.endedBecause = { kind: 'stop', why };
    return true;
  }

  /** Removes the image. `freedBytes` is measured on the file system; if that fails, it is that of the plan. */
  async remove(removal: ImageRemoval): Promise<StepResult> {
    const { bytes = 0 } = removal;
    await this.#removeImage(removal, new AbortController().signal);
    const before = this.disk;
    const after = await this.#measured((signal) => this.#deps.disk(signal));
    const { relief } = this.#planned;
    const demand = relief && (await this.#measured(relief.missing));
    this.#removed += 1;
    this.disk = after;
    const amountsOf = (size: number) => ({ bytes: size, inodes: this.#planned.plan.inodesOf(size) });
    const nominal = amountsOf(bytes);
    const listed = amountsOf(removal.target.image.sizeBytes);
    for (const one of this.#goals) {
      const { reason, unit } = one.goal;
      const measured = { Space: this.#overLow(unit, after), PullHeadroom: undefined };
      one.record(nominal[unit], listed[unit], isDiskSignal(reason) ? demand : measured[reason]);
    }
    this.freedInodes += freedBetween('inodes', before, after) ?? nominal.inodes;
    return { kind: 'done', freedBytes: freedBetween('bytes', before, after) ?? nominal.bytes };
  }

  /** CRI-O reports success, and removes nothing, if the image is in a read-only store: only a query shows that. */
  async #removeImage(removal: ImageRemoval, signal: AbortSignal): Promise<void> {
    const { runtime, late } = this.#deps;
    const { id, image } = removal.target;
    for (const name of removalNames(image))
      await late.awaited(id, removal, runtime.removeImage(name, signal));
    // If the query fails, the image counts as removed; the next call to the runtime reports the failure.
    const left = await runtime.imageStatus(image.id, signal).catch(() => undefined);
    if (left !== undefined) throw new Error('the runtime reported success, but still has the image');
  }

  /** That of pulls is not measured again: they take what is freed meanwhile. */
  #missingAtFirst({ reason, unit, wanted }: Goal): number {
    const { plan, disk, relief } = this.#planned;
    if (reason === 'PullHeadroom')
      return wanted + bytesOf(plan.removals.filter((removal) => isDueAnyway(removal.reason)));
    return (reason === 'Space' ? this.#overLow(unit, disk) : relief?.wanted) ?? 0;
  }

  #overLow(unit: SpaceUnit, disk: ImageDisk | undefined): number | undefined {
    const { rule } = this.#planned;
    const amount = amountOf(unit, disk);
    return amount && amountOverLow(amount, unit === 'bytes' ? rule : (rule.inodes ?? rule));
  }

  async #measured<T>(measure: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const { reporting } = this.#deps;
    try {
      return await measure(new AbortController().signal);
    } catch (err) {
      countError(reporting, 'disk');
      reporting.log.warn({ err: errorLine(err) }, 'measuring file system failed');
      return undefined;
    }
  }
}

/**
 * The names to remove. CRI-O finds an artifact only by its own names; its id is the digest of its manifest, where that of an image is the digest of
 * its configuration.
 */
function removalNames({ id, tags, digests }: RuntimeImage): readonly string[] {
  const isArtifact = digests.some((name) => name.endsWith(`@sha256:${id}`));
  if (!isArtifact) return [id];
  return tags.length > 0 ? tags : digests;
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

export const countError = ({ unit, metrics }: Reporting, stage: Stage): void =>
  metrics.errors.inc({ unit, stage });

/** Remembers images that the runtime has refused to remove, or has taken too long for. */
export const imageFailures = (): FailureMemory<ImageRemoval> =>
  new FailureMemory({ keyOf: ({ target }) => target.id, isOfObject: (err) => !isRuntimeDown(err) });

/** Log fields that identify an image even after its removal. */
const fieldsOf = ({ target: { image }, bytes }: ImageRemoval): object => ({
  image: image.id,
  names: [...image.tags, ...image.digests].slice(0, 4),
  bytes,
});

interface PinDeps {
  readonly containerd: Pick<ContainerdClient, 'labelImage'>;
  readonly reporting: Reporting;
  readonly onProgress: () => void;
}

/** Sets and removes pins, and returns the changes that were made. The first failure ends it, as the runtime may hang; the next pass goes on. */
export async function changePins(
  { containerd, reporting, onProgress }: PinDeps,
  changes: readonly PinChange[],
  signal: AbortSignal,
): Promise<readonly PinChange[]> {
  const made: PinChange[] = [];
  for (const change of changes) {
    const { kind, name: image, labels } = change;
    try {
      if (!(await containerd.labelImage(image, labels, signal))) continue;
    } catch (err) {
      signal.throwIfAborted();
      countError(reporting, 'pins');
      reporting.log.warn({ image, err: errorLine(err) }, 'changing the pin of an image failed');
      break;
    }
    reporting.log.info({ image, change: kind }, 'changed the pin of an image');
    made.push(change);
    onProgress();
  }
  return made;
}

/** Removes every pin that dustpan has set, and returns the names that had one; undefined = the runtime is not containerd. Rejects at the first failure. */
export async function unpinAll(
  containerd: Pick<ContainerdClient, 'imagesWith' | 'labelImage'>,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const pinned = await containerd.imagesWith(ownLabel, signal);
  for (const one of pinned ?? []) await containerd.labelImage(one.name, unpinned(one), signal);
  return pinned?.map(({ name }) => name);
}
