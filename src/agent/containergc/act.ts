import { isDiskSignal } from '../../api/node-pressure.ts';
import type { Policy } from '../../api/policy/policy.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import { skewText } from '../../gc/checks.ts';
import type { StepResult } from '../../gc/execute.ts';
import { FailureMemory } from '../../gc/failures.ts';
import type { LateRemovals } from '../../gc/late-removals.ts';
import { carryOut, recordLate, undecidedBecause, type Reporting } from '../../gc/pass.ts';
import { isHopeless, isRuntimeDown } from '../../gc/runtime-failures.ts';
import { isAbort } from '../../runtime/errors.ts';
import type { Moment } from '../../runtime/scheduling/jump.ts';
import { containerChecks, type ContainerChecks, type ContainerGcContext } from './checks.ts';
import type { ContainerRemoval, LogDirectoryTarget } from './facts.ts';
import { podThatMustBeGone } from './recheck.ts';
import { failureOf, type RemovalResults } from './report.ts';
import type { Relief } from '../nodepressure/facts.ts';

/** What one pass removes, and the memory of the passes. */
interface PlannedRemovals {
  readonly policy: Policy;
  readonly began: Moment;
  readonly removals: readonly ContainerRemoval[];
  /** undefined = the limits of the policy decide. */
  readonly relief: Relief | undefined;
  readonly failures: FailureMemory<ContainerRemoval>;
  readonly late: LateRemovals<ContainerRemoval>;
  /** Called for a pod that exists although it looked gone. */
  readonly onPodFound: (uid: string) => void;
  readonly onRemoved: (removal: ContainerRemoval, freedBytes: number) => void;
}

/** Carries out the removals of one pass, in order. Removes nothing in mode DryRun. */
export async function removeAll(
  context: ContainerGcContext,
  planned: PlannedRemovals,
  signal: AbortSignal,
): Promise<RemovalResults> {
  const { metrics, log, clock, onProgress } = context;
  const { removals, policy, began, failures, onPodFound, onRemoved } = planned;
  const checks = containerChecks(context, policy, began);
  const remover = new Remover(context, checks, planned, signal);
  const results = await carryOut(
    removals,
    { unit: 'containergc', metrics, log },
    {
      checks: checks.checks,
      steps: [(removal) => remover.stop(removal), (removal) => remover.remove(removal)],
      clock,
      concurrency: 1,
      isHopeless,
      isLeftOut: (removal) => remover.isLeftOut(removal),
      enough: ({ reason }) => isDiskSignal(reason) && remover.isRelieved,
      fieldsOf,
      failures,
      onProgress,
      // The shutdown interrupted the removal; the next pass repeats it.
      isInterrupted: (error) => signal.aborted && isAbort(error),
      onOutcome: (outcome) => {
        const { decision } = outcome;
        const pod = podThatMustBeGone(decision);
        if (outcome.kind === 'done') onRemoved(decision, outcome.freedBytes);
        if (outcome.kind !== 'kept' || outcome.reason !== 'InUse' || pod === undefined) return;
        if (checks.pods.response(decision) === 'exists') onPodFound(pod.uid);
      },
    },
    signal,
  );
  const [first] = removals;
  return {
    ...results,
    unknown: undecidedBecause(results, first && skewText(checks.node.clockSkewMs(first))),
    error: failureOf(results) ?? remover.logError,
  };
}

const isOfLogs = ({ target: { kind } }: ContainerRemoval): boolean =>
  kind === 'LogDirectory' || kind === 'LogLink' || kind === 'LogFile';

const done: StepResult = { kind: 'done' };
const gone: StepResult = { kind: 'gone' };
const freed = async (bytes: Promise<number>): Promise<StepResult> => ({
  kind: 'done',
  freedBytes: await bytes,
});

class Remover {
  readonly #deps: ContainerGcContext;
  readonly #checks: ContainerChecks;
  /** Aborts the removal of a log directory; the next pass removes the rest. */
  readonly #signal: AbortSignal;
  /** Never aborts: an interrupted removal would leave a container without its log. Each request has its own deadline. */
  readonly #unaborted = new AbortController().signal;

  readonly #planned: Pick<PlannedRemovals, 'relief' | 'late'>;
  isRelieved = false;
  /** Why a container was removed without its log: the disk hangs. */
  logError: Error | undefined;
  #haveLogsHung = false;

  constructor(
    deps: ContainerGcContext,
    checks: ContainerChecks,
    planned: Pick<PlannedRemovals, 'relief' | 'late'>,
    signal: AbortSignal,
  ) {
    this.#deps = deps;
    this.#checks = checks;
    this.#signal = signal;
    this.#planned = planned;
  }

  /** Removals of logs that follow one that hung: each would wait as long, and occupy a thread. */
  isLeftOut(removal: ContainerRemoval): boolean {
    return isOfLogs(removal) && this.#doLogsHang();
  }

  /** Once true, until the end of the pass. */
  #doLogsHang(): boolean {
    this.#haveLogsHung ||= this.#deps.logs.isHanging;
    return this.#haveLogsHung;
  }

  /** Stops a sandbox, or a container in unknown state. Stopping takes long, so the checks run again before the removal. */
  async stop(removal: ContainerRemoval): Promise<StepResult> {
    const { runtime } = this.#deps;
    if (removal.target.kind === 'Sandbox') return await this.#stopSandbox(removal.target.id);
    if (removal.reason !== 'PodGone') return done;
    const container = this.#listed(removal);
    if (container?.state === 'Unknown')
      await runtime.stopContainer(container.id, stopSeconds(container), this.#unaborted);
    return done;
  }

  async #stopSandbox(id: string): Promise<StepResult> {
    const { runtime } = this.#deps;
    const status = await runtime.sandboxStatus(id, this.#unaborted);
    if (status === undefined) return gone;
    if (status.state === 'Ready') return { kind: 'keep', reason: 'Running' };
    await runtime.stopSandbox(id, this.#unaborted);
    return done;
  }

  async remove(removal: ContainerRemoval): Promise<StepResult> {
    const { runtime, logs, orphans, checkpoints } = this.#deps;
    const { target, reason } = removal;
    switch (target.kind) {
      case 'Container':
        return await this.#removeContainer(removal);
      case 'Sandbox':
        await this.#planned.late.awaited(
          target.id,
          removal,
          runtime.removeSandbox(target.id, this.#unaborted),
        );
        return done;
      case 'LogDirectory':
        return await this.#removeDirectory(target);
      case 'LogLink':
        return (await logs.removeLink(target.path, target.isOutside ? 'outside' : 'broken', this.#signal))
          ? done
          : { kind: 'keep', reason: 'InUse' };
      case 'LogFile':
        return await freed(
          reason === 'ContainerGone'
            ? logs.removeContainerLog(target.path, this.#signal)
            : logs.removeRotated(target.path, this.#signal),
        );
      case 'Checkpoint':
        return await checkpoints.remove(target.file);
      case 'PodCgroup':
        return await orphans.removeCgroup(target.path);
      case 'PodDirectory':
        return await orphans.removeDirectory(target.path, target.volumeDataMs, this.#signal);
    }
  }

  /** The container in the last listing, which is newer than the plan. */
  #listed(removal: ContainerRemoval): RuntimeContainer | undefined {
    const listed = this.#checks.listing.response(removal);
    if (listed === undefined || listed instanceof Error) return undefined;
    const { target } = removal;
    return listed.containers.find(({ id }) => 'id' in target && id === target.id);
  }

  /** Removes logs, legacy link and container, and stops at the first error, as the kubelet does (`removeContainer`, pkg/kubelet/kuberuntime); but logs on a disk that hangs are left. */
  async #removeContainer(removal: ContainerRemoval): Promise<StepResult> {
    const { runtime } = this.#deps;
    const listed = this.#listed(removal);
    const status = listed && (await runtime.containerStatus(listed.id, this.#unaborted));
    if (listed === undefined || status === undefined) return gone;
    if (status.state === 'Running') return { kind: 'keep', reason: 'Running' };
    if (status.state === 'Unknown') return { kind: 'keep', reason: 'UnknownState' };
    const freedBytes = await this.#removeLogs(listed, status.logPath, removal.reason);
    const request = runtime.removeContainer(listed.id, this.#unaborted);
    const removed = await this.#planned.late.awaited(listed.id, removal, request);
    this.isRelieved = await this.#measured();
    return removed === 'gone' ? gone : { kind: 'done', freedBytes };
  }

  /** Removes the log and the legacy link of a container; while the disk hangs, neither. */
  async #removeLogs(
    container: RuntimeContainer,
    logPath: string,
    reason: ContainerRemoval['reason'],
  ): Promise<number> {
    const { logs, metrics } = this.#deps;
    if (this.#doLogsHang()) return 0;
    let freedBytes = 0;
    try {
      if (logPath !== '') freedBytes = await logs.removeContainerLog(logPath, this.#unaborted);
      const link = legacyLinkOf(container);
      if (link !== undefined)
        await logs.removeLink(`${logs.roots.containers}/${link}`, 'broken', this.#unaborted);
    } catch (err) {
      if (!this.#doLogsHang()) throw err;
      metrics.failed.inc({ unit: 'containergc', reason });
      this.logError = err instanceof Error ? err : new Error('removing logs', { cause: err });
    }
    return freedBytes;
  }

  /** Whether the relief is enough; false = unknown. */
  async #measured(): Promise<boolean> {
    const { relief } = this.#planned;
    if (relief === undefined) return false;
    try {
      return (await relief.missing(this.#unaborted)) <= 0;
    } catch (err) {
      this.#deps.log.warn({ err }, 'measuring file system failed');
      return false;
    }
  }

  async #removeDirectory({ path, links }: LogDirectoryTarget): Promise<StepResult> {
    const { logs } = this.#deps;
    const freedBytes = await logs.removeDirectory(path, this.#signal);
    for (const link of links) await logs.removeLink(link, 'broken', this.#signal);
    return { kind: 'done', freedBytes };
  }
}

export const recordLateContainer = (removal: ContainerRemoval, reporting: Omit<Reporting, 'unit'>): void =>
  recordLate(removal, fieldsOf(removal), { ...reporting, unit: 'containergc' });

/** Remembers containers and sandboxes that could not be removed, or took too long. */
export const containerFailures = (): FailureMemory<ContainerRemoval> =>
  new FailureMemory({
    keyOf: ({ target }) => ('path' in target ? target.path : target.id),
    isOfObject: (err) => !isRuntimeDown(err),
  });

/** Log fields that identify an object and its pod even after its removal. */
function fieldsOf({ target }: ContainerRemoval): object {
  const { pod } = target;
  const owner = { pod: pod?.name === undefined ? undefined : pod, uid: pod?.uid };
  switch (target.kind) {
    case 'Container':
      return { container: target.id, ...owner };
    case 'Sandbox':
      return { sandbox: target.id, ...owner };
    default:
      return { path: target.path, ...owner };
  }
}

/** The longest file name. */
const nameLength = 255;
const suffix = '.log';

/** The name of the link in /var/log/containers to the log of a container, cut as the kubelet cuts it (`legacyLogSymlink`, pkg/kubelet/kuberuntime/legacy.go); undefined = none. */
export function legacyLinkOf({ id, labels }: RuntimeContainer): string | undefined {
  const pod = labels['io.kubernetes.pod.name'];
  const namespace = labels['io.kubernetes.pod.namespace'];
  const container = labels['io.kubernetes.container.name'];
  const names = [pod, namespace, container];
  if ([...names, id].some((name) => name === undefined || name === '' || name.includes('/')))
    return undefined;
  return `${names.join('_')}-${id}`.slice(0, nameLength - suffix.length) + suffix;
}

/** The kubelet's minimum; more than the maximum would delay the pass. */
const stopBounds = { min: 2, max: 30 };

export function stopSeconds({ annotations }: RuntimeContainer): number {
  const seconds = Number(
    annotations['io.kubernetes.pod.deletionGracePeriod'] ??
      annotations['io.kubernetes.pod.terminationGracePeriod'] ??
      stopBounds.min,
  );
  if (!Number.isFinite(seconds)) return stopBounds.min;
  return Math.min(Math.max(Math.trunc(seconds), stopBounds.min), stopBounds.max);
}
