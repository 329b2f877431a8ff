import { isFresh } from './plan.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { EvictionOutcome, PodEvictions } from '../../kube/eviction.ts';
import type { LivePod } from '../../kube/live-pod.ts';
import type { Recorder } from '../../kube/recorder.ts';
import type { Clock } from '../../runtime/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { evicted, evictionBlocked } from './events.ts';
import type { EvictionDecision, PodEviction } from './facts.ts';
import type { Result } from './memory.ts';
import type { EvictionMetrics, Failure } from './metrics.ts';
import { recheckPod } from './recheck.ts';

/** What the API server says of the policies now, and how far our clock is from its own. */
export interface Confirmation {
  /** The policies the plan was made from are those the server has. */
  readonly same: boolean;
  readonly clockSkewMs: number;
}

export interface ExecutorDeps {
  readonly evictions: PodEvictions;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly metrics: EvictionMetrics;
  readonly log: Logger;
  /** False: nothing new may begin (lease, shutdown, policies, caches). Asked after every wait. */
  readonly mayGoOn: () => boolean;
  /** Reads the policies live. */
  readonly confirm: (signal: AbortSignal) => Promise<Confirmation>;
  /** The decision as the caches are by now; undefined = the node does not ask for it any more. */
  readonly decideAgain: (eviction: PodEviction) => EvictionDecision | undefined;
  /** Whether it was told already that a budget blocks the pod. */
  readonly wasBlocked: (uid: string) => boolean;
  readonly onResult: (uid: string, result: Result) => void;
}

/** How old a live answer about the policies may be. */
const liveMs = 5_000;
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
  /** Not the pass's own: what has been sent is waited for, or an eviction would go untold. Each request has its deadline. */
  readonly #signal = new AbortController().signal;
  #confirmation: { readonly at: number; readonly answer: Promise<Confirmation | undefined> } | undefined;
  #firstFailure: { readonly name: string; readonly err: unknown } | undefined;
  #failed = 0;
  #failedInARow = 0;
  #halted: string | undefined;
  #patienceMs = 0;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
  }

  /** Why the pass came to an early end. */
  get halted(): string | undefined {
    return this.#halted;
  }

  /** How long the API server wants to be left alone, milliseconds. */
  get patienceMs(): number {
    return this.#patienceMs;
  }

  /** A few at a time, in order; throws when one failed: the others were done all the same. */
  async run(evictions: readonly PodEviction[]): Promise<void> {
    const queue = evictions.values();
    const lane = async (): Promise<void> => {
      for (const eviction of queue) {
        if (this.#halted !== undefined || !this.#deps.mayGoOn()) return;
        await this.#perform(eviction);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    if (this.#firstFailure === undefined) return;
    const { name, err } = this.#firstFailure;
    throw new Error(`evicting pods: ${this.#failed} failed, the first ${name}`, { cause: err });
  }

  async #perform(eviction: PodEviction): Promise<void> {
    try {
      const looked = await this.#look(eviction);
      if (looked === 'stop') return;
      if (typeof looked === 'string') this.#keep(eviction, looked);
      else await this.#act(looked.eviction, looked.pod);
    } catch (err) {
      this.#fail(eviction, 'error', err);
    }
  }

  /** What waits comes first, so that everything else is asked right before the act. */
  async #look(eviction: PodEviction): Promise<Looked | EvictionKeepReason | 'stop'> {
    if (this.#mustStop(await this.#confirmed())) return 'stop';
    const pod = await this.#deps.evictions.readPodLive(eviction.request.pod, this.#signal);
    const confirmation = await this.#confirmed();
    if (this.#mustStop(confirmation)) return 'stop';
    if (pod === undefined) return 'PodGone';
    const reason = recheckPod(eviction, pod);
    if (reason !== undefined) return reason;
    const again = this.#deps.decideAgain(eviction);
    if (again === undefined) return 'RequestStale';
    if (again.verdict === 'Keep') return again.reason;
    return this.#isFreshByServer(again, confirmation) ? { eviction: again, pod } : 'RequestStale';
  }

  #mustStop(confirmation: Confirmation | undefined): boolean {
    if (confirmation === undefined) this.#halted ??= 'policies cannot be read';
    else if (!confirmation.same) this.#halted ??= 'policies have changed';
    return this.#halted !== undefined || !this.#deps.mayGoOn();
  }

  /** By our own clock it was judged by the plan: of the two either may be wrong. */
  #isFreshByServer({ request }: PodEviction, confirmation: Confirmation | undefined): boolean {
    const nowMs = this.#deps.clock.now().getTime();
    return isFresh(request.observedAtMs, new Date(nowMs - (confirmation?.clockSkewMs ?? 0)));
  }

  async #confirmed(): Promise<Confirmation | undefined> {
    const at = this.#deps.clock.monotonicMs();
    if (this.#confirmation === undefined || at - this.#confirmation.at >= liveMs)
      this.#confirmation = { at, answer: this.#readPolicies() };
    return this.#confirmation.answer;
  }

  async #readPolicies(): Promise<Confirmation | undefined> {
    try {
      return await this.#deps.confirm(this.#signal);
    } catch (err) {
      this.#deps.log.warn({ err }, 'reading policies failed');
      return undefined;
    }
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
        this.#block(eviction, pod, { ...outcome, retryAfterMs: undefined });
        break;
      case 'forbidden':
        this.#fail(eviction, outcome.kind, new Error(forbidden(eviction, outcome.message)));
        break;
      case 'throttled':
        this.#pause(eviction, outcome.retryAfterMs);
    }
  }

  /** Nothing was looked at: the next pass tries again. */
  #pause(eviction: PodEviction, retryAfterMs = defaultPatienceMs): void {
    this.#count(eviction, 'throttled');
    this.#halted ??= 'the API server asks for patience';
    this.#patienceMs = Math.max(this.#patienceMs, retryAfterMs);
  }

  #tell(eviction: PodEviction, pod: LivePod): void {
    const { metrics, recorder, log } = this.#deps;
    this.#failedInARow = 0;
    this.#result(eviction, { kind: 'evicted' });
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

  /** Told when it begins; then the gauge counts it. */
  #block(
    eviction: PodEviction,
    pod: LivePod,
    { message, retryAfterMs }: { readonly message: string; readonly retryAfterMs: number | undefined },
  ): void {
    const { recorder, log, wasBlocked } = this.#deps;
    const fields = { ...fieldsOf(eviction), kept: 'BudgetBlocked', answer: message };
    if (wasBlocked(pod.uid)) {
      log.debug(fields, 'eviction is still blocked');
    } else {
      recorder.record(evictionBlocked(pod, message));
      log.warn(fields, 'eviction is blocked');
    }
    this.#failedInARow = 0;
    this.#result(eviction, { kind: 'deferred', reason: 'BudgetBlocked', retryAfterMs });
  }

  #fail(eviction: PodEviction, failure: Failure, err: unknown): void {
    const { log } = this.#deps;
    const { namespace, name } = eviction.request.pod;
    this.#firstFailure ??= { name: `${namespace}/${name}`, err };
    this.#failed += 1;
    this.#failedInARow += 1;
    this.#count(eviction, failure);
    this.#result(eviction, { kind: 'deferred', reason: 'EvictionFailed', retryAfterMs: undefined });
    const fields = { ...fieldsOf(eviction), err: errorLine(err) };
    if (this.#failed <= maxFailureLines) log.warn(fields, 'evicting pod failed');
    else log.debug(fields, 'evicting pod failed');
    if (this.#failedInARow >= hopelessInARow) this.#halted ??= 'too many failures in a row';
  }

  #count({ request }: PodEviction, reason: Failure): void {
    this.#deps.metrics.errors.inc({ eviction_signal: request.signal, reason });
  }

  #result({ request }: PodEviction, result: Result): void {
    this.#deps.onResult(request.pod.uid, result);
  }
}

interface Looked {
  readonly eviction: PodEviction;
  readonly pod: LivePod;
}

/** The API server names the user; what is to be granted is ours to say. */
function forbidden({ rule }: PodEviction, message: string): string {
  const right = rule.respectPodDisruptionBudgets ? 'create pods/eviction' : 'delete pods';
  return `forbidden (the right needed is: ${right}): ${message}`;
}

/** What a log line says of an eviction: enough to know the pod by when it is gone. */
export const fieldsOf = ({ node, request, policy, rule }: PodEviction): object => ({
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
