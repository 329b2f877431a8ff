import type { PodDeleteReason } from '../../api/reasons.ts';
import type { Outcome } from '../../gc/decision.ts';
import { isHopeless, mayBeFulfilled, statusOf } from '../../gc/api-failures.ts';
import type { Check, StepResult } from '../../gc/execute.ts';
import type { FailedBefore, FailureMemory } from '../../gc/failures.ts';
import { carryOut, type PassResults } from '../../gc/pass.ts';
import type { ClusterActions, DeletedPod, DisruptionTarget } from '../../kube/actions/cluster.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import { podChecks, type Planned, type PodCheckContext } from './checks.ts';
import type { PodDeletion } from './facts.ts';
import { upstreamReason, type PodGcMetrics } from './metrics.ts';

export interface DeleterContext extends PodCheckContext {
  readonly cluster: ClusterActions;
  /** The metrics of this unit alone. */
  readonly own: PodGcMetrics;
  /** 0 = no limit. */
  readonly maxDeletesPerSecond: number;
  /** Called when a pass ends because its plan is out of date: the next pass should start at once. */
  readonly onStale: () => void;
  /** Called after each request: a long pass is not a hung one. */
  readonly onProgress: () => void;
}

/** What one pass carries out. */
interface DeletionPass extends Planned {
  readonly failures: FailureMemory<PodDeletion>;
  readonly marked: MarkedPods;
  /** The deletions that an earlier pass began with the mark: only the loss of the lease prevents them. */
  readonly begun: ReadonlySet<PodDeletion>;
  /** Called when a node exists although the cache does not have it. */
  readonly onNodeFound: (node: string) => void;
}

/** More requests would only wait inside the API server (docs/benchmarks.md). */
const concurrency = 32;
/** A lost connection may be one of many. */
const giveUpAfter = 16;

/** Deletes the pods of a plan, in order; those of a policy in mode DryRun are only logged, unless their deletion has begun. */
export async function deletePods(
  deletions: readonly PodDeletion[],
  context: DeleterContext,
  pass: DeletionPass,
  signal: AbortSignal,
): Promise<PassResults<PodDeletion>> {
  const { clock, metrics, log, maxDeletesPerSecond: maxPerSecond } = context;
  const { begun, failures } = pass;
  const { leaseHeld, checks, isStale, clockSkewMs } = podChecks(context, pass);
  const deleter = new PodDeleter(context, pass, signal);
  const results = await carryOut(
    deletions,
    { unit: 'podgc', metrics, log },
    {
      checks: [leaseHeld, ...checks.map((check) => unlessBegun(check, begun))],
      steps: [(one) => deleter.remove(one)],
      clock,
      concurrency,
      isHopeless,
      giveUpAfter,
      maxPerSecond,
      hasBegun: (deletion) => begun.has(deletion),
      fieldsOf,
      failures,
      onProgress: context.onProgress,
      onOutcome: observer(context, pass.onNodeFound, clockSkewMs),
    },
    signal,
  );
  if (results.stopped !== undefined && isStale()) context.onStale();
  return results;
}

/** Counts the outcomes as upstream does, and reports the nodes that exist after all and, once per pass, a clock that differs: it affects every deletion by ttl. */
function observer(
  { own, log }: DeleterContext,
  onNodeFound: DeletionPass['onNodeFound'],
  clockSkewMs: (deletion: PodDeletion) => number,
): (outcome: Outcome<PodDeletion>) => void {
  let isSkewLogged = false;
  return (outcome) => {
    const { target, reason } = outcome.decision;
    if (outcome.kind !== 'kept') {
      const labels = { namespace: own.labelOf(target.namespace), reason: upstreamReason[reason] };
      own.deletes.inc(labels);
      if (outcome.kind === 'failed') own.deleteErrors.inc(labels);
      return;
    }
    if (outcome.reason === 'NodeExists') onNodeFound(target.node ?? '');
    if (outcome.reason !== 'ClockUnsure' || isSkewLogged) return;
    isSkewLogged = true;
    const aheadSeconds = Math.round(clockSkewMs(outcome.decision) / 1000);
    log.warn({ aheadSeconds }, "clock differs from the API server's, applying no ttl");
  };
}

/** A check that allows the deletions that have begun. */
const unlessBegun = (
  { live, whenSlow, ...check }: Check<PodDeletion>,
  begun: ReadonlySet<PodDeletion>,
): Check<PodDeletion> => ({
  objection: (deletion) => (begun.has(deletion) ? undefined : check.objection(deletion)),
  ...(whenSlow && { whenSlow }),
  ...(live && {
    live: {
      refresh: async (deletion, signal) => {
        if (!begun.has(deletion)) await live.refresh(deletion, signal);
      },
      isFresh: (deletion) => begun.has(deletion) || live.isFresh(deletion),
    },
  }),
});

/** How long the deletions of marked pods are repeated in a pass, from the first that fails: pods that cannot be deleted must not use up a pass. */
const maxRepeatMs = 30_000;

const gone: StepResult = { kind: 'gone' };
/** The pod is another one than the plan has judged. */
const changed: StepResult = { kind: 'keep', reason: 'PodChanged' };

/** The requests that delete a pod. */
class PodDeleter {
  readonly #context: DeleterContext;
  readonly #pass: Pick<DeletionPass, 'begun' | 'marked'>;
  /** Ends the pauses between requests. */
  readonly #stop: AbortSignal;
  /** Not the signal of the pass: every sent request is awaited, or a deletion would not be recorded. Each request has its deadline. */
  readonly #signal = new AbortController().signal;
  /** Monotonic milliseconds; undefined = no deletion of a marked pod has failed. */
  #repeatUntilMs: number | undefined;

  constructor(context: DeleterContext, pass: Pick<DeletionPass, 'begun' | 'marked'>, stop: AbortSignal) {
    this.#context = context;
    this.#pass = pass;
    this.#stop = stop;
  }

  /**
   * Deletes the pod, marked as failed first unless it has finished. One step, because every check is before the mark: a marked pod that is not
   * deleted would remain as Failed on a node that returns. Only the loss of the lease prevents the deletion after it: a failed one is repeated, and
   * later passes complete it.
   */
  async remove(deletion: PodDeletion): Promise<StepResult> {
    const { begun, marked: memory } = this.#pass;
    const { pod, markFailed } = deletion.target;
    // The next pass is the repetition.
    if (begun.has(deletion)) return await throttledOr(this.#completeDeletion(deletion));
    if (!markFailed) return await throttledOr(this.#delete(pod));
    const marked = await throttledOr(this.#mark(deletion));
    if (marked.kind === 'done') memory.add({ deletion, isSure: true });
    return marked.kind === 'done' ? await this.#deleteMarked(deletion) : marked;
  }

  #mark(deletion: PodDeletion): Promise<StepResult> {
    const { cluster, clock, log } = this.#context;
    const { reason, policy } = deletion;
    return this.#send(async () => {
      const condition = disruptionTarget(reason, clock.now());
      try {
        const marked = await cluster.markPodFailed(deletion.target.pod, condition, this.#signal);
        if (marked !== 'marked') return marked === 'gone' ? gone : changed;
      } catch (err) {
        if (mayBeFulfilled(err)) this.#pass.marked.add({ deletion, isSure: false });
        throw err;
      }
      log.info({ ...fieldsOf(deletion), reason, policy: policy.name }, 'marked pod failed');
      return { kind: 'done' };
    });
  }

  async #deleteMarked(deletion: PodDeletion): Promise<StepResult> {
    const { clock, holdsLease } = this.#context;
    for (;;) {
      if (!holdsLease()) return { kind: 'stop', why: 'the lease is lost' };
      try {
        return await this.#completeDeletion(deletion);
      } catch (err) {
        this.#repeatUntilMs ??= clock.monotonicMs() + maxRepeatMs;
        if (isDefinitive(err) || this.#stop.aborted || clock.monotonicMs() >= this.#repeatUntilMs) throw err;
        await clock.sleep(Math.min(throttledForMs(err) ?? defaultPauseMs, maxRepeatMs), this.#stop);
      }
    }
  }

  async #completeDeletion(deletion: PodDeletion): Promise<StepResult> {
    const result = await this.#delete({ ...deletion.target.pod, resourceVersion: undefined });
    this.#pass.marked.remove(deletion);
    return result;
  }

  #delete(pod: DeletedPod): Promise<StepResult> {
    return this.#send(async () => {
      const result = await this.#context.cluster.deletePod(pod, this.#signal);
      if (result === 'deleted') return { kind: 'done' };
      // Without the resourceVersion only another UID is a conflict.
      return result === 'gone' || pod.resourceVersion === undefined ? gone : changed;
    });
  }

  async #send(request: () => Promise<StepResult>): Promise<StepResult> {
    const { own, onProgress } = this.#context;
    own.window.inc();
    try {
      return await request();
    } finally {
      own.window.dec();
      onProgress();
    }
  }
}

/** Throws if a deletion or a live check failed; the other pods are deleted all the same. */
export function throwIfFailed({ removed, failed, stopped }: PassResults<PodDeletion>): void {
  const [first] = failed;
  if (first === undefined) {
    if (stopped?.error !== undefined) throw stopped.error;
    return;
  }
  const all = failed.length + removed.length;
  const { namespace, name } = first.decision.target;
  throw new Error(`deleting pods: ${failed.length} of ${all} failed, the first ${namespace}/${name}`, {
    cause: first.error,
  });
}

/** The condition upstream writes on an orphan, and on nothing else (pkg/controller/podgc/gc_controller.go, markFailedAndDeletePodWithCondition). */
const disruptionTarget = (reason: PodDeleteReason, at: Date): DisruptionTarget | undefined =>
  reason === 'Orphaned'
    ? { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists', at }
    : undefined;

/** Whether the server has judged the request: the same one would fail again. */
function isDefinitive(err: unknown): boolean {
  const status = statusOf(err) ?? 0;
  return status >= 400 && status < 500 && ![401, 408, 429].includes(status);
}

/** The pause after a failed request without Retry-After. */
const defaultPauseMs = 1_000;

/** Turns a response that throttles into a result. */
async function throttledOr(request: Promise<StepResult>): Promise<StepResult> {
  try {
    return await request;
  } catch (error) {
    const forMs = throttledForMs(error);
    if (forMs === undefined || isDenial(error)) throw error;
    return { kind: 'throttled', forMs, error };
  }
}

/** How long to wait after a response 429; undefined = the error is another one. */
const throttledForMs = (err: unknown): number | undefined =>
  statusOf(err) === 429 ? (retryAfterOf(err) ?? defaultPauseMs) : undefined;

/** Whether admission has denied the request about this pod: the API server throttles with text, not with a Status. */
const isDenial = (err: unknown): boolean =>
  err instanceof Error && 'isStatus' in err && err.isStatus === true;

const retryAfterOf = (err: unknown): number | undefined =>
  err instanceof Error && 'retryAfterMs' in err && typeof err.retryAfterMs === 'number'
    ? err.retryAfterMs
    : undefined;

/** The fields of a log line about a deletion: they identify the pod after it is gone. */
const fieldsOf = ({ target: { pod } }: PodDeletion): object => ({
  pod: { namespace: pod.namespace, name: pod.name },
  uid: pod.uid,
  node: pod.nodeName,
  owner: pod.controller && `${pod.controller.kind}/${pod.controller.name}`,
  phase: pod.phase,
});

interface Seen {
  readonly pods: ReadonlyMap<string, PodFacts>;
  /** By UID. */
  readonly failedBefore: ReadonlyMap<string, FailedBefore>;
}

interface Mark {
  readonly deletion: PodDeletion;
  /** The API server has confirmed the mark. */
  readonly isSure: boolean;
}

/** Remembers the pods that were marked as failed, or perhaps were, and are not deleted yet: a pod must not remain Failed on a node that has returned. */
export class MarkedPods {
  readonly #marks = new Map<string, Mark>();

  add(mark: Mark): void {
    this.#marks.set(mark.deletion.target.uid, mark);
  }

  remove({ target }: PodDeletion): void {
    this.#marks.delete(target.uid);
  }

  /**
   * The deletions that must be completed now. Forgets pods that no longer exist, and those that another change shows were never marked. A pod that
   * perhaps was may have failed by itself: only our condition proves the mark.
   */
  due({ pods, failedBefore }: Seen): readonly PodDeletion[] {
    const due: PodDeletion[] = [];
    for (const [uid, { deletion, isSure }] of this.#marks) {
      const pod = pods.get(uid);
      if (pod?.phase === 'Failed' && (isSure || pod.markedByPodGc)) {
        if ((failedBefore.get(uid)?.retryInMs ?? 0) <= 0) due.push(deletion);
      } else if (pod?.resourceVersion !== deletion.target.pod.resourceVersion) this.#marks.delete(uid);
    }
    return due;
  }
}
