import { isNodeUnknown, nodeRule } from '../../api/policy/node-governance.ts';
import { Changed } from '../../gc/changed.ts';
import { showPlan } from '../../gc/metrics.ts';
import {
  passReport,
  undecidedBecause,
  type LastRemoved,
  type NodePassReport,
  type PassResults,
} from '../../gc/pass.ts';
import type { SnapshotDirectories } from '../../node/storage/snapshots.ts';
import { errorLine } from '../../runtime/errors.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { sum } from '../../runtime/sum.ts';
import { PassClock, type Moment } from '../../runtime/scheduling/jump.ts';
import { leftoverFailures, removeLeftovers } from './act.ts';
import { listLeftovers, type ListedLeftovers, type LeftoversContext } from './checks.ts';
import { leftoversFound } from './events.ts';
import type { Leftover } from '../../api/leftovers.ts';
import type {
  DirectoryCounts,
  LeftoverInventory,
  LeftoverRemoval,
  LeftoversPlan,
  UnknownLeftovers,
} from './facts.ts';
import { countDirectories, namespaceBytes } from './find.ts';
import { leftoverUnitReasons, showLeftovers, type LeftoverMetrics } from './metrics.ts';
import { planLeftovers } from './plan.ts';

interface LeftoversDeps extends LeftoversContext {
  readonly directories: Pick<SnapshotDirectories, 'count'>;
  readonly own: LeftoverMetrics;
}

type Results = PassResults<LeftoverRemoval>;

/** Finds what containerd keeps for nobody, and removes what the policy of this node allows. */
export class LeftoversManager {
  readonly #deps: LeftoversDeps;
  readonly #passClock: PassClock;
  readonly #failures = leftoverFailures();
  /** The progress of each leftover in the last pass, by id. */
  #before: ReadonlyMap<string, string | undefined> = new Map();
  /** Of the last pass. */
  #directories: DirectoryCounts | undefined;
  /** Leftovers of the last Event, by id. */
  readonly #announced = new Changed<string>();
  /** undefined = no pass yet. */
  inventory: LeftoverInventory | UnknownLeftovers | undefined;
  /** At most ten, the newest first. */
  lastRemoved: LastRemoved['others'] = [];

  constructor(deps: LeftoversDeps) {
    this.#deps = deps;
    this.#passClock = new PassClock(deps.clock);
  }

  /** One pass: observe, plan, act. Rejects, after its report, when something failed. */
  async collect(signal: AbortSignal): Promise<void> {
    const { clock, onPass } = this.#deps;
    const { began, jumpedMs } = this.#passClock.begin();
    const observed = await this.#observe(signal);
    if (observed === undefined || observed instanceof Error) {
      this.#forget(observed);
      const result = observed === undefined ? 'Idle' : 'Failed';
      const message = observed && errorLine(observed);
      onPass({
        ...passReport({ unit: 'leftovers', at: clock.now(), result, message }, undefined),
        errors: observed ? 1 : 0,
      });
      if (observed !== undefined) throw observed;
      return;
    }
    const { plan, results, unknown } = await this.#decide(observed.leftovers, { began, jumpedMs }, signal);
    this.#show(observed, plan, results);
    const error = results && failureOf(results);
    onPass(this.#report(plan, results, unknown));
    signal.throwIfAborted();
    if (error !== undefined) throw error;
  }

  /** undefined = the runtime is not containerd. */
  async #observe(signal: AbortSignal): Promise<Observed | Error | undefined> {
    const { directories, clock } = this.#deps;
    try {
      // Before the snapshots: one that is made meanwhile then has no directory that is known, which is the smaller error.
      const found = await directories.count(signal);
      const listed = await listLeftovers(this.#deps, () => clock.now(), signal);
      return listed && { ...listed, directories: countDirectories(found, listed.store) };
    } catch (cause) {
      signal.throwIfAborted();
      return new Error('searching leftovers', { cause });
    }
  }

  async #decide(
    leftovers: readonly Leftover[],
    { began, jumpedMs }: { readonly began: Moment; readonly jumpedMs: number },
    signal: AbortSignal,
  ): Promise<{
    readonly plan: LeftoversPlan;
    readonly results?: Results;
    readonly unknown: string | undefined;
  }> {
    const { governance: governanceNow, clock, log } = this.#deps;
    const governance = governanceNow();
    const ids = new Set(leftovers.map(({ id }) => id));
    const facts = {
      leftovers,
      before: this.#before,
      failedBefore: this.#failures.known((id) => ids.has(id), clock.monotonicMs()),
      clockUnsure: jumpedMs !== 0,
      jumps: this.#passClock.jumps,
    };
    const plan = planLeftovers(facts, { governance, now: clock.now() });
    this.#before = new Map(leftovers.map(({ id, progress }) => [id, progress]));
    log.debug({ due: plan.removals.length, kept: plan.kept.length }, 'planned pass');
    const governed = nodeRule(governance, 'leftovers');
    if (governed.kind === 'keep')
      return {
        plan,
        unknown: isNodeUnknown(governance) ? 'the node or the policies are not known' : undefined,
      };
    const planned = { removals: plan.removals, policy: governed.policy, began, failures: this.#failures };
    const results = await removeLeftovers(this.#deps, planned, signal);
    this.#remember(results);
    return { plan, results, unknown: undecidedBecause(results, undefined) };
  }

  #remember({ removed }: Results): void {
    const time = metaTime(this.#deps.clock.now());
    const own = removed.map(({ target: { kind, id, name }, reason, policy, bytes }) => {
      return { kind, id, name, reason, policy: policy?.name ?? '', bytes, time };
    });
    this.lastRemoved = [...own.toReversed(), ...this.lastRemoved].slice(0, 10);
  }

  #forget(why: Error | undefined): void {
    this.#before = new Map();
    this.#directories = undefined;
    const inventory = { unknown: why === undefined ? 'the runtime is not containerd' : errorLine(why) };
    this.inventory = inventory;
    showLeftovers(this.#deps.own, inventory);
    showPlan(this.#deps.metrics, 'leftovers', leftoverUnitReasons);
  }

  #show(
    { leftovers, store, directories }: Observed,
    { removals, kept }: LeftoversPlan,
    { removed }: Pick<Results, 'removed'> = { removed: [] },
  ): void {
    const { metrics, own, clock } = this.#deps;
    showPlan(metrics, 'leftovers', leftoverUnitReasons, { due: removals, kept });
    const reasons = new Map([...removals, ...kept].map(({ target, reason }) => [target.id, reason]));
    const waiting = kept.filter(({ reason }) => reason === 'Quarantined');
    const gone = new Set(removed.map(({ target }) => target.id));
    const removable = [...removals, ...waiting].filter(({ target }) => !gone.has(target.id));
    const before = this.#directories;
    this.#directories = directories;
    this.inventory = {
      at: clock.now(),
      leftovers: leftovers.map((one) => ({ ...one, reason: reasons.get(one.id) })),
      removableBytes: sum(removable.map(({ target }) => target.leftover.bytes)),
      namespaces: namespaceBytes(store),
      directories: before && directories && lowest(before, directories),
    };
    showLeftovers(own, this.inventory);
    this.#announce(leftovers);
  }

  /** One Event when there is more than at the last one. */
  #announce(leftovers: readonly Leftover[]): void {
    const node = this.#deps.node();
    const ids = leftovers.filter(({ id }) => id !== 'unreferenced').map(({ id }) => id);
    if (node !== undefined && this.#announced.added(ids).size > 0)
      this.#deps.recorder.record(leftoversFound(node, leftovers));
  }

  #report(
    { removals }: LeftoversPlan,
    results: Results | undefined,
    unknown: string | undefined,
  ): NodePassReport {
    const error = results && failureOf(results);
    const { stopped } = results ?? {};
    const message = error === undefined ? (unknown ?? stopped?.why) : errorLine(error);
    const resultOf = (): NodePassReport['result'] => {
      if (error !== undefined) return 'Failed';
      if (unknown !== undefined) return 'Unknown';
      if (stopped !== undefined && stopped.isShutdown !== true) return 'Short';
      return removals.length === 0 ? 'Idle' : 'Succeeded';
    };
    return passReport(
      { unit: 'leftovers', at: this.#deps.clock.now(), result: resultOf(), message },
      results,
    );
  }
}

interface Observed extends ListedLeftovers {
  readonly directories: DirectoryCounts | undefined;
}

function failureOf({ removed, failed, stopped }: Results): Error | undefined {
  if (stopped?.error !== undefined) return new Error('checking before a removal', { cause: stopped.error });
  const [first] = failed;
  const all = failed.length + removed.length;
  return first && new Error(`removing leftovers: ${failed.length} of ${all} failed`, { cause: first.error });
}

/** Of two passes, because snapshots come and go while they are counted. */
const lowest = (a: DirectoryCounts, b: DirectoryCounts): DirectoryCounts => ({
  withoutSnapshot: Math.min(a.withoutSnapshot, b.withoutSnapshot),
  missing: Math.min(a.missing, b.missing),
});
