import type { ConfirmNode } from '../../api/node-confirmation.ts';
import {
  isSamePolicy,
  nodeRule,
  type NodeGovernance,
  type NodeRule,
} from '../../api/policy/node-governance.ts';
import type { ImageDisk, ImageInventory, NodePassReport, NodePod } from '../../api/report/node-pass.ts';
import type { ImageGcPolicy } from '../../api/policy/policy.ts';
import type { ContainerRuntime, RuntimeContainer } from '../../cri/runtime.ts';
import type { EventSpec, Recorder } from '../../kube/events/recorder.ts';
import type { StateFile } from '../../node/disk/state-file.ts';
import type { AgentState } from '../../node/disk/state-format.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import { jumpMs, momentOf, type Moment } from '../../runtime/scheduling/jump.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { fieldsOf, removeImages } from './act.ts';
import { attributeDisk, type DiskAttribution } from './attribution.ts';
import { hasCapacity } from './disk.ts';
import { freeDiskSpaceFailed, imageGcFailed, invalidDiskCapacity, type NodeIdentity } from './events.ts';
import type { ImageGcFacts, ImageGcPlan, ImageRemoval } from './facts.ts';
import { strayContainers } from './holds.ts';
import { inventoryOf } from './inventory.ts';
import { showPlan, type ImageGcMetrics, type Stage } from './metrics.ts';
import { outcomeOf, removedBy, reportOf, type Acts, type DiskTrouble, type Outcome } from './outcome.ts';
import { planImageGc } from './plan.ts';
import { observeImages, resumeState, withoutImage } from './records.ts';

export interface ImageGcDeps {
  readonly runtime: Pick<
    ContainerRuntime,
    | 'checkReady'
    | 'sandboxImage'
    | 'listImages'
    | 'listContainers'
    | 'containerStatus'
    | 'containerStats'
    | 'removeImage'
  >;
  /** The file system that holds the images. */
  readonly disk: (signal: AbortSignal) => Promise<ImageDisk>;
  /** The pods bound to the node; undefined while they are not known for sure. */
  readonly pods: () => readonly NodePod[] | undefined;
  readonly governance: () => NodeGovernance;
  /** Asked only before something is removed. */
  readonly confirm: ConfirmNode;
  /** undefined while it is not known: no Events then. */
  readonly node: () => NodeIdentity | undefined;
  readonly state: Pick<StateFile, 'read' | 'write'>;
  /** Bytes of all logs of containers; asked only when removing images does not help. */
  readonly logBytes?: (signal: AbortSignal) => Promise<number>;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly metrics: ImageGcMetrics;
  readonly log: Logger;
  /** `inventory` is undefined when the images could not be listed. */
  readonly onPass: (report: NodePassReport, inventory: ImageInventory | undefined) => void;
}

/** Keeps the image file system below its threshold by removing images that nothing uses, and remembers when each was used last. */
export class ImageGcManager {
  readonly #deps: ImageGcDeps;
  #state: AgentState | undefined;
  /** Both clocks at the start of the last pass. */
  #looked: Moment | undefined;
  #failedInARow = 0;

  constructor(deps: ImageGcDeps) {
    this.#deps = deps;
  }

  /** One pass: observe, plan, act. Throws, after its report, when it failed. */
  async collect(signal: AbortSignal): Promise<void> {
    const { governance, clock, metrics, log, onPass } = this.#deps;
    const given = governance();
    const rule = nodeRule(given, 'imageGC');
    const seen = await this.#see(rule, signal);
    const plan = planImageGc(seen.facts, { governance: given, now: seen.now });
    showPlan(metrics, plan, rule.kind === 'governed' ? rule.policy.mode : undefined);
    log.debug(
      { state: plan.state, usedPercent: plan.usedPercent, due: plan.removals.length },
      'planned pass',
    );
    const acts = rule.kind === 'governed' ? await this.#act(rule, { plan, seen }, signal) : undefined;
    const stateTrouble = await this.#remember();
    const outcome = outcomeOf({
      ...{ plan, acts, disk: seen.disk },
      ...(rule.kind === 'governed'
        ? { diskTrouble: seen.trouble, maximumAgeMs: rule.rule.maximumAgeMs }
        : { diskTrouble: undefined, maximumAgeMs: undefined }),
    });
    if (rule.kind === 'governed') await this.#reportOutcome({ plan, seen, acts }, outcome, signal);
    onPass(
      reportOf(acts, { result: outcome.result, message: outcome.message ?? stateTrouble }, clock.now()),
      inventoryOf(plan, removedBy(acts), acts?.disk ?? seen.disk),
    );
    if (outcome.result === 'Failed') throw new Error(outcome.message ?? 'collecting images');
  }

  /** All that the plan needs. A listing that fails ends the pass, told and counted. */
  async #see(rule: Rule, signal: AbortSignal): Promise<Seen> {
    const moment = momentOf(this.#deps.clock);
    const jumpedMs = jumpMs(this.#looked, moment);
    this.#looked = moment;
    try {
      const facts = await this.#observe(signal, jumpedMs);
      const { disk, trouble } = await this.#measure(rule, signal);
      const now = this.#deps.clock.now();
      return { facts: { ...facts, disk, clockUnsure: jumpedMs !== 0 }, disk, trouble, now };
    } catch (err) {
      if (signal.aborted) throw err;
      this.#count('observe');
      if (rule.kind === 'governed') this.#fail(errorLine(err));
      const message = errorLine(err);
      this.#deps.onPass(
        reportOf(undefined, { result: 'Failed', message }, this.#deps.clock.now()),
        undefined,
      );
      throw err;
    }
  }

  /** Lists images, then containers, then reads the pods: what is newest protects. Folds what it saw into the memory. */
  async #observe(signal: AbortSignal, jumpedMs: number): Promise<Observed> {
    const { runtime, pods: readPods, clock, metrics } = this.#deps;
    const before = (this.#state ??= await this.#load(signal));
    await runtime.checkReady(signal);
    const sandboxImage = await runtime.sandboxImage(signal);
    const listed = await runtime.listImages(signal);
    const containers = await runtime.listContainers(signal);
    const mounted = await this.#mountedImages(containers, signal);
    const pods = readPods();
    const { state, repulled } = observeImages(before, {
      ...{ images: listed, containers, mounted, now: clock.now() },
      jumpedMs,
    });
    this.#state = state;
    metrics.repulled.inc(repulled.length);
    for (const { sizeBytes } of repulled) metrics.repulledBytes.inc(sizeBytes);
    return { ...state, listed, containers, mounted, pods, sandboxImage };
  }

  async #load(signal: AbortSignal): Promise<AgentState> {
    const reading = await this.#deps.state.read(signal);
    if (reading.kind === 'read') return resumeState(reading.state, this.#deps.clock.now());
    if (reading.kind === 'startOver')
      this.#deps.log.warn({ reason: reading.reason }, 'state file cannot be used, starting over');
    return { images: new Map(), removed: [] };
  }

  /** Image volumes stand in the specs of the pods; of a container whose pod is not known, or has finished, only the runtime can tell. */
  async #mountedImages(
    containers: readonly RuntimeContainer[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const pods = this.#deps.pods();
    // Nothing goes then anyway, and every container would seem astray.
    if (pods === undefined) return [];
    const mounted: string[] = [];
    for (const { id } of strayContainers(containers, pods)) {
      const status = await this.#deps.runtime.containerStatus(id, signal);
      mounted.push(...(status?.mountedImages ?? []));
    }
    return mounted;
  }

  /** The age step does without the disk: what is wrong with it is reported at the end. */
  async #measure(
    rule: Rule,
    signal: AbortSignal,
  ): Promise<{ readonly disk: ImageDisk | undefined; readonly trouble: DiskTrouble | undefined }> {
    const isNeeded = rule.kind === 'governed' && rule.rule.highThresholdPercent < 100;
    try {
      const disk = await this.#deps.disk(signal);
      return { disk, trouble: hasCapacity(disk) || !isNeeded ? undefined : { kind: 'no capacity' } };
    } catch (err) {
      if (signal.aborted) throw err;
      this.#count('disk');
      return { disk: undefined, trouble: isNeeded ? { kind: 'error', message: errorLine(err) } : undefined };
    }
  }

  /** Removes nothing in mode DryRun. */
  async #act(
    { policy, rule }: Governed,
    { plan, seen: { disk, now } }: Planned,
    signal: AbortSignal,
  ): Promise<Done['acts']> {
    const { clock, log } = this.#deps;
    if (policy.mode === 'DryRun') {
      for (const removal of plan.removals) log.debug(fieldsOf(removal), 'would remove image');
      return undefined;
    }
    const deps = {
      ...this.#deps,
      observe: (during: AbortSignal) => this.#observe(during, 0),
      halted: () => this.#haltedBy(policy),
      onRemoved: ({ target }: ImageRemoval): void => {
        if (this.#state !== undefined) this.#state = withoutImage(this.#state, target.id, clock.now());
      },
    };
    return await removeImages(deps, { plan, policy, rule, disk, now }, signal);
  }

  #haltedBy(policy: Governed['policy']): string | undefined {
    const now = nodeRule(this.#deps.governance(), 'imageGC');
    if (now.kind === 'keep' || !isSamePolicy(now.policy, policy)) return 'policies have changed';
    return jumpMs(this.#looked, momentOf(this.#deps.clock)) === 0 ? undefined : 'the clock has jumped';
  }

  /** Writes down what is known, at a shutdown too. A disk that does not take it must not stop the one who frees it. */
  async #remember(): Promise<string | undefined> {
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

  /** The Events a pass owes; InvalidDiskCapacity and FreeDiskSpaceFailed each time, ImageGCFailed from the second failure in a row on. */
  async #reportOutcome(
    done: Done,
    { result, message = '', isExhausted }: Outcome,
    signal: AbortSignal,
  ): Promise<void> {
    if (done.seen.trouble?.kind === 'no capacity') this.#notify(invalidDiskCapacity);
    if (isExhausted) {
      this.#deps.log.warn({ reason: 'FreeDiskSpaceFailed', note: message }, 'freed too little');
      const attribution = await this.#attribute(done, signal);
      this.#notify((node) => freeDiskSpaceFailed(node, message, attribution));
    }
    if (result === 'Failed' || isExhausted) this.#fail(message);
    else if (result !== 'Unknown') this.#failedInARow = 0;
  }

  /** What uses the disk after the pass. */
  async #attribute({ plan, seen, acts }: Done, signal: AbortSignal): Promise<DiskAttribution | undefined> {
    const { runtime, logBytes } = this.#deps;
    const removed = removedBy(acts);
    return attributeDisk({
      kept: plan.kept.filter(({ target }) => !removed.has(target.id)),
      disk: acts?.disk ?? seen.disk,
      stats: await this.#tryToKnow(runtime.containerStats(signal)),
      logBytes: logBytes === undefined ? undefined : await this.#tryToKnow(logBytes(signal)),
    });
  }

  async #tryToKnow<T>(asked: Promise<T>): Promise<T | undefined> {
    try {
      return await asked;
    } catch (err) {
      this.#count('attribution');
      this.#deps.log.debug({ err: errorLine(err) }, 'attributing disk use failed');
      return undefined;
    }
  }

  #fail(message: string): void {
    this.#failedInARow++;
    if (this.#failedInARow > 1) this.#notify((node) => imageGcFailed(node, message));
  }

  #notify(event: (node: NodeIdentity) => EventSpec): void {
    const node = this.#deps.node();
    if (node !== undefined) this.#deps.recorder.record(event(node));
  }

  #count(stage: Stage): void {
    this.#deps.metrics.errors.inc({ stage });
  }
}

type Observed = Omit<ImageGcFacts, 'disk'>;
type Rule = NodeRule<ImageGcPolicy>;
type Governed = Extract<Rule, { kind: 'governed' }>;

/** What one pass has seen of the node. */
interface Seen {
  readonly facts: ImageGcFacts;
  readonly disk: ImageDisk | undefined;
  readonly trouble: DiskTrouble | undefined;
  readonly now: Date;
}

interface Planned {
  readonly plan: ImageGcPlan;
  readonly seen: Seen;
}

interface Done extends Planned {
  /** undefined = nothing was to be touched. */
  readonly acts: (Acts & { readonly disk: ImageDisk | undefined }) | undefined;
}
