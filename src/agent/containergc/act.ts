import { isDiskSignal, type Relief } from '../../api/node-pressure.ts';
import type { ContainerRuntime, RuntimeContainer } from '../../cri/runtime.ts';
import { skewText } from '../../gc/checks.ts';
import type { Outcome } from '../../gc/decision.ts';
import { execute, logStop, type StepResult } from '../../gc/execute.ts';
import { FailureMemory } from '../../gc/failures.ts';
import { isHopeless, isRuntimeDown } from '../../gc/runtime-failures.ts';
import type { NodeLogs } from '../../node/logs/logs.ts';
import type { NodeOrphans } from '../../node/storage/orphans-finder.ts';
import { isAbort } from '../../runtime/errors.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { containerChecks, type ContainerCheckDeps, type ContainerChecks, type PlanBasis } from './checks.ts';
import {
  isContainerRemoval,
  type ContainerGcTarget,
  type ContainerRemoval,
  type LogDirectoryTarget,
  type RemovedContainer,
} from './facts.ts';
import type { ContainerGcMetrics } from './metrics.ts';
import { podThatMustBeGone } from './recheck.ts';
import { resultsOf, type RemovalResults } from './report.ts';

export interface ActDeps extends ContainerCheckDeps {
  readonly runtime: ContainerCheckDeps['runtime'] &
    Pick<
      ContainerRuntime,
      | 'containerStatus'
      | 'stopContainer'
      | 'removeContainer'
      | 'sandboxStatus'
      | 'stopSandbox'
      | 'removeSandbox'
    >;
  readonly logs: NodeLogs;
  readonly orphans: Pick<NodeOrphans, 'removeDirectory' | 'removeCgroup'>;
  readonly clock: Clock;
  readonly metrics: ContainerGcMetrics;
  readonly log: Logger;
  readonly failures: FailureMemory<ContainerRemoval>;
  /** Called for a pod that exists although it looked gone. */
  readonly onPodFound: (uid: string) => void;
  /** Called for each object that was removed. */
  readonly onRemoved: (removal: ContainerRemoval, freedBytes: number) => void;
  /** Called after each removal, so that a long pass does not look stuck. */
  readonly onProgress: () => void;
}

interface Planned {
  readonly removals: readonly ContainerRemoval[];
  /** undefined = the limits of the policy decide. */
  readonly relief: Relief | undefined;
}

/** Carries out the removals of one pass, in order. */
export async function removeAll(
  deps: ActDeps,
  { removals, relief, ...basis }: PlanBasis & Planned,
  signal: AbortSignal,
): Promise<RemovalResults> {
  const checks = containerChecks(deps, basis);
  const remover = new Remover(deps, checks, { signal, relief });
  const executed = await execute(
    remover.untilLogsHang(removals),
    {
      checks: checks.checks,
      steps: [(removal) => remover.stop(removal), (removal) => remover.remove(removal)],
      ...{ clock: deps.clock, isHopeless, concurrency: 1 },
      enough: ({ reason }) => isDiskSignal(reason) && remover.isRelieved,
      onOutcome: (outcome) => {
        // The shutdown interrupted the removal; the next pass repeats it.
        if (outcome.kind === 'failed' && signal.aborted && isAbort(outcome.error)) return;
        record(outcome, deps, checks);
      },
    },
    signal,
  );
  deps.failures.record(executed.outcomes, deps.clock.monotonicMs());
  logStop(deps.log, executed.stopped);
  const [first] = removals;
  const results = resultsOf(executed, first && skewText(checks.node.clockSkewMs(first)));
  return { ...results, error: results.error ?? remover.logError };
}

function record(
  outcome: Outcome<ContainerRemoval>,
  { metrics, log, onPodFound, onRemoved, onProgress }: ActDeps,
  { pods }: ContainerChecks,
): void {
  const { decision } = outcome;
  const { reason, target } = decision;
  const fields = fieldsOf(decision);
  const pod = podThatMustBeGone(decision);
  onProgress();
  switch (outcome.kind) {
    case 'done':
      onRemoved(decision, outcome.freedBytes);
      metrics.collected.inc({ reason });
      if (!isOrphan(target)) metrics.freedLogBytes.inc(outcome.freedBytes);
      log.info({ ...fields, freedBytes: outcome.freedBytes }, `removed ${nouns[target.kind]}`);
      return;
    case 'kept':
      metrics.skipped.inc({ reason: outcome.reason });
      log.debug({ ...fields, kept: outcome.reason }, `keeping ${nouns[target.kind]} after live check`);
      if (pod !== undefined && outcome.reason === 'InUse' && pods.response(decision) === 'exists')
        onPodFound(pod.uid);
      return;
    case 'gone':
      log.debug(fields, `${nouns[target.kind]} is already gone`);
      return;
    case 'failed':
      metrics.errors.inc({ reason });
      log.warn({ ...fields, err: outcome.error }, `removing ${nouns[target.kind]} failed`);
  }
}

const isOfLogs = ({ target: { kind } }: ContainerRemoval): boolean =>
  kind === 'LogDirectory' || kind === 'LogLink' || kind === 'LogFile';

const isOrphan = ({ kind }: ContainerGcTarget): boolean => kind === 'PodDirectory' || kind === 'PodCgroup';

const done: StepResult = { kind: 'done' };
const gone: StepResult = { kind: 'gone' };
const freed = async (bytes: Promise<number>): Promise<StepResult> => ({
  kind: 'done',
  freedBytes: await bytes,
});

/** Sends the requests that remove one object. */
class Remover {
  readonly #deps: ActDeps;
  readonly #checks: ContainerChecks;
  /** Aborts the removal of a log directory; the next pass removes the rest. */
  readonly #signal: AbortSignal;
  /** Never aborts: an interrupted removal would leave a container without its log. Each request has its own deadline. */
  readonly #unaborted = new AbortController().signal;

  readonly #relief: Relief | undefined;
  /** Enough is available again. */
  isRelieved = false;
  /** Why a container was removed without its log: the disk hangs. */
  logError: Error | undefined;
  #haveLogsHung = false;

  constructor(
    deps: ActDeps,
    checks: ContainerChecks,
    { signal, relief }: { readonly signal: AbortSignal; readonly relief: Relief | undefined },
  ) {
    this.#deps = deps;
    this.#checks = checks;
    this.#signal = signal;
    this.#relief = relief;
  }

  /** Leaves out the removals of logs that follow one that hung: each other would wait as long, and occupy a thread. */
  *untilLogsHang(removals: readonly ContainerRemoval[]): Generator<ContainerRemoval> {
    for (const removal of removals) if (!isOfLogs(removal) || !this.#doLogsHang()) yield removal;
  }

  /** Once true, until the end of the pass. */
  #doLogsHang(): boolean {
    this.#haveLogsHung ||= this.#deps.logs.isHanging;
    return this.#haveLogsHung;
  }

  /** Stops a sandbox, or a container in unknown state. Stopping takes long, so the checks run again before the removal. */
  async stop(removal: ContainerRemoval): Promise<StepResult> {
    const { runtime } = this.#deps;
    if (removal.reason === 'Sandbox') return await this.#stopSandbox(removal.target.id);
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
    const { runtime, logs, orphans } = this.#deps;
    if (isContainerRemoval(removal)) return await this.#removeContainer(removal);
    switch (removal.reason) {
      case 'Sandbox':
        await runtime.removeSandbox(removal.target.id, this.#unaborted);
        return done;
      case 'OrphanedLogs':
        return await this.#removeDirectory(removal.target);
      case 'BrokenLink':
        return (await this.#removeLink(removal.target.path, removal.evidence.isOutside))
          ? done
          : { kind: 'keep', reason: 'InUse' };
      case 'ContainerGone':
        return await freed(logs.removeContainerLog(removal.target.path, this.#signal));
      case 'RotatedLog':
        return await freed(logs.removeRotated(removal.target.path, this.#signal));
      case 'OrphanedCgroup':
        return await orphans.removeCgroup(removal.target.path);
      case 'OrphanedDirectory':
        return await orphans.removeDirectory(removal.target.path, this.#signal);
    }
  }

  /** The container in the last listing, which is newer than the plan. */
  #listed(removal: RemovedContainer): RuntimeContainer | undefined {
    const listed = this.#checks.listing.response(removal);
    if (listed === undefined || listed instanceof Error) return undefined;
    return listed.containers.find(({ id }) => id === removal.target.id);
  }

  /** Removes logs, legacy link and container, and stops at the first error, as the kubelet does (`removeContainer`, pkg/kubelet/kuberuntime); but logs on a disk that hangs are left. */
  async #removeContainer(removal: RemovedContainer): Promise<StepResult> {
    const { runtime } = this.#deps;
    const listed = this.#listed(removal);
    const status = listed && (await runtime.containerStatus(listed.id, this.#unaborted));
    if (listed === undefined || status === undefined) return gone;
    if (status.state === 'Running') return { kind: 'keep', reason: 'Running' };
    if (status.state === 'Unknown') return { kind: 'keep', reason: 'UnknownState' };
    const freedBytes = await this.#removeLogs(listed, status.logPath, removal.reason);
    const removed = await runtime.removeContainer(listed.id, this.#unaborted);
    this.isRelieved = await this.#measured();
    return removed === 'gone' ? gone : { kind: 'done', freedBytes };
  }

  /** Removes the log and the legacy link of a container; while the disk hangs, neither. */
  async #removeLogs(
    container: RuntimeContainer,
    logPath: string,
    reason: RemovedContainer['reason'],
  ): Promise<number> {
    const { logs, metrics } = this.#deps;
    if (this.#doLogsHang()) return 0;
    let freedBytes = 0;
    try {
      if (logPath !== '') freedBytes = await logs.removeContainerLog(logPath, this.#unaborted);
      const link = legacyLinkOf(container);
      if (link !== undefined)
        await logs.removeBrokenLink(`${logs.roots.containers}/${link}`, this.#unaborted);
    } catch (err) {
      if (!this.#doLogsHang()) throw err;
      metrics.errors.inc({ reason });
      this.logError = err instanceof Error ? err : new Error('removing logs', { cause: err });
    }
    return freedBytes;
  }

  async #removeLink(path: string, isOutside: boolean): Promise<boolean> {
    const { logs } = this.#deps;
    return isOutside ? logs.removeOutsideLink(path, this.#signal) : logs.removeBrokenLink(path, this.#signal);
  }

  /** Whether the relief is enough; false = unknown. */
  async #measured(): Promise<boolean> {
    if (this.#relief === undefined) return false;
    try {
      return (await this.#relief.missing(this.#unaborted)) <= 0;
    } catch (err) {
      this.#deps.log.warn({ err }, 'measuring file system failed');
      return false;
    }
  }

  async #removeDirectory({ path, links }: LogDirectoryTarget): Promise<StepResult> {
    const { logs } = this.#deps;
    const freedBytes = await logs.removeDirectory(path, this.#signal);
    for (const link of links) await logs.removeBrokenLink(link, this.#signal);
    return { kind: 'done', freedBytes };
  }
}

const nouns: Readonly<Record<ContainerGcTarget['kind'], string>> = {
  Container: 'container',
  Sandbox: 'sandbox',
  LogDirectory: 'log directory',
  LogLink: 'log link',
  LogFile: 'log file',
  PodCgroup: 'orphaned control group',
  PodDirectory: 'orphaned pod directory',
};

/** Remembers containers and sandboxes that could not be removed, or took too long. */
export const containerFailures = (): FailureMemory<ContainerRemoval> =>
  new FailureMemory({
    keyOf: ({ target }) => ('path' in target ? target.path : target.id),
    isOfObject: (err) => !isRuntimeDown(err),
  });

/** Log fields that identify a removal. */
export function fieldsOf({ target, reason }: ContainerRemoval): object {
  switch (target.kind) {
    case 'Container':
      return { container: target.id, pod: target.pod, reason };
    case 'Sandbox':
      return { sandbox: target.id, pod: target.pod, reason };
    case 'LogDirectory':
    case 'LogLink':
    case 'LogFile':
      return { path: target.path, reason };
    case 'PodCgroup':
    case 'PodDirectory':
      return { path: target.path, podUid: target.pod.uid, reason };
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

/** The grace period of the pod, within bounds. */
export function stopSeconds({ annotations }: RuntimeContainer): number {
  const seconds = Number(
    annotations['io.kubernetes.pod.deletionGracePeriod'] ??
      annotations['io.kubernetes.pod.terminationGracePeriod'] ??
      stopBounds.min,
  );
  if (!Number.isFinite(seconds)) return stopBounds.min;
  return Math.min(Math.max(Math.trunc(seconds), stopBounds.min), stopBounds.max);
}
