import type { RankedPolicies } from '../../api/policy/policy-view.ts';
import type { Outcome } from '../../gc/decision.ts';
import { execute, logStop, type Executed, type StepResult } from '../../gc/execute.ts';
import type { ClusterActions } from '../../kube/actions/cluster.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { podChecks, type PodCheckDeps } from './checks.ts';
import type { PodDeletion } from './facts.ts';
import { upstreamReason, type PodGcMetrics } from './metrics.ts';
import { disruptionTarget, statusOf, throttledForMs } from './recheck.ts';

interface ActDeps extends PodCheckDeps {
  readonly cluster: ClusterActions;
  readonly clock: Clock;
  readonly metrics: PodGcMetrics;
  readonly log: Logger;
  /** 0 = no limit. */
  readonly maxDeletesPerSecond: number;
  /** Called when a pass ends because its plan is out of date: the next one should not wait. */
  readonly onStale: () => void;
  /** Called as deletions go on: a long pass does not hang. */
  readonly onProgress: () => void;
  /** Called when a node exists although the cache does not have it. */
  readonly onNodeFound: (node: string) => void;
}

/** About what an API server and its etcd can use (docs/benchmarks.md); more would only wait inside the server. */
const concurrency = 32;
/** So many failures in a row are no accident of single pods: the rest would only fail as well. */
const giveUpAfter = 16;
/** A broken server must not fill the log. */
const maxFailureLines = 10;

/** Deletes the pods of a plan, in order. */
export async function deletePods(
  deletions: readonly PodDeletion[],
  ranked: RankedPolicies,
  deps: ActDeps,
  signal: AbortSignal,
): Promise<Executed<PodDeletion>> {
  const { clock, log, maxDeletesPerSecond: maxPerSecond, onStale } = deps;
  const { checks, isStale, clockSkewMs } = podChecks(deps, ranked);
  const deleter = new PodDeleter(deps);
  const journal = new Journal(deps, clockSkewMs);
  const executed = await execute(
    deletions,
    {
      ...{ checks, clock, concurrency, giveUpAfter, maxPerSecond },
      steps: [(one) => deleter.mark(one), (one) => deleter.delete(one)],
      isHopeless: (err) => statusOf(err) === 401,
      onOutcome: (outcome) => {
        journal.record(outcome);
      },
    },
    signal,
  );
  logStop(log, executed.stopped);
  if (executed.stopped !== undefined && isStale()) onStale();
  return executed;
}

/** The requests that delete a pod. */
class PodDeleter {
  readonly #deps: ActDeps;
  /** resourceVersion after the mark, by UID. */
  readonly #marked = new Map<string, string>();
  /** Not the pass's own signal: what was sent is awaited, or a deletion would not be recorded. Each request has its deadline. */
  readonly #signal = new AbortController().signal;

  constructor(deps: ActDeps) {
    this.#deps = deps;
  }

  /** Sets phase Failed where that is needed first. */
  async mark(deletion: PodDeletion): Promise<StepResult> {
    const { pod, markFailed } = deletion.target;
    if (!markFailed) return { kind: 'done' };
    const { cluster, clock, log } = this.#deps;
    return this.#send(async () => {
      const condition = disruptionTarget(deletion.reason, clock.now());
      const marked = await cluster.markPodFailed(pod, condition, this.#signal);
      if (typeof marked === 'string') return { kind: 'gone' };
      log.info(fieldsOf(deletion), 'marked pod failed');
      this.#marked.set(pod.uid, marked.resourceVersion);
      return { kind: 'done' };
    });
  }

  async delete({ target: { pod } }: PodDeletion): Promise<StepResult> {
    const { namespace, name, uid, resourceVersion } = pod;
    const ref = { namespace, name, uid, resourceVersion: this.#marked.get(uid) ?? resourceVersion };
    return this.#send(async () => {
      const result = await this.#deps.cluster.deletePod(ref, this.#signal);
      return { kind: result === 'deleted' ? 'done' : 'gone' };
    });
  }

  async #send(request: () => Promise<StepResult>): Promise<StepResult> {
    const { metrics, onProgress } = this.#deps;
    metrics.window.inc();
    try {
      return await request();
    } catch (error) {
      const forMs = throttledForMs(error);
      if (forMs === undefined) throw error;
      return { kind: 'throttled', forMs, error };
    } finally {
      metrics.window.dec();
      onProgress();
    }
  }
}

/** Logs and counts the outcomes of one pass. */
class Journal {
  readonly #deps: ActDeps;
  readonly #clockSkewMs: (deletion: PodDeletion) => number;
  #failures = 0;
  #isSkewLogged = false;

  constructor(deps: ActDeps, clockSkewMs: (deletion: PodDeletion) => number) {
    this.#deps = deps;
    this.#clockSkewMs = clockSkewMs;
  }

  record(outcome: Outcome<PodDeletion>): void {
    const { metrics, log, onProgress } = this.#deps;
    const { decision } = outcome;
    onProgress();
    if (outcome.kind !== 'kept') metrics.deletes.inc(labelsOf(decision));
    switch (outcome.kind) {
      case 'done':
        metrics.deleted.inc({ reason: decision.reason });
        log.info(fieldsOf(decision), 'deleted pod');
        return;
      case 'kept':
        this.#recordKept(outcome);
        return;
      case 'gone':
        log.debug(fieldsOf(decision), 'pod was gone or changed meanwhile');
        return;
      case 'failed':
        this.#recordFailure(outcome);
    }
  }

  #recordKept({ decision, reason }: Extract<Outcome<PodDeletion>, { kind: 'kept' }>): void {
    const { metrics, log, onNodeFound } = this.#deps;
    metrics.skipped.inc({ reason });
    log.debug({ ...fieldsOf(decision), kept: reason }, 'keeping pod after live check');
    if (reason === 'NodeExists') onNodeFound(decision.target.node ?? '');
    if (reason === 'ClockUnsure') this.#warnOfSkew(decision);
  }

  /** Once a pass: it concerns every deletion by ttl alike. */
  #warnOfSkew(deletion: PodDeletion): void {
    if (this.#isSkewLogged) return;
    this.#isSkewLogged = true;
    const aheadSeconds = Math.round(this.#clockSkewMs(deletion) / 1000);
    this.#deps.log.warn({ aheadSeconds }, 'clock differs from that of the API server, no ttl is judged');
  }

  #recordFailure({ decision, error }: Extract<Outcome<PodDeletion>, { kind: 'failed' }>): void {
    const { metrics, log } = this.#deps;
    metrics.deleteErrors.inc(labelsOf(decision));
    metrics.failed.inc({ reason: decision.reason });
    this.#failures += 1;
    const level = this.#failures <= maxFailureLines ? 'warn' : 'debug';
    log[level]({ ...fieldsOf(decision), err: errorLine(error) }, 'deleting pod failed');
  }
}

/** Throws when a deletion failed, or something could not be read: the other pods were deleted all the same. */
export function throwIfFailed({ outcomes, stopped }: Executed<PodDeletion>): void {
  const failed = outcomes.filter((one) => one.kind === 'failed');
  const [first] = failed;
  if (first === undefined) {
    if (stopped?.error !== undefined) throw stopped.error;
    return;
  }
  const all = failed.length + outcomes.filter(({ kind }) => kind === 'done').length;
  const { namespace, name } = first.decision.target;
  throw new Error(`deleting pods: ${failed.length} of ${all} failed, the first ${namespace}/${name}`, {
    cause: first.error,
  });
}

const labelsOf = ({ target, reason }: PodDeletion): { namespace: string; reason: string } => ({
  namespace: target.namespace,
  reason: upstreamReason[reason],
});

/** The fields of a log line about a deletion: enough to know the pod by when it is gone. */
export const fieldsOf = ({ target: { pod }, reason, policy }: PodDeletion): object => ({
  pod: { namespace: pod.namespace, name: pod.name },
  uid: pod.uid,
  node: pod.nodeName,
  owner: pod.controller && `${pod.controller.kind}/${pod.controller.name}`,
  phase: pod.phase,
  reason,
  policy: policy.name,
});
