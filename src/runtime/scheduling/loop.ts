import { pauseAfter } from './backoff.ts';
import type { Clock } from './clock.ts';
import { errorLine, isAbort, withoutNumbers } from '../errors.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Logger } from '../logging/logger.ts';
import { Wake } from './wake.ts';

/** `waiting`: the pass could decide nothing, because a cache is not current; it neither succeeded nor failed. */
export const passResults = ['success', 'waiting', 'error'] as const;

export interface PassResult {
  readonly result: (typeof passResults)[number];
  readonly seconds: number;
}

/** A pass; it resolves with `waiting` when it could decide nothing. */
export type Task = (signal: AbortSignal) => Promise<unknown>;

export type Waiting = 'waiting' | undefined;

export interface LoopOptions {
  readonly name: string;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Delay of the first pass, also for wakes: many agents that start together must not act together. Default 0. */
  readonly firstDelayMs?: number;
  /** Logs a repeated failure at debug level, and the recovery at info: for a loop that waits for another component. */
  readonly quietRepeats?: boolean;
  /** Fraction of the interval that is added at random, so that many agents do not act together. Default 0. */
  readonly jitter?: number;
  /** true = skip this pass, which then neither succeeds nor fails. */
  readonly isSkipped?: () => boolean;
  /** Called after each pass that a shutdown did not interrupt. */
  readonly onResult?: (result: PassResult) => void;
  readonly wake?: Wake;
  readonly heartbeat?: Heartbeat;
  readonly random?: () => number;
}

/** Shortest pause after a pass, also for wakes, so that many events do not cause many passes. */
const minPauseMs = 1_000;

/**
 * Runs `task` at once and then after each pause of `intervalMs`, until `signal` aborts. Passes never overlap. A wake shortens the pause; the
 * shortest pause doubles with every failure in a row.
 */
export async function loop(task: Task, options: LoopOptions, signal: AbortSignal): Promise<void> {
  const { wake = new Wake(), heartbeat, clock, firstDelayMs = 0 } = options;
  if (firstDelayMs > 0) await clock.sleep(firstDelayMs, signal);
  let streak = noFailures;
  heartbeat?.beat();
  while (!signal.aborted) {
    wake.reset();
    streak = await pass(task, { options, streak }, signal);
    heartbeat?.beat();
    await pause(wake, { options, failures: streak.failures }, signal);
  }
  heartbeat?.stop();
}

/** Failed passes in a row, and the cause of the last failure. */
interface Streak {
  readonly failures: number;
  readonly cause: string;
}

const noFailures: Streak = { failures: 0, cause: '' };

async function pass(
  task: Task,
  { options, streak }: { readonly options: LoopOptions; readonly streak: Streak },
  signal: AbortSignal,
): Promise<Streak> {
  const { clock, onResult } = options;
  const startMs = clock.monotonicMs();
  const seconds = () => (clock.monotonicMs() - startMs) / 1_000;
  try {
    if (options.isSkipped?.() === true) return streak;
    const waiting = await task(signal);
    if (waiting === 'waiting') {
      onResult?.({ result: 'waiting', seconds: seconds() });
      return streak;
    }
    logRecovery(options, streak);
    onResult?.({ result: 'success', seconds: seconds() });
    return noFailures;
  } catch (err) {
    if (isShutdown(err, signal)) return noFailures;
    const cause = withoutNumbers(errorLine(err));
    logFailure(options, { err, isRepeat: streak.failures > 0 && cause === streak.cause });
    onResult?.({ result: 'error', seconds: seconds() });
    return { failures: streak.failures + 1, cause };
  }
}

function logFailure(
  { name, log, quietRepeats = false }: LoopOptions,
  { err, isRepeat }: { err: unknown; isRepeat: boolean },
): void {
  if (quietRepeats && isRepeat) log.debug({ err, loop: name }, 'pass failed again');
  else log.error({ err, loop: name }, 'pass failed');
}

function logRecovery({ name, log, quietRepeats = false }: LoopOptions, { failures }: Streak): void {
  if (quietRepeats && failures > 0) log.info({ loop: name, failures }, 'passes succeed again');
}

/** An abort of any other signal is a failure. */
const isShutdown = (err: unknown, signal: AbortSignal): boolean =>
  signal.aborted && (isAbort(err) || err === signal.reason);

async function pause(
  wake: Wake,
  { options, failures }: { options: LoopOptions; failures: number },
  signal: AbortSignal,
): Promise<void> {
  const { intervalMs, jitter = 0, clock, random = Math.random } = options;
  const totalMs = intervalMs * (1 + jitter * random());
  const shortestMs = pauseAfter(failures, { firstMs: minPauseMs, longestMs: totalMs });
  await clock.sleep(shortestMs, signal);
  if (!signal.aborted) await wake.sleep(totalMs - shortestMs, clock, signal);
}
