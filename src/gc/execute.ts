import type { Reason } from '../api/reasons.ts';
import type { Clock } from '../runtime/scheduling/clock.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import type { Outcome } from './decision.ts';
import { liveMs, type LiveQuery } from './live.ts';

/** Why a decision is not executed. `keep`: keep this object. `gone`: it no longer exists. `stop`: start nothing more in this pass. */
export type Objection = { readonly kind: 'keep'; readonly reason: Reason } | { readonly kind: 'gone' } | Stop;

export interface Stop {
  readonly kind: 'stop';
  readonly why: string;
  readonly unknown?: true;
  /** The process stops: the pass has not failed and has missed nothing. */
  readonly isShutdown?: true;
  readonly error?: Error;
}

/** One condition under which an object may be removed. */
export interface Check<D> {
  /** The live query whose response the check needs; undefined = it needs only the memory of this process. */
  readonly live?: Pick<LiveQuery<D, unknown>, 'refresh' | 'isFresh'>;
  /** Called after the live response, and again right before the action. Synchronous, so that nothing can change in between. */
  objection(decision: D): Objection | undefined;
  /** The objection after three responses in a row that became stale before the action; default: the pass stops. */
  readonly whenSlow?: Objection;
}

/** The result of one step. `throttled`: the server refused for now; nothing has changed. */
export type StepResult =
  | { readonly kind: 'done'; readonly freedBytes?: number }
  | { readonly kind: 'throttled'; readonly forMs: number; readonly error: unknown }
  | Objection;

export interface Execution<D> {
  /** Run before each step, in this order; the first objection decides. */
  readonly checks: readonly Check<D>[];
  /** The requests that remove an object, in order. They do not get the pass's signal: a sent request is awaited until its own deadline. */
  readonly steps: readonly ((decision: D) => Promise<StepResult>)[];
  readonly clock: Clock;
  readonly concurrency: number;
  /** Whether a failure is one of the connection or of the credentials, not of its object: the rest would fail as well. Default: none is. */
  readonly isHopeless?: (error: unknown) => boolean;
  /** Such failures in a row after which the pass stops; default 1. */
  readonly giveUpAfter?: number;
  /** Whether the target is met without this decision. Then its worker ends; the others finish theirs, then check their own next one. */
  readonly enough?: (next: D) => boolean;
  /** Most decisions started per second; 0 = no limit. */
  readonly maxPerSecond?: number;
  /** Called after each decision, so that a long pass is logged and counted while it runs. */
  readonly onOutcome: (outcome: Outcome<D>) => void;
}

export interface Executed<D> {
  readonly outcomes: readonly Outcome<D>[];
  readonly stopped: Stop | undefined;
}

/** A live query or a step failed, or was throttled too often. The decision counts as failed; the pass continues with the next one. */
interface Failure {
  readonly kind: 'failure';
  readonly error: unknown;
}

const failure = (error: unknown): Failure => ({ kind: 'failure', error });

/** Stale responses in a row before `whenSlow` applies. */
const maxAttempts = 3;
/** An object that is throttled this often counts as failed; otherwise it would delay all others. */
const maxThrottles = 5;
/** Longest pause after a throttled request, whatever the server requests. */
const maxPauseMs = 30_000;

/**
 * Executes decisions in order. A step runs only if every check passes with responses that are fresh at that moment; a response that became
 * stale through a slow check or a pause of this process is queried again. A stop ends the pass; sent requests are awaited. Never rejects.
 */
export async function execute<D>(
  decisions: Iterable<D>,
  execution: Execution<D>,
  signal: AbortSignal,
): Promise<Executed<D>> {
  return await new Pass(execution, signal).run(decisions);
}

class Pass<D> {
  readonly #execution: Execution<D>;
  readonly #signal: AbortSignal;
  readonly #outcomes: Outcome<D>[] = [];
  #stopped: Stop | undefined;
  #hopelessInARow = 0;
  /** Monotonic milliseconds before which nothing is started. */
  #pausedUntilMs = 0;
  #nextStartMs = 0;

  constructor(execution: Execution<D>, signal: AbortSignal) {
    this.#execution = execution;
    this.#signal = signal;
  }

  async run(decisions: Iterable<D>): Promise<Executed<D>> {
    const queue = decisions[Symbol.iterator]();
    const worker = async (): Promise<void> => {
      while (!this.#mustStop()) {
        const next = queue.next();
        if (next.done === true || this.#execution.enough?.(next.value) === true) return;
        await this.#execute(next.value);
      }
    };
    await Promise.all(Array.from({ length: this.#execution.concurrency }, worker));
    return { outcomes: this.#outcomes, stopped: this.#stopped };
  }

  #mustStop(): boolean {
    if (this.#signal.aborted) this.#stopped ??= { kind: 'stop', why: 'shutting down', isShutdown: true };
    return this.#stopped !== undefined;
  }

  async #execute(decision: D): Promise<void> {
    await this.#limitRate();
    let freedBytes = 0;
    for (const step of this.#execution.steps) {
      const result = await this.#run(step, decision);
      if (result.kind !== 'done') {
        this.#notDone(decision, result);
        return;
      }
      freedBytes += result.freedBytes ?? 0;
    }
    this.#hopelessInARow = 0;
    this.#report({ kind: 'done', decision, freedBytes });
  }

  async #limitRate(): Promise<void> {
    const { clock, maxPerSecond = 0 } = this.#execution;
    if (maxPerSecond <= 0) return;
    const now = clock.monotonicMs();
    const startMs = Math.max(now, this.#nextStartMs);
    this.#nextStartMs = startMs + 1000 / maxPerSecond;
    if (startMs > now) await clock.sleep(startMs - now, this.#signal);
  }

  async #run(
    step: Execution<D>['steps'][number],
    decision: D,
  ): Promise<Exclude<StepResult, { kind: 'throttled' }> | Failure> {
    for (let tries = 1; ; tries++) {
      await this.#pause();
      const objection = await this.#verifyLive(decision);
      if (objection !== undefined) return objection;
      // No `await` between this check and the call of `step`.
      const lateObjection = this.#objectionNow(decision);
      if (lateObjection !== undefined) return lateObjection;
      const result = await step(decision).catch(failure);
      // The server works: it has rejected this one object, or does not have it.
      if (result.kind === 'keep' || result.kind === 'gone') this.#hopelessInARow = 0;
      if (result.kind !== 'throttled') return result;
      if (tries === maxThrottles) return { kind: 'failure', error: result.error };
      const pauseMs = Math.min(Math.max(result.forMs, 0), maxPauseMs);
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#execution.clock.monotonicMs() + pauseMs);
    }
  }

  async #pause(): Promise<void> {
    const { clock } = this.#execution;
    while (!this.#signal.aborted && this.#pausedUntilMs > clock.monotonicMs())
      await clock.sleep(this.#pausedUntilMs - clock.monotonicMs(), this.#signal);
  }

  /**
   * Queries what the checks need, in their order, until all responses are fresh, at most `maxAttempts` times. If one is stale even then,
   * `#objectionNow` applies `whenSlow` of its check.
   */
  async #verifyLive(decision: D): Promise<Objection | Failure | undefined> {
    const { checks } = this.#execution;
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      for (const check of checks) {
        const failed = await check.live?.refresh(decision, this.#signal).then(() => undefined, failure);
        if (this.#mustStop()) return this.#stopped;
        const objection = failed ?? check.objection(decision);
        if (objection !== undefined) return objection;
      }
      if (checks.every((check) => check.live?.isFresh(decision) !== false)) return undefined;
    }
    return undefined;
  }

  #objectionNow(decision: D): Objection | undefined {
    if (this.#mustStop()) return this.#stopped;
    for (const check of this.#execution.checks) {
      if (check.live?.isFresh(decision) === false) return check.whenSlow ?? tooSlow();
      const objection = check.objection(decision);
      if (objection !== undefined) return objection;
    }
    return undefined;
  }

  #notDone(decision: D, result: Objection | Failure): void {
    switch (result.kind) {
      case 'stop':
        this.#stopped ??= result;
        return;
      case 'keep':
        this.#report({ kind: 'kept', decision, reason: result.reason });
        return;
      case 'gone':
        this.#report({ kind: 'gone', decision });
        return;
      case 'failure':
        this.#fail(decision, result.error);
    }
  }

  #fail(decision: D, error: unknown): void {
    const { giveUpAfter = 1, isHopeless } = this.#execution;
    this.#report({ kind: 'failed', decision, error });
    this.#hopelessInARow = isHopeless?.(error) === true ? this.#hopelessInARow + 1 : 0;
    if (this.#hopelessInARow >= giveUpAfter)
      this.#stopped ??= { kind: 'stop', why: 'the others would fail as well' };
  }

  #report(outcome: Outcome<D>): void {
    this.#outcomes.push(outcome);
    this.#execution.onOutcome(outcome);
  }
}

/** Logs why a pass ended early: a warning if facts were not available. The caller throws the error of a failed pass, and its loop logs it. */
export function logStop(log: Pick<Logger, 'info' | 'warn'>, stopped: Stop | undefined): void {
  if (stopped === undefined || stopped.error !== undefined) return;
  log[stopped.unknown === true ? 'warn' : 'info']({ why: stopped.why }, 'pass ended early');
}

function tooSlow(): Stop {
  const why = `re-checking live before a removal takes longer than ${liveMs / 1000} s: the object may have come into use meanwhile`;
  return { kind: 'stop', why, error: new Error(why) };
}
