import type { ImageSpace } from '../../api/image-space.ts';
import type { NodePod } from '../../api/node-pod.ts';
import { nodeRule, type NodeGovernance, type NodeRule } from '../../api/policy/node-governance.ts';
import type { ImageGcPolicy, Policy } from '../../api/policy/policy.ts';
import type { ContainerdClient } from '../../containerd/client.ts';
import type { ImageMounts } from '../../cri/image-mounts.ts';
import type { RuntimeImage } from '../../cri/runtime.ts';
import type { WantedImages } from '../../api/wanted-images.ts';
import type { ObjectRef } from '../../api/event-refs.ts';
import type { HeldImages } from '../../gc/hold.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import type { StateFile } from '../../node/disk/state-file.ts';
import type { AgentState } from '../../node/disk/state-format.ts';
import { Changed } from '../../gc/changed.ts';
import { showPlan } from '../../gc/metrics.ts';
import { LateRemovals } from '../../gc/late-removals.ts';
import { passReport, type Reporting, type LastRemoved } from '../../gc/pass.ts';
import type { ImageDisk } from '../../node/disk/filesystem.ts';
import { errorLine } from '../../runtime/errors.ts';
import { momentOf, PassClock, type Moment } from '../../runtime/scheduling/jump.ts';
import type { RemoverContext } from '../context.ts';
import {
  changePins,
  countError,
  imageFailures,
  recordLateImage,
  removeImages,
  type PlannedRemovals,
} from './act.ts';
import { hasCapacity, needsDisk } from './disk.ts';
import { freeDiskSpaceFailed, holding, imageGcFailed, invalidDiskCapacity } from './events.ts';
import type { ImageGcFacts, ImageGcPlan, ImageRemoval, ImageInventory, PinState } from './facts.ts';
import { imageGcReasons, showPinned, showSpace, type ImageGcMetrics, type Stage } from './metrics.ts';
import { storedNames } from './pin-labels.ts';
import { confirmsUnpins, isUnpin, pinnedAfter, planPins, type StoredNames } from './pins.ts';
import { planImageGc } from './plan.ts';
import { observeAttempts, observePullBytes, receivedWithinMs } from './pulls.ts';
import { imageSpace } from './space.ts';
import {
  afterGap,
  lastRemoved,
  observeImages,
  observeInForce,
  resumeState,
  withoutImage,
} from './records.ts';
import {
  inventoryOf,
  outcomeOf,
  reclaimResult,
  removedBy,
  type RemovalResults,
  type DiskTrouble,
  type Outcome,
} from './report.ts';
import type { PlannedContainers, ReclaimResult, Relief } from '../nodepressure/facts.ts';
import { noContainers, reliefBy } from '../nodepressure/demands.ts';

export interface ImageGcDeps extends RemoverContext {
  readonly mounts: Pick<ImageMounts, 'read'>;
  readonly containerd: Pick<ContainerdClient, 'read' | 'labelImage' | 'isReceiving'>;
  /** The file system that holds the images. */
  readonly disk: (signal: AbortSignal) => Promise<ImageDisk>;
  /** The pods bound to the node; undefined = unknown. */
  readonly pods: () => readonly NodePod[] | undefined;
  readonly state: Pick<StateFile, 'read' | 'write'>;
  /** The images that workloads want on the node; called once in a pass, only if the policy needs them. */
  readonly wanted: (signal: AbortSignal) => Promise<WantedImages>;
  /** Bytes of all container logs; called only when removing images does not free enough. */
  readonly logBytes: (signal: AbortSignal) => Promise<number>;
  readonly own: ImageGcMetrics;
}

/** A relief, after a pass over containers for it. */
interface ImageRelief extends Relief {
  /** Containers that such a pass would remove. */
  readonly planned: PlannedContainers;
}

/** Removes unused images when the image file system is too full or they are too old, and records when each image was last used. */
export class ImageGcManager {
  readonly #deps: ImageGcDeps;
  #state: AgentState | undefined;
  /** From one observation of the images to the next. */
  readonly #passClock: PassClock;
  readonly #reporting: Reporting;
  #failedInARow = 0;
  readonly #failures = imageFailures();
  readonly #late: LateRemovals<ImageRemoval>;
  /** Of the pulls that pods wait for. */
  #attempts: ImageGcFacts['attempts'];
  /** Patterns of nodes.imageGC.remove that have matched an image. */
  #matched: ReadonlySet<string> = new Set();
  /** `rulesId` of the policy whose hold was recorded last. */
  readonly #held = new Changed<string>();
  /** The images that the last pass has left; undefined = they could not be listed. */
  inventory: ImageInventory | undefined;

  constructor(deps: ImageGcDeps) {
    this.#deps = deps;
    this.#late = new LateRemovals(deps.clock);
    this.#passClock = new PassClock(deps.clock);
    this.#reporting = { unit: 'imagegc', metrics: deps.metrics, log: deps.log };
  }

  get lastRemoved(): LastRemoved['images'] {
    return lastRemoved(this.#state);
  }

  /** One pass: observe, plan, act. Rejects, after its report, when it failed. */
  async collect(signal: AbortSignal): Promise<void> {
    const { result, message = 'collecting images' } = await this.#pass(undefined, signal);
    if (result === 'Failed') throw new Error(message);
  }

  /** Whether an image that a pod waits for is being pulled, for which the policy lets this unit make room. */
  async isPulling(signal: AbortSignal): Promise<boolean> {
    const { governance, pods, containerd, clock } = this.#deps;
    const rule = nodeRule(governance(), 'imageGC');
    if (rule.kind === 'keep' || !rule.rule.pullHeadroom) return false;
    const isAwaited = pods()?.some(({ awaited }) => awaited !== undefined) === true;
    return isAwaited && containerd.isReceiving(new Date(clock.now().getTime() - receivedWithinMs), signal);
  }

  /** One pass that goes on until the relief is enough. Rejects, after its report, when the node could not be observed. */
  async relieve(relief: ImageRelief, signal: AbortSignal): Promise<ReclaimResult> {
    const { result, message, ...pass } = await this.#pass(relief, signal);
    if (result === 'Failed')
      this.#deps.log.warn({ err: message }, 'not every image could be removed for node pressure');
    return reclaimResult(pass, relief.signal);
  }

  async #pass(
    requested: ImageRelief | undefined,
    signal: AbortSignal,
  ): Promise<Outcome & Pick<Executed, 'plan' | 'results'>> {
    const { clock, log, onPass } = this.#deps;
    const governance = this.#deps.governance();
    const relief = reliefBy(governance, requested);
    const rule = nodeRule(governance, 'imageGC');
    const observed = await this.#observePass(
      rule,
      { relief, gone: requested?.planned ?? noContainers },
      signal,
    );
    const demands = relief === undefined ? [] : [relief];
    const plan = planImageGc(observed.facts, { governance, now: observed.now, demands });
    const { state, usedPercent, usedInodesPercent } = plan;
    this.#show(plan);
    log.debug({ state, usedPercent, usedInodesPercent, due: plan.removals.length }, 'planned pass');
    const pins = await this.#pin({ ...observed, governance }, plan, signal);
    const results =
      rule.kind === 'governed' ? await this.#act({ ...observed, ...rule, plan, relief }, signal) : undefined;
    const stateTrouble = await this.#writeState();
    const pass = { ...observed, plan, results };
    const outcome = outcomeOf(pass);
    const inventory = inventoryOf(plan, results, results?.disk ?? observed.disk, {
      now: observed.now,
      isSpaceUnknown: observed.names === 'unknown',
      policy: governance.policy,
      pins,
      matched: this.#matched,
      containers: observed.facts.containers,
      pods: observed.facts.pods,
    });
    this.#matched = new Set(inventory.removeList?.flatMap(({ image, matched }) => (matched ? [image] : [])));
    if (rule.kind === 'governed') {
      await this.#recordEvents(pass, outcome, signal);
      this.#recordHold(rule.policy, inventory.held);
    }
    const { result, message = stateTrouble } = outcome;
    const report = passReport({ unit: 'imagegc', at: clock.now(), result, message }, results);
    this.inventory = inventory;
    onPass(this.#late.addedTo(report));
    return { ...outcome, plan, results };
  }

  /** undefined = the node could not be observed. */
  #show(plan: ImageGcPlan | undefined): void {
    const { metrics, own } = this.#deps;
    showPlan(metrics, 'imagegc', imageGcReasons, plan && { due: plan.removals, kept: plan.kept });
    showSpace(own, plan);
  }

  /** Observes the node. When a listing fails, reports and ends the pass. */
  async #observePass(
    rule: Rule,
    { relief, gone }: Pick<Given, 'gone'> & Pick<PlannedRemovals, 'relief'>,
    signal: AbortSignal,
  ): Promise<Observed> {
    const { clock, onPass } = this.#deps;
    const began = momentOf(clock);
    try {
      const wanted = await this.#wanted(rule, relief, signal);
      const facts = await this.#observe({ gone, wanted }, signal);
      const { space, names } = await this.#readStore(facts.listed, signal);
      const { disk, diskTrouble } = await this.#measure(rule, signal);
      if (this.#state !== undefined)
        this.#state = { ...this.#state, pullBytes: observePullBytes({ ...facts, space }) };
      this.#attempts = observeAttempts({ ...facts, space, attempts: this.#attempts });
      const failedBefore = this.#failures.known((id) => facts.images.has(id), clock.monotonicMs());
      return {
        facts: { ...facts, space, disk, failedBefore, attempts: this.#attempts },
        names,
        disk,
        diskTrouble,
        now: clock.now(),
        began,
      };
    } catch (err) {
      if (signal.aborted) throw err;
      this.#count('observe');
      this.#show(undefined);
      const message = errorLine(err);
      if (rule.kind === 'governed') this.#fail(message);
      const report = passReport({ unit: 'imagegc', at: clock.now(), result: 'Failed', message }, undefined);
      this.inventory = undefined;
      onPass(report);
      throw err;
    }
  }

  /** Nothing is awaited if the kubelet would act before: it removes every unused image without a pin. */
  async #wanted(
    rule: Rule,
    relief: PlannedRemovals['relief'],
    signal: AbortSignal,
  ): Promise<ImageGcFacts['wanted']> {
    if (rule.kind !== 'governed' || !rule.rule.pinWanted) return undefined;
    const wanted = await this.#deps.wanted(signal);
    const { awaitedForMs = 0 } = wanted;
    return (relief?.kubeletInMs ?? Infinity) <= awaitedForMs
      ? { ...wanted, awaitedForMs: undefined }
      : wanted;
  }

  /** Lists images, then containers except those that a pass would remove before, then reads the pods, so that newer pods and containers protect images. Updates the image records. */
  async #observe({ gone, wanted }: Given, signal: AbortSignal): Promise<Omit<ImageGcFacts, 'disk'>> {
    const { runtime, pods: readPods, own, periodMs } = this.#deps;
    const before = (this.#state ??= await this.#load(signal));
    await runtime.checkReady(signal);
    const sandboxImage = await runtime.sandboxImage(signal);
    const listed = await runtime.listImages(signal);
    const all = await runtime.listContainers(signal);
    const containers = all.filter(({ id }) => !gone.ids.has(id));
    const mounts = await this.#deps.mounts.read(all, signal);
    const mounted = containers.flatMap(({ id }) => mounts.get(id) ?? []);
    const pods = readPods();
    const { began, jumpedMs, gapMs } = this.#passClock.begin();
    const now = new Date(began.wallMs);
    const { state, repulled } = observeImages(afterGap(before, gapMs, periodMs), {
      images: listed,
      containers,
      mounted,
      now,
      jumpedMs,
    });
    this.#state = observeInForce(state, nodeRule(this.#deps.governance(), 'imageGC'), now);
    own.repulled.inc(repulled.length);
    this.#late.settle(
      (id) => state.images.has(id),
      (removal) => {
        recordLateImage(removal, { reporting: this.#reporting, own });
        this.#removed(removal);
      },
    );
    const clockUnsure = jumpedMs !== 0;
    const seen = { listed, containers, mounted, pods, sandboxImage, clockUnsure };
    return { ...this.#state, ...seen, wanted };
  }

  /** Which bytes the images share. Without it, each counts with the size that the runtime reports: a failure must not stop image GC. */
  async #readStore(images: readonly RuntimeImage[], signal: AbortSignal): Promise<Stored> {
    try {
      const store = await this.#deps.containerd.read(signal);
      const space = store && imageSpace(store, images, this.#deps.clock.now());
      return {
        space,
        names: store === undefined ? 'unsupported' : storedNames(store),
      };
    } catch (err) {
      if (signal.aborted) throw err;
      this.#count('layers');
      this.#deps.log.warn({ err: errorLine(err) }, 'reading the layers of images failed');
      return { space: undefined, names: 'unknown' };
    }
  }

  /** Before the removals: an image that is no longer kept loses its pin, and the next listing shows it without. */
  async #pin(
    { facts: { wanted }, names, disk, governance }: Observed & { readonly governance: NodeGovernance },
    plan: ImageGcPlan,
    signal: AbortSignal,
  ): Promise<PinState> {
    const { own } = this.#deps;
    const { changes, state } = planPins({ plan, names, disk, governance });
    const mayUnpin = changes.some(isUnpin) && (await this.#confirmUnpins({ governance, wanted }, signal));
    const due = changes.filter((change) => mayUnpin || !isUnpin(change));
    const made = await changePins({ ...this.#deps, reporting: this.#reporting }, due, signal);
    const pinned = typeof names === 'string' ? undefined : pinnedAfter(names, made, plan);
    showPinned(own, pinned);
    return { ...state, own: pinned };
  }

  async #confirmUnpins(planned: Parameters<typeof confirmsUnpins>[1], signal: AbortSignal): Promise<boolean> {
    const { live, log } = this.#deps;
    try {
      return confirmsUnpins(await live.confirm(signal), planned);
    } catch (err) {
      signal.throwIfAborted();
      this.#count('pins');
      log.warn({ err: errorLine(err) }, 'pins stay: policies and node cannot be confirmed live');
      return false;
    }
  }

  #removed({ target: { id, name }, reason, policy }: ImageRemoval): void {
    const what = { name, reason, policy: policy?.name ?? '' };
    if (this.#state !== undefined) this.#state = withoutImage(this.#state, id, what, this.#deps.clock.now());
  }

  async #load(signal: AbortSignal): Promise<AgentState> {
    this.#passClock.begin();
    const reading = await this.#deps.state.read(signal);
    if (reading.kind === 'read') return resumeState(reading.state, this.#deps.clock.now());
    if (reading.kind === 'startOver')
      this.#deps.log.warn({ reason: reading.reason }, 'state file cannot be used, starting over');
    return { images: new Map(), removed: [] };
  }

  /** Measures the disk. The age step runs without it, so a failure is reported at the end. */
  async #measure(rule: Rule, signal: AbortSignal): Promise<Pick<Observed, 'disk' | 'diskTrouble'>> {
    const isNeeded = rule.kind === 'governed' && needsDisk(rule.rule);
    try {
      const disk = await this.#deps.disk(signal);
      return { disk, diskTrouble: hasCapacity(disk) || !isNeeded ? undefined : { kind: 'no capacity' } };
    } catch (err) {
      if (signal.aborted) throw err;
      this.#count('disk');
      const trouble = { kind: 'error', message: errorLine(err) } as const;
      return { disk: undefined, diskTrouble: isNeeded ? trouble : undefined };
    }
  }

  async #act(planned: PlannedRemovals, signal: AbortSignal): Promise<RemovalResults | undefined> {
    const { wanted } = planned.facts;
    const deps = {
      ...this.#deps,
      reporting: this.#reporting,
      failures: this.#failures,
      late: this.#late,
      observe: (during: AbortSignal) => this.#observe({ gone: noContainers, wanted }, during),
      onRemoved: (removal: ImageRemoval): void => this.#removed(removal),
    };
    return await removeImages(deps, planned, signal);
  }

  /** Writes the image records, during a shutdown too. A failure must not stop image GC, which may free the full disk. */
  async #writeState(): Promise<string | undefined> {
    if (this.#state === undefined) return undefined;
    try {
      await this.#deps.state.write(this.#state, new AbortController().signal);
      return undefined;
    } catch (err) {
      this.#count('state');
      this.#deps.log.warn({ err: errorLine(err) }, 'writing state failed');
      return errorLine(err);
    }
  }

  /** Records InvalidDiskCapacity and FreeDiskSpaceFailed each time, ImageGCFailed from the second failure in a row on. */
  async #recordEvents(
    pass: Executed,
    { result, message = '', isExhausted }: Outcome,
    signal: AbortSignal,
  ): Promise<void> {
    if (pass.diskTrouble?.kind === 'no capacity') this.#record(invalidDiskCapacity);
    if (isExhausted) {
      this.#deps.log.warn({ reason: 'FreeDiskSpaceFailed', note: message }, 'freed too little space');
      const measured = await this.#measuredUsage(pass, signal);
      this.#record((node) => freeDiskSpaceFailed(node, message, measured));
    }
    if (result === 'Failed' || isExhausted) this.#fail(message);
    else if (result !== 'Unknown') this.#failedInARow = 0;
  }

  /** One Event for each set of rules. */
  #recordHold(policy: Policy, held: HeldImages | undefined): void {
    if (held !== undefined && this.#held.added([policy.rulesId]).size > 0)
      this.#record((node) => holding(node, policy, held));
  }

  async #measuredUsage(
    { plan, disk, results }: Executed,
    signal: AbortSignal,
  ): Promise<Parameters<typeof freeDiskSpaceFailed>[2]> {
    const { runtime, logBytes } = this.#deps;
    const removed = removedBy(results);
    return {
      kept: plan.kept.filter(({ target }) => !removed.has(target.id)),
      space: plan.space,
      disk: results?.disk ?? disk,
      stats: await this.#orUnknown(runtime.containerStats(signal)),
      logBytes: await this.#orUnknown(logBytes(signal)),
    };
  }

  async #orUnknown<T>(reading: Promise<T>): Promise<T | undefined> {
    try {
      return await reading;
    } catch (err) {
      this.#count('attribution');
      this.#deps.log.debug({ err: errorLine(err) }, 'measuring disk usage failed');
      return undefined;
    }
  }

  #fail(message: string): void {
    this.#failedInARow++;
    if (this.#failedInARow > 1) this.#record((node) => imageGcFailed(node, message));
  }

  #record(event: (node: ObjectRef) => EventSpec): void {
    const node = this.#deps.node();
    if (node !== undefined) this.#deps.recorder.record(event(node));
  }

  #count(stage: Stage): void {
    countError(this.#reporting, stage);
  }
}

type Rule = NodeRule<ImageGcPolicy>;

interface Given extends Pick<ImageGcFacts, 'wanted'> {
  /** Containers that a pass would remove before. */
  readonly gone: PlannedContainers;
}

interface Stored {
  readonly space: ImageSpace | undefined;
  readonly names: StoredNames;
}

interface Observed extends Pick<Stored, 'names'> {
  readonly facts: ImageGcFacts;
  /** Also in `facts`. */
  readonly disk: ImageDisk | undefined;
  readonly diskTrouble: DiskTrouble | undefined;
  readonly now: Date;
  readonly began: Moment;
}

interface Executed extends Observed {
  readonly plan: ImageGcPlan;
  /** undefined = the pass was not to remove anything. */
  readonly results: RemovalResults | undefined;
}
