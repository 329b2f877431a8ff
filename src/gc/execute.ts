import type { Reason } from '../api/reasons.ts';
import type { Clock } from '../runtime/scheduling/clock.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import type { Outcome } from './decision.ts';
import { liveMs, type Live } from './live.ts';

/**
 * Why a decision is not carried out. `keep`: this object stays. `gone`: it is not there any more. `stop`: nothing more is started in this pass;
 * `unknown` where something could not be found out, `error` where that is a failure of the pass.
 */
export type Objection = { readonly kind: 'keep'; readonly reason: Reason } | { readonly kind: 'gone' } | Stop;

export interface Stop {
  readonly kind: 'stop';
  readonly why: string;
  readonly unknown?: true;
  readonly error?: Error;
}

/** One condition under which an object may be removed. */
export interface Check<D> {
  readonly name: string;
  /** What must be known live; undefined = the check judges by what this process holds. */
  readonly live?: Pick<Live<D, unknown>, 'refresh' | 'isFresh'>;
  /** Judges when the answer is known, and once more right before the action. Synchronous, so that nothing happens in between. */
  objection(decision: D): Objection | undefined;
  /** What follows when the answer was too old three times in a row; default: the pass stops. */
  readonly whenSlow?: Objection;
}

/** What a step came to. `throttled`: the server wants to be left alone; nothing happened. */
export type StepResult =
  | { readonly kind: 'done'; readonly freedBytes?: number }
  | { readonly kind: 'throttled'; readonly forMs: number; readonly error: unknown }
  | Objection;

export interface Execution<D> {
  /** Asked before each step, in this order; the first that objects decides. */
  readonly checks: readonly Check<D>[];
  /** The requests that remove an object, in order. They get no signal of the pass: what was sent is awaited, each request has its own deadline. */
  readonly steps: readonly ((decision: D) => Promise<StepResult>)[];
  readonly clock: Clock;
  /** Decisions in progress at a time. */
  readonly concurrency: number;
  /** Failures in a row after which the pass stops: the rest would only fail as well. */
  readonly giveUpAfter: number;
  /** Whether after this failure the rest would fail as well. */
  readonly isHopeless?: (error: unknown) => boolean;
  /** Whether the pass has reached its goal before this decision: then it ends. */
  readonly enough?: (next: D) => boolean;
  /** Decisions started a second at most; 0 = no limit. */
  readonly maxPerSecond?: number;
  /** Called as each decision ends: a long pass is logged and counted while it runs. */
  readonly onOutcome: (outcome: Outcome<D>) => void;
}

export interface Executed<D> {
  readonly outcomes: readonly Outcome<D>[];
  /** Why the pass ended before its last decision. */
  readonly stopped: Stop | undefined;
}

/** A slow server gets this many chances before the objection `whenSlow` counts. */
const maxAttempts = 3;
/** An object that is throttled this often counts as failed, or it would hold up all others. */
const maxThrottles = 5;
/** Longest pause a server may ask for; a longer one is asked for again. */
const maxPauseMs = 30_000;

/**
 * Carries out decisions in order. No step is taken unless every check agrees by answers that are fresh at that moment; an answer that a slow
 * check or a pause of this process has outdated is asked for again. A stop ends the pass; what was sent is awaited. Never rejects.
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
  #failedInARow = 0;
  /** Monotonic milliseconds before which nothing is started. */
  #pausedUntilMs = 0;
  #nextStartMs = 0;

  constructor(execution: Execution<D>, signal: AbortSignal) {
    this.#execution = execution;
    this.#signal = signal;
  }

  async run(decisions: Iterable<D>): Promise<Executed<D>> {
    const queue = decisions[Symbol.iterator]();
    const lane = async (): Promise<void> => {
      while (!this.#mustStop()) {
        const next = queue.next();
        if (next.done === true || this.#execution.enough?.(next.value) === true) return;
        await this.#carryOut(next.value);
      }
    };
    await Promise.all(Array.from({ length: this.#execution.concurrency }, lane));
    return { outcomes: this.#outcomes, stopped: this.#stopped };
  }

  #mustStop(): boolean {
    if (this.#signal.aborted) this.#stopped ??= { kind: 'stop', why: 'shutting down' };
    return this.#stopped !== undefined;
  }

  async #carryOut(decision: D): Promise<void> {
    await this.#startSlot();
    let freedBytes = 0;
    for (const step of this.#execution.steps) {
      const result = await this.#take(step, decision);
      if (result.kind !== 'done') {
        this.#end(decision, result);
        return;
      }
      freedBytes += result.freedBytes ?? 0;
    }
    this.#failedInARow = 0;
    this.#report({ kind: 'done', decision, freedBytes });
  }

  /** Keeps to `maxPerSecond`. */
  async #startSlot(): Promise<void> {
    const { clock, maxPerSecond = 0 } = this.#execution;
    if (maxPerSecond <= 0) return;
    const now = clock.monotonicMs();
    const slotMs = Math.max(now, this.#nextStartMs);
    this.#nextStartMs = slotMs + 1000 / maxPerSecond;
    if (slotMs > now) await clock.sleep(slotMs - now, this.#signal);
  }

  async #take(
    step: Execution<D>['steps'][number],
    decision: D,
  ): Promise<Exclude<StepResult, { kind: 'throttled' }> | Failure> {
    for (let tries = 1; ; tries++) {
      await this.#pause();
      const objection = await this.#verify(decision);
      if (objection !== undefined) return objection;
      // From here to the call of `step` nothing is awaited.
      const late = this.#objectionNow(decision);
      if (late !== undefined) return late;
      const result = await step(decision).catch(failure);
      // The server has decided about this object: it works.
      if (result.kind === 'keep') this.#failedInARow = 0;
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

  /** Asks what must be known live, in the order of the checks, until all of it is fresh. */
  async #verify(decision: D): Promise<Objection | Failure | undefined> {
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

  #end(decision: D, result: Objection | Failure): void {
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
    const { giveUpAfter, isHopeless } = this.#execution;
    this.#failedInARow += 1;
    this.#report({ kind: 'failed', decision, error });
    if (isHopeless?.(error) === true)
      this.#stopped ??= { kind: 'stop', why: 'the others would fail as well' };
    if (this.#failedInARow >= giveUpAfter)
      this.#stopped ??= { kind: 'stop', why: `${this.#failedInARow} failures in a row` };
  }

  #report(outcome: Outcome<D>): void {
    this.#outcomes.push(outcome);
    this.#execution.onOutcome(outcome);
  }
}

interface Failure {
  readonly kind: 'failure';
  readonly error: unknown;
}

/** Logs why a pass ended early: as a warning where something is wrong. */
export function logStop(log: Pick<Logger, 'info' | 'warn'>, stopped: Stop | undefined): void {
  if (stopped === undefined) return;
  const isTrouble = stopped.unknown === true || stopped.error !== undefined;
  log[isTrouble ? 'warn' : 'info']({ why: stopped.why }, 'pass ended early');
}

const failure = (error: unknown): Failure => ({ kind: 'failure', error });

function tooSlow(): Stop {
  const why = `re-checking live before a removal takes longer than ${liveMs / 1000} s: the object may have come into use meanwhile`;
  return { kind: 'stop', why, error: new Error(why) };
}
