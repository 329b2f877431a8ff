import { isNodeUnknown, nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import type { Policy } from '../../api/policy/policy.ts';
import { Changed } from '../../gc/changed.ts';
import { showPlan } from '../../gc/metrics.ts';
import type { LogListing } from '../../node/logs/list.ts';
import { errorLine } from '../../runtime/errors.ts';
import { PassClock, type Moment } from '../../runtime/scheduling/jump.ts';
import { containerFailures, recordLateContainer, removeAll } from './act.ts';
import type { ContainerGcContext } from './checks.ts';
import { LateRemovals } from '../../gc/late-removals.ts';
import type { LastRemoved } from '../../gc/pass.ts';
import { containerGcFailed, logTooLarge } from './events.ts';
import {
  type ContainerGcFacts,
  type ContainerGcPlan,
  type ContainerRemoval,
  type ContainerInventory,
} from './facts.ts';
import { observeLogs, type LogHistory } from './large-logs.ts';
import { containerGcReasons, type ContainerGcMetrics } from './metrics.ts';
import { plannedContainers, planContainerGc } from './plan.ts';
import { observeGone } from './pods.ts';
import {
  inventoryOf,
  logBytesOf,
  nothingDone,
  pausedError,
  reportOf,
  withRemoved,
  type Outcome,
} from './report.ts';
import { explainContainer } from './words.ts';
import type { PlannedContainers, ReclaimResult, Relief } from '../nodepressure/facts.ts';
import { noContainers, reliefBy } from '../nodepressure/demands.ts';

export interface ContainerGcDeps extends ContainerGcContext {
  readonly own: ContainerGcMetrics;
}

/** Removes the dead containers, sandboxes and logs that are due by the policy of this node, and reports each pass. */
export class ContainerGcManager {
  readonly #deps: ContainerGcDeps;
  #sightings = new Map<string, number>();
  readonly #passClock: PassClock;
  /** Why orphaned resources could not be removed in the last pass. */
  readonly #warned = new Changed<string>();
  readonly #failures = containerFailures();
  readonly #late: LateRemovals<ContainerRemoval>;
  #logHistory: LogHistory = noLogs.history;
  /** What the last pass has found; undefined = the node could not be observed. */
  inventory: ContainerInventory | undefined;
  lastRemoved: LastRemoved['others'] = [];

  constructor(deps: ContainerGcDeps) {
    this.#deps = deps;
    this.#passClock = new PassClock(deps.clock);
    this.#late = new LateRemovals(deps.clock);
  }

  /** One pass: observe, plan, act. Rejects, after its report, when something failed; the rest was done. */
  async collect(signal: AbortSignal): Promise<void> {
    const { error } = await this.#reportedPass(undefined, signal);
    if (error !== undefined) throw error;
  }

  /** One pass that goes on until the relief is enough. Rejects, after its report, when the node could not be observed. */
  async relieve(
    relief: Relief,
    signal: AbortSignal,
  ): Promise<{ readonly result: ReclaimResult; readonly planned: PlannedContainers }> {
    const { error, inventory, unknown, stopped, reclaim } = await this.#reportedPass(relief, signal);
    if (error !== undefined) {
      if (inventory === undefined) throw error;
      this.#deps.log.warn({ err: error }, 'not everything could be removed for node pressure');
    }
    return {
      result: unknown === undefined && stopped === undefined ? 'Exhausted' : 'MoreLeft',
      planned: reclaim,
    };
  }

  async #reportedPass(relief: Relief | undefined, signal: AbortSignal): Promise<Outcome> {
    const { clock, onPass, recorder } = this.#deps;
    const outcome = await this.#pass(signal, relief);
    const { error, inventory } = outcome;
    const node = this.#deps.node();
    if (error !== undefined && node !== undefined)
      recorder.record(containerGcFailed(node, errorLine(error), outcome));
    this.inventory = inventory;
    onPass(this.#late.addedTo(reportOf(outcome, clock.now())));
    signal.throwIfAborted();
    return outcome;
  }

  async #pass(signal: AbortSignal, requested: Relief | undefined): Promise<Outcome> {
    const { clock, log, periodMs } = this.#deps;
    const observed = await this.#observe(requested, signal);
    if (observed instanceof Error) return { ...nothingDone, error: observed };
    const { facts, error, began } = observed;
    const governance = this.#deps.governance();
    const relief = reliefBy(governance, requested);
    const plan = planContainerGc(facts, { governance, now: clock.now(), periodMs, demand: relief });
    const inventory = inventoryOf(facts, plan);
    this.#show(plan);
    const policy = policyOf(governance);
    if (policy === undefined) {
      const unknown = isNodeUnknown(governance) ? 'the node or the policies are not known' : undefined;
      if (unknown === undefined) this.#logHistory = noLogs.history;
      return { ...nothingDone, inventory, unknown, error };
    }
    log.debug({ due: plan.removals.length, kept: plan.kept.length }, 'planned pass');
    this.#warn(facts, plan, governance);
    this.#warnUnable(plan);
    const planned = {
      removals: plan.removals,
      policy,
      began,
      relief,
      failures: this.#failures,
      late: this.#late,
      onPodFound: (uid: string) => this.#sightings.delete(uid),
      onRemoved: (removal: ContainerRemoval, freedBytes: number) => this.#removed(removal, freedBytes),
    };
    const results = await removeAll(this.#deps, planned, signal);
    return {
      ...results,
      unknown: results.unknown ?? unknownBecause(facts, plan),
      error: results.error ?? error ?? (policy.mode === 'DryRun' ? undefined : pausedError(plan)),
      inventory,
      planned: plan.removals.length,
      reclaim: policy.mode === 'DryRun' ? plannedContainers(facts, plan) : noContainers,
    };
  }

  /** undefined = the node could not be observed. */
  #show(plan: ContainerGcPlan | undefined): void {
    const { metrics, own } = this.#deps;
    showPlan(metrics, 'containergc', containerGcReasons, plan && { due: plan.removals, kept: plan.kept });
    own.largestLog.set(plan?.warnings[0]?.bytes ?? 0);
  }

  /** One warning until the place can be written and the VolumeAttachments read, not one in each pass. */
  #warnUnable(plan: ContainerGcPlan): void {
    const readOnly = plan.kept.filter(({ reason }) => reason === 'ReadOnly');
    const unknown = plan.kept.find(({ reason }) => reason === 'AttachmentsUnknown');
    const unable = unknown === undefined ? readOnly : [...readOnly, unknown];
    for (const why of this.#warned.added(unable.map((one) => explainContainer(one, plan).detail)))
      this.#deps.log.warn({ why }, 'some resources cannot be removed');
  }

  /** Containers are collected even if the logs cannot be listed. */
  async #observe(requested: Relief | undefined, signal: AbortSignal): Promise<Observed | Error> {
    const { runtime, orphans, checkpoints, clock, own } = this.#deps;
    const { began, jumpedMs } = this.#passClock.begin();
    try {
      await runtime.checkReady(signal);
      // Before everything else, so that the pod of each directory is known.
      const listed = await this.#tried(orphans.list(signal), signal);
      const [containers, sandboxes, logs] = await Promise.all([
        runtime.listContainers(signal),
        runtime.listSandboxes(signal),
        this.#listLogs(signal),
      ]);
      const error = logs instanceof Error ? logs : undefined;
      // Pods are read last, so that the pod of every listed container is known.
      const pods = this.#deps.pods();
      const objects = { containers, sandboxes, logs: logs instanceof Error ? undefined : logs, pods };
      own.logBytes.set(logBytesOf(objects));
      const found = pods && listed && orphans.inspect(listed, { pods, sandboxes, containers }, signal);
      const seen = {
        ...objects,
        orphans: found && (await this.#tried(found, signal)),
        checkpoints: await this.#tried(checkpoints.list(signal), signal, 'listing checkpoints failed'),
      };
      // A relief may follow a pass at once, so it is no second sighting.
      const isCounted = requested === undefined;
      this.#sightings = observeGone(this.#sightings, seen, { now: clock.now(), isCounted });
      const ids = new Set([...containers, ...sandboxes].map(({ id }) => id));
      const exists = (id: string): boolean => ids.has(id);
      this.#late.settle(exists, (removal) => {
        recordLateContainer(removal, this.#deps);
        this.#removed(removal, 0);
      });
      const failedBefore = this.#failures.known(exists, clock.monotonicMs());
      const { jumps } = this.#passClock;
      const clockUnsure = jumpedMs !== 0;
      return {
        facts: { ...seen, failedBefore, sightings: this.#sightings, clockUnsure, jumps },
        error,
        began,
      };
    } catch (cause) {
      signal.throwIfAborted();
      this.#sightings = new Map();
      this.#show(undefined);
      return new Error('listing containers and sandboxes', { cause });
    }
  }

  #removed(removal: ContainerRemoval, freedBytes: number): void {
    this.lastRemoved = withRemoved(this.lastRemoved, removal, freedBytes, this.#deps.clock.now());
  }

  /** A failed search costs a warning, not the pass. */
  #tried<T>(
    search: Promise<T>,
    signal: AbortSignal,
    failure = 'searching orphaned resources failed',
  ): Promise<T | undefined> {
    return search.catch((err: unknown) => {
      signal.throwIfAborted();
      this.#deps.log.warn({ err }, failure);
      return undefined;
    });
  }

  #listLogs(signal: AbortSignal): Promise<LogListing | Error> {
    return this.#deps.logs.list(signal).catch((err: unknown) => {
      signal.throwIfAborted();
      return err instanceof Error ? err : new Error('listing logs', { cause: err });
    });
  }

  /** In mode DryRun too: a warning removes nothing. */
  #warn(facts: ContainerGcFacts, { warnings }: ContainerGcPlan, governance: NodeGovernance): void {
    const { clock, recorder, log } = this.#deps;
    const rule = nodeRule(governance, 'containerGC');
    const isOn = rule.kind === 'governed' && rule.rule.logs?.warnBytesPerContainer !== undefined;
    const pass = { facts, warnings, atMs: clock.monotonicMs() };
    const { history, raised } = isOn ? observeLogs(this.#logHistory, pass) : noLogs;
    this.#logHistory = history;
    for (const one of raised) {
      const { target } = one.warning;
      const event = logTooLarge(one);
      recorder.record(event);
      log.info(
        { pod: target.pod, container: target.name, path: target.logPath, note: event.note },
        'log is too large',
      );
    }
  }
}

function policyOf(governance: NodeGovernance): Policy | undefined {
  if (governance.kind === 'keep') return undefined;
  const { containerGC, orphans, checkpoints } = governance.nodes;
  return [containerGC, orphans, checkpoints].every((rule) => rule === undefined)
    ? undefined
    : governance.policy;
}
/** Nothing is remembered while the policy requests no warnings. */
const noLogs = { history: new Map(), raised: [] } as const;

interface Observed {
  readonly facts: ContainerGcFacts;
  /** Why the logs could not be listed. */
  readonly error: Error | undefined;
  readonly began: Moment;
}

function unknownBecause(
  { pods, checkpoints, clockUnsure }: ContainerGcFacts,
  { kept, checkpointRule }: ContainerGcPlan,
): string | undefined {
  if (pods === undefined) return 'the pods of the node are not known';
  if (checkpointRule !== undefined && checkpoints === undefined)
    return "the kubelet's directory checkpoints could not be listed; the log of the agent has the error";
  if (checkpointRule !== undefined && checkpoints?.complete === false)
    return "the kubelet's directory checkpoints has more entries than the agent reads";
  // Not for a checkpoint whose age stays unknown.
  const isUnsure = clockUnsure === true && kept.some(({ reason }) => reason === 'ClockUnsure');
  return isUnsure ? 'the clock has jumped' : undefined;
}
