import {
  isNodeUnknown,
  isSamePolicy,
  nodeRule,
  type NodeGovernance,
} from '../../api/policy/node-governance.ts';
import type { ContainerInventory, NodePassReport } from '../../api/report/node-pass.ts';
import type { ObjectRef, Recorder } from '../../kube/events/recorder.ts';
import { errorLine } from '../../runtime/errors.ts';
import { jumpMs, momentOf, withJump, type Jump, type Moment } from '../../runtime/scheduling/jump.ts';
import { fieldsOf, removeAll, type ActDeps } from './act.ts';
import type { Rule } from './checks.ts';
import type { ContainerGcPlan } from './decisions.ts';
import { containerGcFailed } from './events.ts';
import { defaultPeriodMs, type ContainerGcFacts, type Sightings } from './facts.ts';
import { clearPlan, showPlan } from './metrics.ts';
import { planContainerGc } from './plan.ts';
import { observeGone } from './pods.ts';
import { inventoryOf, nothingDone, passReport, type Outcome } from './report.ts';

export interface ContainerGcDeps extends Omit<ActDeps, 'halted' | 'onPodFound'> {
  readonly governance: () => NodeGovernance;
  /** This node, for its Events; undefined = not known yet. */
  readonly node: () => ObjectRef | undefined;
  readonly recorder: Recorder;
  /** Between two passes; default one minute. */
  readonly periodMs?: number;
  /** At the end of each pass that was not cut off; undefined = nothing was seen. */
  readonly onPass: (report: NodePassReport, inventory: ContainerInventory | undefined) => void;
}

/** Removes the dead containers, sandboxes and logs that the policy of this node calls garbage, and reports each pass. */
export class ContainerGcManager {
  readonly #deps: ContainerGcDeps;
  #sightings: Sightings = new Map();
  /** Both clocks at the start of the last pass. */
  #looked: Moment | undefined;
  #jumps: readonly Jump[] = [];

  constructor(deps: ContainerGcDeps) {
    this.#deps = deps;
  }

  /** One pass: observe, plan, act. Rejects when something failed; all the rest was done. */
  async collect(signal: AbortSignal): Promise<void> {
    const { clock, onPass, recorder } = this.#deps;
    const outcome = await this.#pass(signal);
    signal.throwIfAborted();
    const message =
      outcome.error === undefined ? (outcome.undecided ?? outcome.halted) : errorLine(outcome.error);
    const node = this.#deps.node();
    if (outcome.error !== undefined && node !== undefined)
      recorder.record(containerGcFailed(node, { ...outcome, message: errorLine(outcome.error) }));
    onPass(passReport(outcome, clock.now(), message), outcome.inventory);
    if (outcome.error !== undefined) throw outcome.error;
  }

  async #pass(signal: AbortSignal): Promise<Outcome> {
    const { metrics, clock, log, periodMs = defaultPeriodMs } = this.#deps;
    const observed = await this.#observe(signal);
    if (observed instanceof Error) return { ...nothingDone, error: observed };
    const { facts, error } = observed;
    metrics.logBytes.set(inventoryOf(facts).logs.bytes);

    const governance = this.#deps.governance();
    const ruled = nodeRule(governance, 'containerGC');
    if (ruled.kind === 'keep') {
      clearPlan(metrics);
      const undecided = isNodeUnknown(governance) ? 'the node or the policies are not known' : undefined;
      return { ...nothingDone, inventory: inventoryOf(facts), undecided, error };
    }
    const plan = planContainerGc(facts, { governance, now: clock.now(), periodMs });
    showPlan(metrics, plan, ruled.policy.mode);
    log.debug({ due: plan.removals.length, kept: plan.kept.length }, 'planned pass');
    const inventory = inventoryOf(facts, plan);
    const undecided = undecidedBy(facts, plan);
    const begun = { ...nothingDone, inventory, undecided, error, planned: plan.removals.length };
    return await this.#act(plan, { rule: ruled, begun }, signal);
  }

  /** Logs that cannot be listed do not keep the containers from being collected. */
  async #observe(signal: AbortSignal): Promise<Observed | Error> {
    const { runtime, pods } = this.#deps;
    const clockUnsure = this.#readClocks();
    try {
      await runtime.checkReady(signal);
      const [containers, sandboxes, logs] = await Promise.all([
        runtime.listContainers(signal),
        runtime.listSandboxes(signal),
        this.#listLogs(signal),
      ]);
      const listed = logs instanceof Error ? undefined : logs;
      // The pods come last: one that is created meanwhile is then known before its containers are.
      const seen = { containers, sandboxes, logs: listed, pods: pods() };
      this.#sightings = observeGone(this.#sightings, seen, this.#deps.clock.now());
      const facts = { ...seen, sightings: this.#sightings, clockUnsure, jumps: this.#jumps };
      return { facts, error: logs instanceof Error ? logs : undefined };
    } catch (cause) {
      signal.throwIfAborted();
      this.#sightings = new Map();
      clearPlan(this.#deps.metrics);
      return new Error('listing containers and sandboxes', { cause });
    }
  }

  /** True when the wall clock jumped since the last pass. */
  #readClocks(): boolean {
    const [before, now] = [this.#looked, momentOf(this.#deps.clock)];
    this.#looked = now;
    this.#jumps = withJump(this.#jumps, before, now);
    return jumpMs(before, now) !== 0;
  }

  async #listLogs(
    signal: AbortSignal,
  ): Promise<Error | Awaited<ReturnType<ContainerGcDeps['logs']['list']>>> {
    try {
      return await this.#deps.logs.list(signal);
    } catch (err) {
      signal.throwIfAborted();
      return err instanceof Error ? err : new Error('listing logs', { cause: err });
    }
  }

  /** Removes nothing in mode DryRun. */
  async #act({ removals }: ContainerGcPlan, { rule, begun }: Begun, signal: AbortSignal): Promise<Outcome> {
    const { log } = this.#deps;
    if (rule.policy.mode === 'DryRun') {
      for (const removal of removals) log.debug(fieldsOf(removal), 'would remove');
      return begun;
    }
    const deps = {
      ...this.#deps,
      halted: () => this.#haltedBy(rule),
      onPodFound: (uid: string): void => {
        this.#sightings = new Map([...this.#sightings].filter(([other]) => other !== uid));
      },
    };
    const acts = await removeAll(deps, { ...rule, removals }, signal);
    const { undecided = begun.undecided, error = begun.error } = acts;
    return { ...begun, ...acts, undecided, error };
  }

  #haltedBy({ policy }: Rule): string | undefined {
    const now = nodeRule(this.#deps.governance(), 'containerGC');
    if (now.kind === 'keep' || !isSamePolicy(now.policy, policy)) return 'policies have changed';
    return jumpMs(this.#looked, momentOf(this.#deps.clock)) === 0 ? undefined : 'the clock has jumped';
  }
}

interface Observed {
  readonly facts: ContainerGcFacts;
  /** What could not be listed. */
  readonly error: Error | undefined;
}

interface Begun {
  readonly rule: Rule;
  readonly begun: Outcome;
}

function undecidedBy({ pods }: ContainerGcFacts, { kept }: ContainerGcPlan): string | undefined {
  if (pods === undefined) return 'the pods of the node are not known';
  return kept.some(({ reason }) => reason === 'ClockUnsure') ? 'the clock has jumped' : undefined;
}
