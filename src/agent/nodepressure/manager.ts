import type { PressureRequest, StoragePod, StorageUsage } from '../../api/local-storage.ts';
import type {
  DiskName,
  DiskSignal,
  SignalReading,
  SignalThresholds,
  ThresholdSignal,
} from '../../api/node-pressure.ts';
import {
  isSamePolicy,
  nodeRule,
  type NodeGovernance,
  type NodeRule,
} from '../../api/policy/node-governance.ts';
import type { NodePressurePolicy, Policy } from '../../api/policy/policy.ts';
import { Changed } from '../../gc/changed.ts';
import { showPlan } from '../../gc/metrics.ts';
import { passReport, type NodePassReport } from '../../gc/pass.ts';
import { counted } from '../../gc/reasons/words.ts';
import { errorLine } from '../../runtime/errors.ts';
import { PassClock } from '../../runtime/scheduling/jump.ts';
import type { UnitContext } from '../context.ts';
import { nodePressureAhead } from './events.ts';
import type {
  Consumer,
  Demand,
  NodePressurePlan,
  PressureEviction,
  Reclaimed,
  ReclaimResult,
  SignalState,
  PressureInventory,
} from './facts.ts';
import { nodePressureReasons, showSignals, type NodePressureMetrics } from './metrics.ts';
import { planNodePressure } from './plan.ts';
import {
  completed,
  observeSignals,
  unreadDisks,
  type DiskReading,
  type NodeReadings,
  type SignalHistory,
  type SignalsGiven,
} from './signals.ts';
import { explainNodeWarning, ungovernedText } from './words.ts';
import { identityOf, maxAges, podsUnknown, restOf, type UnitState } from '../localstorage/pods.ts';

interface PressureSource {
  /** The usage of the pods, and the signals of the node; rejects when it cannot be read. */
  usage(signal: AbortSignal): Promise<StorageUsage>;
  /** The kubelet's own thresholds; the defaults when it does not show them. */
  thresholds(signal: AbortSignal): Promise<SignalThresholds>;
}

export interface NodePressureDeps extends UnitContext {
  /** The pods bound to the node; undefined = not known. */
  readonly pods: () => readonly StoragePod[] | undefined;
  /** Whether any policy has the rule: without one, no pod is judged. */
  readonly isUsed: () => boolean;
  readonly source: PressureSource;
  /** Size and free space of a file system, read without the kubelet. */
  readonly disk: (name: DiskName, signal: AbortSignal) => Promise<DiskReading>;
  /** Images and logs, largest first. */
  readonly consumers: () => readonly Consumer[];
  /** Removes containers and images for a demand, with the checks of their own units; plans it in mode DryRun. */
  readonly relieve: (demand: Demand, signal: AbortSignal) => Promise<ReclaimResult>;
  readonly own: NodePressureMetrics;
}

/** Interval between removals: objects that could not be removed will hardly be removable a moment later. */
const relieveEveryMs = 60_000;

/** Warns before the kubelet would evict, removes containers and images for it, and requests evictions where that is not enough. */
export class NodePressureManager {
  readonly #deps: NodePressureDeps;
  /** From one judgement of the signals to the next. */
  readonly #passClock: PassClock;
  #history: SignalHistory = new Map();
  readonly #reclaimed = new Map<DiskSignal, Reclaimed>();
  #policy: Policy | undefined;
  /** The warnings that were given and still hold. */
  readonly #raised = new Changed<string>();
  #state: UnitState = 'off';
  /** Of the last pass; undefined = the signals are not known. */
  inventory: PressureInventory | undefined;

  constructor(deps: NodePressureDeps) {
    this.#deps = deps;
    this.#passClock = new PassClock(deps.clock);
  }

  /** One pass: observe, plan, relieve, report. Rejects, after its report, when something could not be read or relieved. */
  async collect(signal: AbortSignal): Promise<void> {
    const governance = this.#deps.governance();
    const governed = nodeRule(governance, 'nodePressure');
    if (governed.kind === 'keep') {
      this.#rest(governance);
      return;
    }
    this.#state = 'working';
    this.#forgetAfterChange(governed.policy);
    try {
      const decided = await this.#decide(governance, governed, signal);
      this.#warn(decided);
      const demand = this.#nextDemand(decided);
      if (demand !== undefined) await this.#relieve(demand, governed.policy.mode, signal);
      this.#report(outcomeOf(decided), inventoryOf(decided));
    } catch (err) {
      signal.throwIfAborted();
      this.#deps.metrics.errors.inc({ unit: 'nodepressure', stage: 'signals' });
      this.#showNothing();
      this.#report({ result: 'Failed', message: errorLine(err) }, undefined);
      throw err;
    }
  }

  async #decide(governance: NodeGovernance, governed: Governed, signal: AbortSignal): Promise<Decided> {
    const { source, clock, metrics, own, consumers, node, log } = this.#deps;
    const kubelet = await source.thresholds(signal);
    const usage = await source.usage(signal);
    // Read after the usage: the eviction of a pod that was deleted meanwhile is not requested.
    const pods = this.#deps.pods();
    this.#forgetAfterJump();
    const now = clock.now();
    const given = { rule: governed.rule, kubelet, now, maxAges };
    const readings = await this.#complete(usage, given, signal);
    const { history, states, unknown } = observeSignals(this.#history, readings, given);
    this.#history = history;
    const plan = planNodePressure(
      {
        node: node()?.name ?? '',
        signals: states,
        pods,
        usage,
        reclaimed: this.#reclaimed,
        consumers: consumers(),
      },
      { governance, now, maxAges },
    );
    showPlan(metrics, 'nodepressure', nodePressureReasons, { due: plan.evictions, kept: plan.kept });
    showSignals(own, { states, readings: readings.signals });
    log.debug(
      { warnings: plan.warnings.length, demands: plan.demands.length, due: plan.evictions.length },
      'planned pass',
    );
    return { governed, plan, pods, states, unknown, readings: readings.signals };
  }

  /** Reads a disk itself that the kubelet has measured long ago: the time of images is that of their oldest layer. A disk that cannot be read is unknown. */
  async #complete(
    usage: StorageUsage,
    given: SignalsGiven,
    signal: AbortSignal,
  ): Promise<Required<NodeReadings>> {
    const disks = new Map<DiskName, DiskReading>();
    for (const name of unreadDisks(usage, given)) {
      try {
        disks.set(name, await this.#deps.disk(name, signal));
      } catch (err) {
        signal.throwIfAborted();
        this.#deps.log.debug({ name, err: errorLine(err) }, 'a disk cannot be read');
      }
    }
    return completed(usage, disks, given);
  }

  /** After a jump of the clock nobody knows for how long a threshold has been crossed. */
  #forgetAfterJump(): void {
    if (this.#passClock.begin().jumpedMs === 0) return;
    this.#history = new Map();
    this.#reclaimed.clear();
  }

  /** Another policy may leave more to reclaim; in mode DryRun nothing was removed. */
  #forgetAfterChange(policy: Policy): void {
    if (this.#policy !== undefined && !isSamePolicy(this.#policy, policy)) this.#reclaimed.clear();
    this.#policy = policy;
  }

  /** Forgets everything when the policy has no rule; reports once that there is none. */
  #rest(governance: NodeGovernance): void {
    const { state, report } = restOf(this.#state, governance);
    if (state === 'off') {
      this.#history = new Map();
      this.#reclaimed.clear();
      this.#raised.added([]);
    }
    if (report !== undefined) {
      this.#state = state;
      this.#showNothing();
      this.#report(report, undefined);
    }
    this.#showKept(governance);
  }

  /** The pods that are kept because the policy of the node has no rule. */
  #showKept(governance: NodeGovernance): void {
    const { metrics, clock, isUsed, node } = this.#deps;
    const pods = isUsed() ? this.#deps.pods() : undefined;
    const nothing = { signals: [], usage: undefined, reclaimed: new Map(), consumers: [] };
    const facts = { ...nothing, node: node()?.name ?? '', pods };
    const { kept } = planNodePressure(facts, { governance, now: clock.now(), maxAges });
    showPlan(metrics, 'nodepressure', nodePressureReasons, { due: [], kept });
  }

  #showNothing(): void {
    showPlan(this.#deps.metrics, 'nodepressure', nodePressureReasons);
    showSignals(this.#deps.own, undefined);
  }

  /** One Event when a threshold comes near, and one when it is crossed; again after it was far. */
  #warn({ plan, states }: Decided): void {
    const { recorder, log, node } = this.#deps;
    const near = new Set(plan.warnings.map(({ reason }) => reason));
    const current = plan.warnings.map((warning) => {
      const { state, ungoverned } = warning.target;
      const crossed = ungoverned === undefined ? 'crossed' : 'images-stay';
      return { warning, key: `${warning.reason}/${state.crossedSinceMs === undefined ? 'ahead' : crossed}` };
    });
    // A forecast that wavers is not a new one.
    const lasting = states
      .filter(({ reading, isUnderPressure }) => isUnderPressure && !near.has(reading.signal))
      .flatMap(({ reading }) => this.#raised.last.filter((key) => key.startsWith(`${reading.signal}/`)));
    const added = this.#raised.added([...current.map(({ key }) => key), ...lasting]);
    const regarding = node();
    for (const { warning, key } of current) {
      if (!added.has(key) || regarding === undefined) continue;
      const event = nodePressureAhead(regarding, warning, key);
      recorder.record(event);
      log.info({ signal: warning.reason, note: event.note }, 'node pressure is ahead');
    }
  }

  #nextDemand({ plan }: Decided): Demand | undefined {
    const nowMs = this.#deps.clock.now().getTime();
    return plan.demands.find(({ signal }) => {
      const tried = this.#reclaimed.get(signal);
      return tried === undefined || Math.abs(nowMs - tried.atMs) >= relieveEveryMs;
    });
  }

  /** The passes over containers and images remove nothing in mode DryRun. */
  async #relieve(demand: Demand, mode: Policy['mode'], signal: AbortSignal): Promise<void> {
    const { relieve, clock, log } = this.#deps;
    const fields = { signal: demand.signal, until: demand.until };
    if (mode === 'Enforce') log.info(fields, 'removing containers and images for node pressure');
    const result = await relieve(demand, signal);
    log.debug({ ...fields, result }, 'reclaimed containers and images');
    this.#reclaimed.set(demand.signal, { atMs: clock.now().getTime(), result });
  }

  #report({ result, message }: Outcome, inventory: PressureInventory | undefined): void {
    const { clock, onPass } = this.#deps;
    this.inventory = inventory;
    onPass(passReport({ unit: 'nodepressure', at: clock.now(), result, message }, undefined));
  }
}

type Outcome = Pick<NodePassReport, 'result' | 'message'>;

/**
 * Short: a threshold is still crossed although all was removed that could be, or that the policy selects. Unknown: the pods are not known, a signal
 * has no current value, or no pod can be evicted because their usage is not measured.
 */
function outcomeOf({ plan, pods, unknown }: Decided): Outcome {
  const ungoverned = plan.warnings.flatMap(({ reason, target: { ungoverned: by } }) =>
    by === undefined ? [] : [`${reason}: ${ungovernedText[by]}`],
  );
  if (plan.evictions.length > 0)
    return {
      result: 'Short',
      message: `removing images and containers did not free enough: ${signalsOf(plan.demands)}`,
    };
  if (ungoverned.length > 0) return { result: 'Short', message: ungoverned.join(' ') };
  if (pods === undefined) return { result: 'Unknown', message: podsUnknown };
  if (unknown.length > 0) return { result: 'Unknown', message: `no current value of ${unknown.join(', ')}` };
  const unmeasured = plan.kept.filter(({ reason }) => reason === 'UsageUnknown').length;
  if (unmeasured > 0)
    return {
      result: 'Unknown',
      message: `no pod is evicted: the usage of ${counted(unmeasured, 'pod')} is not known`,
    };
  return { result: plan.demands.length > 0 ? 'Succeeded' : 'Idle', message: undefined };
}

const signalsOf = (demands: readonly Demand[]): string => demands.map(({ signal }) => signal).join(', ');

type Governed = Extract<NodeRule<NodePressurePolicy>, { kind: 'governed' }>;

interface Decided {
  readonly governed: Governed;
  readonly plan: NodePressurePlan;
  /** undefined = not known. */
  readonly pods: readonly StoragePod[] | undefined;
  /** Signals with a threshold. */
  readonly states: readonly SignalState[];
  /** Signals with a threshold of the policy, and without a current value. */
  readonly unknown: readonly ThresholdSignal[];
  readonly readings: readonly SignalReading[];
}

/** The part of the node's report about node pressure. Evictions are requested only in mode Enforce. */
function inventoryOf({ governed: { policy }, plan, states, unknown, readings }: Decided): PressureInventory {
  const { uid, generation, mode } = policy;
  return {
    policy: { uid, generation },
    states,
    unknown,
    readings,
    warnings: plan.warnings.map((warning) => explainNodeWarning(warning).detail),
    requests: mode === 'Enforce' ? plan.evictions.map(requestOf) : [],
  };
}

function requestOf({ target, reason }: PressureEviction): PressureRequest {
  const { shortage, used, request, largest, measuredAtMs } = target;
  const { available, wanted } = shortage;
  return {
    pod: identityOf(target),
    signal: reason,
    subject: undefined,
    observedBytes: used,
    limitBytes: request,
    // The pressure lasts until the minimum reclaim is reached, too.
    shortage: { available, threshold: available + wanted },
    largest,
    observedAtMs: measuredAtMs,
    gracePeriodSeconds: undefined,
  };
}
