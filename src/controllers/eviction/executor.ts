import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { EvictionOutcome, PodEvictions } from '../../kube/eviction.ts';
import type { LivePod } from '../../kube/live-pod.ts';
import type { Recorder } from '../../kube/recorder.ts';
import { ActGate, type ActGateDeps, type Confirmation } from '../../runtime/act-gate.ts';
import type { Clock } from '../../runtime/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import { liveMs, lookLive } from '../../runtime/fresh.ts';
import type { Logger } from '../../runtime/logger.ts';
import { evicted, evictionBlocked, type EvictedPod } from './events.ts';
import type { EvictionDecision, PodEviction } from './facts.ts';
import type { DeferralReason, Result } from './memory.ts';
import type { EvictionMetrics, Failure } from './metrics.ts';
import { isFresh } from './plan.ts';
import { recheckPod } from './recheck.ts';

interface ExecutorDeps extends ActGateDeps {
  readonly evictions: PodEvictions;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly metrics: EvictionMetrics;
  readonly log: Logger;
  /** The decision as the caches are by now; undefined = the node does not ask for it any more. */
  readonly decideAgain: (eviction: PodEviction) => EvictionDecision | undefined;
  /** Whether the pod's last try was deferred for the same reason. */
  readonly wasDeferred: (uid: string, reason: DeferralReason) => boolean;
  readonly onResult: (uid: string, result: Result) => void;
}

/** Each of them stops a workload: there is no hurry, and podgc must not notice. */
const lanes = 4;
/** So many failures in a row are no accident of single pods: the rest would only fail as well. */
const hopelessInARow = 8;
/** A broken server must not fill the log. */
const maxFailureLines = 10;
/** When the API server asks for patience without saying how much. */
const defaultPatienceMs = 1_000;

/** The evictions of one pass: each re-checked live, done, told and counted. */
export class EvictionExecutor {
  readonly #deps: ExecutorDeps;
  readonly #gate: ActGate;
  /** Not the pass's own: what has been sent is waited for, or an eviction would go untold. Each request has its deadline. */
  readonly #signal = new AbortController().signal;
  #firstFailure: { readonly name: string; readonly err: unknown } | undefined;
  #failed = 0;
  #failedInARow = 0;
  #patienceMs = 0;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
    this.#gate = new ActGate(deps);
  }

  /** Why the pass came to an early end. */
  get halted(): string | undefined {
    return this.#gate.halted;
  }

  /** How long the API server wants to be left alone, milliseconds. */
  get patienceMs(): number {
    return this.#patienceMs;
  }

  /** A few at a time, in order; throws when one failed, or policies could not be read: the others were done all the same. */
  async run(evictions: readonly PodEviction[]): Promise<void> {
    const queue = evictions.values();
    const lane = async (): Promise<void> => {
      for (const eviction of queue) {
        if (this.#gate.halted !== undefined || !this.#deps.mayGoOn()) return;
        await this.#perform(eviction);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    if (this.#firstFailure === undefined) {
      this.#gate.throwIfUnread();
      return;
    }
    const { name, err } = this.#firstFailure;
    throw new Error(`evicting pods: ${this.#failed} failed, the first ${name}`, { cause: err });
  }

  async #perform(eviction: PodEviction): Promise<void> {
    try {
      const isAllowed = await this.#mayEvict(eviction);
      const looked = await this.#look(eviction);
      if (looked === 'stop') return;
      if (typeof looked === 'string') this.#keep(eviction, looked);
      else if (!isAllowed) this.#forbid(looked.eviction, looked.pod);
      else await this.#act(looked.eviction, looked.pod);
    } catch (err) {
      this.#fail(eviction, err);
    }
  }

  /** A DELETE needs no right to evict, but it must not replace one that was withheld (ADR 0033). */
  async #mayEvict({ request, rule }: PodEviction): Promise<boolean> {
    if (rule.respectPodDisruptionBudgets) return true;
    return await this.#deps.evictions.mayEvict(request.pod.namespace, this.#signal);
  }

  /** A pod that was read long before the policies had been confirmed is read again: its keep label may have come since. */
  async #look(eviction: PodEviction): Promise<Looked | EvictionKeepReason | 'stop'> {
    const looked = await lookLive(() => this.#lookOnce(eviction), {
      clock: this.#deps.clock,
      isYes: (answer) => typeof answer !== 'string',
    });
    if (looked !== 'slow') return looked;
    throw new Error(`checking whether the pod may be evicted takes longer than ${liveMs / 1000} s`);
  }

  /** What waits comes first, so that everything else is asked right before the act. */
  async #lookOnce(eviction: PodEviction): Promise<Looked | EvictionKeepReason | 'stop'> {
    if (this.#gate.mustStop(await this.#gate.confirmed(this.#signal))) return 'stop';
    const pod = await this.#deps.evictions.readPodLive(eviction.request.pod, this.#signal);
    const confirmation = await this.#gate.confirmed(this.#signal);
    if (this.#gate.mustStop(confirmation)) return 'stop';
    if (pod === undefined) return 'PodGone';
    const reason = recheckPod(eviction, pod);
    if (reason !== undefined) return reason;
    const again = this.#deps.decideAgain(eviction);
    if (again === undefined) return 'RequestStale';
    if (again.verdict === 'Keep') return again.reason;
    // The right was checked for the rule of the plan.
    if (again.rule.respectPodDisruptionBudgets !== eviction.rule.respectPodDisruptionBudgets)
      return 'PolicyChanged';
    return this.#isFreshByServer(again, confirmation) ? { eviction: again, pod } : 'RequestStale';
  }

  /** By our own clock it was judged by the plan: of the two either may be wrong. */
  #isFreshByServer({ request }: PodEviction, confirmation: Confirmation | undefined): boolean {
    const nowMs = this.#deps.clock.now().getTime();
    return isFresh(request.observedAtMs, new Date(nowMs - (confirmation?.clockSkewMs ?? 0)));
  }

  async #act(eviction: PodEviction, pod: LivePod): Promise<void> {
    const { respectPodDisruptionBudgets, gracePeriodSeconds } = eviction.rule;
    const { evictions } = this.#deps;
    const outcome = respectPodDisruptionBudgets
      ? await evictions.evictPod(pod, gracePeriodSeconds, this.#signal)
      : await evictions.deletePod(pod, gracePeriodSeconds, this.#signal);
    this.#take(eviction, pod, outcome);
  }

  #take(eviction: PodEviction, pod: LivePod, outcome: EvictionOutcome): void {
    switch (outcome.kind) {
      case 'evicted':
        this.#tell(eviction, pod);
        break;
      case 'gone':
        this.#keep(eviction, 'PodGone');
        break;
      case 'changed':
        this.#keep(eviction, 'PodMoved');
        break;
      case 'terminating':
        this.#keep(eviction, 'Terminating');
        break;
      case 'blocked':
        this.#block(eviction, pod, outcome);
        break;
      case 'misconfigured':
        this.#count(eviction, outcome.kind);
        this.#block(eviction, pod, { message: outcome.message });
        break;
      case 'forbidden':
        this.#forbid(eviction, pod, outcome.message);
        break;
      case 'throttled':
        this.#pause(eviction, outcome.retryAfterMs);
    }
  }

  /** Nothing was looked at: the next pass tries again. */
  #pause(eviction: PodEviction, retryAfterMs = defaultPatienceMs): void {
    this.#count(eviction, 'throttled');
    this.#gate.halt('the API server asks for patience');
    this.#patienceMs = Math.max(this.#patienceMs, retryAfterMs);
  }

  #tell(eviction: PodEviction, pod: LivePod): void {
    const { metrics, recorder, log } = this.#deps;
    this.#failedInARow = 0;
    const { gracePeriodSeconds: requestedGraceSeconds } = eviction.rule;
    this.#result(eviction, { kind: 'evicted', requestedGraceSeconds });
    metrics.evictions.inc({ eviction_signal: eviction.request.signal });
    for (const event of evicted(eviction, pod)) recorder.record(event);
    const { controller } = pod;
    const owner = controller && `${controller.kind}/${controller.name}`;
    log.info({ ...fieldsOf(eviction), owner }, 'evicted pod');
  }

  #keep(eviction: PodEviction, kept: EvictionKeepReason): void {
    const { metrics, log } = this.#deps;
    this.#result(eviction, { kind: kept === 'CriticalPod' ? 'critical' : 'kept' });
    metrics.skipped.inc({ reason: kept });
    log.debug({ ...fieldsOf(eviction), kept }, 'keeping pod after live check');
  }

  /** `answer` is the API server's; without one the eviction was not even tried. */
  #forbid(eviction: PodEviction, pod: EvictedPod, answer?: string): void {
    this.#count(eviction, 'forbidden');
    this.#block(eviction, pod, { message: forbidden(eviction, answer), reason: 'EvictionForbidden' });
  }

  /** Reported when it begins; from then on the gauge of kept pods counts it. */
  #block(
    eviction: PodEviction,
    pod: EvictedPod,
    { message, reason = 'BudgetBlocked', retryAfterMs }: Block,
  ): void {
    const { recorder, log, wasDeferred } = this.#deps;
    const fields = { ...fieldsOf(eviction), kept: reason, answer: message };
    if (wasDeferred(pod.uid, reason)) {
      log.debug(fields, 'eviction is still blocked');
    } else {
      recorder.record(evictionBlocked(pod, message));
      log.warn(fields, 'eviction is blocked');
    }
    this.#failedInARow = 0;
    this.#result(eviction, { kind: 'deferred', reason, retryAfterMs });
  }

  #fail(eviction: PodEviction, err: unknown): void {
    const { log } = this.#deps;
    const { namespace, name } = eviction.request.pod;
    this.#firstFailure ??= { name: `${namespace}/${name}`, err };
    this.#failed += 1;
    this.#failedInARow += 1;
    this.#count(eviction, 'error');
    this.#result(eviction, { kind: 'deferred', reason: 'EvictionFailed', retryAfterMs: undefined });
    const fields = { ...fieldsOf(eviction), err: errorLine(err) };
    if (this.#failed <= maxFailureLines) log.warn(fields, 'evicting pod failed');
    else log.debug(fields, 'evicting pod failed');
    if (this.#failedInARow >= hopelessInARow) this.#gate.halt('too many failures in a row');
  }

  #count({ request }: PodEviction, reason: Failure): void {
    this.#deps.metrics.errors.inc({ eviction_signal: request.signal, reason });
  }

  #result({ request }: PodEviction, result: Result): void {
    this.#deps.onResult(request.pod.uid, result);
  }
}

interface Block {
  readonly message: string;
  readonly reason?: DeferralReason;
  readonly retryAfterMs?: number | undefined;
}

interface Looked {
  readonly eviction: PodEviction;
  readonly pod: LivePod;
}

/** The API server names the user; the right that is missing is ours to name. */
function forbidden({ rule }: PodEviction, answer: string | undefined): string {
  const isDelete = answer !== undefined && !rule.respectPodDisruptionBudgets;
  const right = isDelete ? 'delete pods' : 'create pods/eviction';
  const message = `The controller is not allowed to evict it; the right needed is: ${right}.`;
  return answer === undefined ? message : `${message} ${answer}`;
}

/** What a log line says of an eviction: enough to know the pod by when it is gone. */
const fieldsOf = ({ node, request, policy, rule }: PodEviction): object => ({
  pod: { namespace: request.pod.namespace, name: request.pod.name },
  uid: request.pod.uid,
  node,
  reason: request.signal,
  subject: request.subject,
  usedBytes: request.observedBytes,
  limitBytes: request.limitBytes,
  policy: policy.name,
  ...(rule.respectPodDisruptionBudgets ? {} : { budgets: 'ignored' }),
  ...(rule.gracePeriodSeconds !== undefined && { graceSeconds: rule.gracePeriodSeconds }),
});
