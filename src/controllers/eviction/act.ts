import { isPressureRequest } from '../../api/local-storage.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Outcome } from '../../gc/decision.ts';
import { isHopeless, mayBeFulfilled } from '../../gc/api-failures.ts';
import { execute, logStop, type Executed, type StepResult } from '../../gc/execute.ts';
import type { EvictionOutcome, PodEvictions } from '../../kube/actions/eviction.ts';
import { errorLine } from '../../runtime/errors.ts';
import { evictionChecks, type Agreed, type EvictionCheckDeps, type EvictionChecks } from './checks.ts';
import { evicted, evictionBlocked } from './events.ts';
import type { DeferralReason, PodEviction, RequestedPod } from './facts.ts';
import type { Result } from './memory.ts';
import type { EvictionMetrics, Failure } from './metrics.ts';

export interface EvictionActDeps extends EvictionCheckDeps {
  readonly evictions: PodEvictions;
  /** The metrics of this unit alone. */
  readonly own: EvictionMetrics;
  /** Whether the pod's last try was deferred for the same reason. */
  readonly wasDeferred: (uid: string, reason: DeferralReason) => boolean;
  readonly onResult: (target: PodEviction['target'], result: Result) => void;
}

interface EvictionPass {
  /** How long to send no eviction, because the API server throttles; 0 = it does not. */
  readonly retryAfterMs: number;
  /** Why the pass has failed. */
  readonly error: Error | undefined;
}

/** One at a time: the pace of the next depends on the result of this one. */
const concurrency = 1;
/** A lost connection may be one of many. */
const giveUpAfter = 8;
/** The pause after a throttled request without Retry-After. */
const defaultRetryAfterMs = 1_000;

/** Evicts the pods of a plan in order, one at a time. A failed eviction does not prevent the others. */
export async function evictPods(
  deps: EvictionActDeps,
  evictions: Iterable<PodEviction>,
  signal: AbortSignal,
): Promise<EvictionPass> {
  const { checks, agreed } = evictionChecks(deps);
  const evictor = new Evictor(deps, agreed);
  const executed = await execute(
    evictions,
    {
      checks,
      concurrency,
      isHopeless,
      giveUpAfter,
      clock: deps.clock,
      steps: [(eviction) => evictor.evict(eviction)],
      onOutcome: (outcome) => evictor.record(outcome),
    },
    signal,
  );
  logStop(deps.log, executed.stopped);
  return { retryAfterMs: evictor.retryAfterMs, error: errorOf(executed) };
}

function errorOf({ outcomes, stopped }: Executed<PodEviction>): Error | undefined {
  const failed = outcomes.filter((one) => one.kind === 'failed');
  const [first] = failed;
  if (first === undefined) return stopped?.error;
  const { namespace, name } = first.decision.target;
  const message = `evicting pods: ${failed.length} failed, the first ${namespace}/${name}`;
  return new Error(message, { cause: first.error });
}

/** Evicts the pods of one pass, and records the outcome of each. */
class Evictor {
  readonly #deps: EvictionActDeps;
  readonly #agreed: EvictionChecks['agreed'];
  /** Evictions that were requested: `evict` has recorded their results. */
  readonly #requested = new Set<PodEviction>();
  retryAfterMs = 0;

  constructor(deps: EvictionActDeps, agreed: EvictionChecks['agreed']) {
    this.#deps = deps;
    this.#agreed = agreed;
  }

  /** Evicts, or deletes if the policy ignores disruption budgets. */
  async evict(planned: PodEviction): Promise<StepResult> {
    const agreed = this.#agreed(planned);
    if (agreed === undefined) throw new Error('no check has confirmed the eviction');
    const { pod, eviction } = agreed;
    const { respectPodDisruptionBudgets, gracePeriodSeconds } = eviction.target.rule;
    const { evictions } = this.#deps;
    const signal = new AbortController().signal;
    const request = respectPodDisruptionBudgets
      ? evictions.evictPod(pod, gracePeriodSeconds, signal)
      : evictions.deletePod(pod, gracePeriodSeconds, signal);
    this.#requested.add(planned);
    const outcome = await request.catch((err: unknown) => {
      this.#fail(planned, err, mayBeFulfilled(err));
      throw err;
    });
    return this.#resultOf(planned, agreed, outcome);
  }

  #resultOf(planned: PodEviction, agreed: Agreed, outcome: EvictionOutcome): StepResult {
    switch (outcome.kind) {
      case 'evicted':
        this.#recordEvicted(agreed);
        return { kind: 'done' };
      case 'gone':
        return this.#keep(planned, 'PodGone');
      case 'changed':
        return this.#keep(planned, 'PodMoved');
      case 'terminating':
        return this.#keep(planned, 'Terminating');
      case 'blocked':
        return this.#block(planned, 'BudgetBlocked', outcome);
      case 'misconfigured':
        this.#count(planned, outcome.kind);
        return this.#block(planned, 'BudgetBlocked', outcome);
      case 'forbidden':
      case 'denied':
        this.#count(planned, outcome.kind);
        return this.#block(planned, 'EvictionForbidden', outcome);
      case 'throttled':
        this.#pause(planned, outcome.retryAfterMs);
        // The next pass tries again.
        return { kind: 'stop', why: 'the API server throttles requests' };
    }
  }

  #pause(planned: PodEviction, retryAfterMs = defaultRetryAfterMs): void {
    this.#count(planned, 'throttled');
    this.retryAfterMs = Math.max(this.retryAfterMs, retryAfterMs);
  }

  #recordEvicted({ eviction, pod }: Agreed): void {
    const { own, recorder, log } = this.#deps;
    const { gracePeriodSeconds: requestedGraceSeconds } = eviction.target.rule;
    this.#remember(eviction, { kind: 'evicted', requestedGraceSeconds });
    own.evictions.inc({ eviction_signal: eviction.reason });
    for (const event of evicted(eviction, pod)) recorder.record(event);
    const { controller } = pod;
    const owner = controller && `${controller.kind}/${controller.name}`;
    log.info({ ...fieldsOf(eviction), owner }, 'evicted pod');
  }

  /** Records the outcome of an eviction that was not requested. */
  record(outcome: Outcome<PodEviction>): void {
    const { kind, decision } = outcome;
    if (this.#requested.has(decision) || kind === 'done') return;
    if (kind === 'failed') this.#fail(decision, outcome.error, false);
    else if (kind === 'gone') this.#keep(decision, 'PodGone');
    else if (outcome.reason !== 'EvictionForbidden') this.#keep(decision, outcome.reason);
    else {
      this.#count(decision, 'forbidden');
      this.#block(decision, outcome.reason, undefined);
    }
  }

  #keep(eviction: PodEviction, reason: Reason): StepResult {
    const { metrics, log } = this.#deps;
    this.#remember(eviction, resultOf(reason));
    metrics.skipped.inc({ unit: 'eviction', reason });
    log.debug({ ...fieldsOf(eviction), kept: reason }, 'keeping pod after live check');
    return { kind: 'keep', reason };
  }

  /** Records the Event once; after that the gauge of kept pods counts the pod. `refusal` undefined = no eviction was tried. */
  #block(
    eviction: PodEviction,
    reason: 'BudgetBlocked' | 'EvictionForbidden',
    refusal: Refusal | undefined,
  ): StepResult {
    const { recorder, log, wasDeferred } = this.#deps;
    const { target } = eviction;
    const message =
      refusal === undefined || refusal.kind === 'forbidden'
        ? forbidden(eviction, refusal?.message)
        : refusal.message;
    const fields = { ...fieldsOf(eviction), kept: reason, response: message };
    if (wasDeferred(target.uid, reason)) {
      log.debug(fields, 'eviction is still blocked');
    } else {
      recorder.record(evictionBlocked(eviction, message));
      log.warn(fields, 'eviction is blocked');
    }
    const retryAfterMs =
      refusal !== undefined && 'retryAfterMs' in refusal ? refusal.retryAfterMs : undefined;
    this.#remember(eviction, { kind: 'deferred', reason, retryAfterMs });
    return { kind: 'keep', reason };
  }

  /** `isUnanswered`: the eviction may have been fulfilled. */
  #fail(eviction: PodEviction, err: unknown, isUnanswered: boolean): void {
    this.#count(eviction, 'error');
    this.#remember(eviction, {
      kind: 'deferred',
      reason: 'EvictionFailed',
      retryAfterMs: undefined,
      isUnanswered,
    });
    this.#deps.log.warn({ ...fieldsOf(eviction), err: errorLine(err) }, 'evicting pod failed');
  }

  #count({ reason: signal }: PodEviction, reason: Failure): void {
    this.#deps.own.errors.inc({ eviction_signal: signal, reason });
  }

  #remember({ target }: PodEviction, result: Result): void {
    this.#deps.onResult(target, result);
  }
}

/** The cache has neither the priority of a pod nor the annotation by which its owner refuses, which may be removed. */
function resultOf(kept: Reason): Result {
  if (kept === 'DoNotDisrupt') return { kind: 'deferred', reason: kept, retryAfterMs: undefined };
  return { kind: kept === 'CriticalPod' ? 'critical' : 'kept' };
}

type Refusal = Extract<EvictionOutcome, { readonly message: string }>;

/** Names the missing right, which the API server's message does not. `response` undefined = no eviction was tried. */
function forbidden({ target: { rule } }: PodEviction, response: string | undefined): string {
  const isDelete = response !== undefined && !rule.respectPodDisruptionBudgets;
  const right = isDelete ? 'delete pods' : 'create pods/eviction';
  const message = `The controller has no permission to evict it: it needs ${right}.`;
  return response === undefined ? message : `${message} ${response}`;
}

/** The fields of a log line about an eviction: they identify the pod after it is gone. */
const fieldsOf = ({ target, reason, policy }: PodEviction): object => ({
  pod: { namespace: target.namespace, name: target.name },
  uid: target.uid,
  node: target.node,
  reason,
  ...causeFields(target.request),
  policy: policy.name,
  ...(target.rule.respectPodDisruptionBudgets ? {} : { budgets: 'ignored' }),
  ...(target.rule.gracePeriodSeconds !== undefined && { graceSeconds: target.rule.gracePeriodSeconds }),
});

function causeFields(request: RequestedPod['request']): object {
  const { subject, observedBytes, limitBytes } = request;
  return isPressureRequest(request)
    ? { ...request.shortage, used: observedBytes, requestedBytes: limitBytes }
    : { subject, usedBytes: observedBytes, limitBytes };
}
