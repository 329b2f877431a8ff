import { isCritical } from '../../api/critical-pod.ts';
import type { StoragePod, StorageUsage } from '../../api/local-storage.ts';
import { nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import { Changed } from '../../gc/changed.ts';
import { showPlan } from '../../gc/metrics.ts';
import { passReport, type NodePassReport } from '../../gc/pass.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { UnitContext } from '../context.ts';
import { localStorageHigh } from './events.ts';
import type { PodEviction, StorageInventory } from './facts.ts';
import { observeStorage, type StorageHistory } from './history.ts';
import { inventoryOf, type Decided } from './inventory.ts';
import {
  localStorageReasons,
  showPods,
  showUsage,
  type LocalStorageMetrics,
  type PodStorageMetrics,
} from './metrics.ts';
import { planLocalStorage } from './plan.ts';
import { refusedBecause } from '../../api/do-not-disrupt.ts';
import { identityOf, isFresh, maxAges, podsUnknown, restOf, type UnitState } from './pods.ts';

/** Reports how much local storage the pods of this node use: the kubelet. */
interface UsageSource {
  /** Rejects when it cannot be read. */
  usage(signal: AbortSignal): Promise<StorageUsage>;
  /** Closes the connection; a later `usage` opens a new one. */
  close(): void;
}

export interface LocalStorageDeps extends UnitContext {
  /** The pods bound to the node; undefined = not known. */
  readonly pods: () => readonly StoragePod[] | undefined;
  /** Whether any policy has the rule: without one, no pod is judged. */
  readonly isUsed: () => boolean;
  readonly source: UsageSource;
  readonly own: LocalStorageMetrics;
  /** undefined = no series for each pod. */
  readonly podMetrics?: PodStorageMetrics | undefined;
}

/** How long the last usage is used while reads fail: a kubelet restarts within this time. */
const usageLastsMs = 2 * 60_000;

/** Warns about pods near their local storage limits, and requests the eviction of pods above them; it evicts none itself. */
export class LocalStorageManager {
  readonly #deps: LocalStorageDeps;
  #history: StorageHistory = new Map();
  #usage: StorageUsage | undefined;
  /** The evictions of the last pass, by UID, signal and mode. */
  readonly #requested = new Changed<string>();
  #state: UnitState = 'off';
  /** Of the last pass; undefined = the usage of the pods are not known. */
  inventory: StorageInventory | undefined;

  constructor(deps: LocalStorageDeps) {
    this.#deps = deps;
  }

  /** One pass: observe, plan, report. Rejects, after its report, when the usage of the pods could not be read. */
  async collect(signal: AbortSignal): Promise<void> {
    const governance = this.#deps.governance();
    const governed = nodeRule(governance, 'localStorageEviction');
    if (governed.kind === 'keep') {
      this.#rest(governance);
      return;
    }
    this.#state = 'working';
    const error = this.#deps.pods() === undefined ? undefined : await this.#readUsage(signal);
    // Read after the usage: the eviction of a pod that was deleted meanwhile is not requested.
    const pods = this.#deps.pods();
    if (pods === undefined) this.#reportNothing({ result: 'Unknown', message: podsUnknown });
    else this.#planAndReport({ governance, governed, pods }, error);
    if (error !== undefined) throw error;
  }

  /** Forgets everything when the policy has no rule; reports once that there is none. */
  #rest(governance: NodeGovernance): void {
    const { state, report } = restOf(this.#state, governance);
    if (state === 'off') {
      this.#history = new Map();
      this.#usage = undefined;
      this.#requested.added([]);
    }
    if (report !== undefined) {
      if (state === 'off') this.#deps.source.close();
      this.#state = state;
      this.#reportNothing(report);
    }
    this.#showKept(governance);
  }

  /** The pods that are kept because the policy of the node has no rule. */
  #showKept(governance: NodeGovernance): void {
    const { metrics, clock, isUsed } = this.#deps;
    const pods = isUsed() ? this.#deps.pods() : undefined;
    const given = { governance, now: clock.now(), maxAges };
    const { kept } = planLocalStorage({ pods, usage: undefined }, given);
    showPlan(metrics, 'localstorage', localStorageReasons, { due: [], kept });
  }

  #reportNothing(outcome: Outcome): void {
    const { metrics, own, podMetrics } = this.#deps;
    showPlan(metrics, 'localstorage', localStorageReasons);
    showUsage(own, undefined);
    podMetrics?.used.reset();
    this.#report(outcome, undefined);
  }

  /** Stores the usage; returns the error if it could not be read. */
  async #readUsage(signal: AbortSignal): Promise<Error | undefined> {
    try {
      this.#usage = await this.#deps.source.usage(signal);
      return undefined;
    } catch (cause) {
      signal.throwIfAborted();
      this.#deps.metrics.errors.inc({ unit: 'localstorage', stage: 'usage' });
      return new Error('reading the usage of the pods', { cause });
    }
  }

  #planAndReport(
    {
      governance,
      governed,
      pods,
    }: Pick<Decided, 'governed' | 'pods'> & { readonly governance: NodeGovernance },
    error: Error | undefined,
  ): void {
    const { metrics, own, podMetrics, clock, log } = this.#deps;
    const now = clock.now();
    const usage = this.#lastingUsage(now);
    const plan = planLocalStorage({ pods, usage }, { governance, now, maxAges });
    const { rule: policy } = governed;
    const { history, warnings, raised } = observeStorage(this.#history, { plan, pods, policy, now });
    this.#history = history;
    const shown = { plan, pods, usage, now };
    showPlan(metrics, 'localstorage', localStorageReasons, { due: plan.evictions, kept: plan.kept });
    showUsage(own, shown);
    if (podMetrics !== undefined) showPods(podMetrics, shown);
    log.debug({ due: plan.evictions.length, warnings: warnings.length }, 'planned pass');
    const decided = { governed, pods, plan, warnings };
    this.#warn(decided, raised);
    this.#request(decided);
    this.#report(outcomeOf(decided, error), usage === undefined ? undefined : inventoryOf(decided));
  }

  /** The last usage that could be read, unless it is too old. */
  #lastingUsage(now: Date): StorageUsage | undefined {
    return this.#usage !== undefined && isFresh(this.#usage.atMs, now, usageLastsMs)
      ? this.#usage
      : undefined;
  }

  #warn({ governed: { policy, nodes }, pods }: Decided, raised: Decided['warnings']): void {
    const { recorder, log } = this.#deps;
    const isSpared = (pod: StoragePod): boolean =>
      isCritical(pod) || refusedBecause(pod, nodes) !== undefined;
    const spared = new Set(pods.filter(isSpared).map(({ uid }) => uid));
    const uids = new Map(pods.map(({ uid, configHash = uid }) => [uid, configHash]));
    for (const warning of raised) {
      const { pod, excess, percent } = warning;
      const evicts = policy.mode === 'Enforce' && !spared.has(pod.uid);
      const event = localStorageHigh(warning, { uid: uids.get(pod.uid) ?? pod.uid, evicts });
      recorder.record(event);
      log.info({ pod, signal: excess.signal, percent, note: event.note }, 'local storage is high');
    }
  }

  /** Logs and counts each request once; the report carries it. */
  #request({ governed: { policy }, plan }: Decided): void {
    const { own, log } = this.#deps;
    const keyOf = ({ target, reason }: PodEviction): string => `${target.uid}/${reason}/${policy.mode}`;
    const added = this.#requested.added(plan.evictions.map(keyOf));
    for (const { target, reason } of plan.evictions.filter((one) => added.has(keyOf(one)))) {
      const { subject, usedBytes, limit } = target.excess;
      own.requested.inc({ eviction_signal: reason, mode: policy.mode });
      log.info(
        {
          pod: identityOf(target),
          reason,
          subject,
          policy: policy.name,
          usedBytes,
          limitBytes: limit.bytes,
        },
        policy.mode === 'Enforce' ? 'requesting eviction' : 'would request eviction',
      );
    }
  }

  #report({ result, message }: Outcome, inventory: StorageInventory | undefined): void {
    const { clock, onPass } = this.#deps;
    this.inventory = inventory;
    onPass(passReport({ unit: 'localstorage', at: clock.now(), result, message }, undefined));
  }
}

type Outcome = Pick<NodePassReport, 'result' | 'message'>;

function outcomeOf({ plan }: Decided, error: Error | undefined): Outcome {
  if (error !== undefined) return { result: 'Failed', message: errorLine(error) };
  return { result: plan.evictions.length > 0 ? 'Succeeded' : 'Idle', message: undefined };
}
