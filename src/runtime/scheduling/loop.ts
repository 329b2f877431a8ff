import type { Clock } from './clock.ts';
import { errorLine, isAbort } from '../errors.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Logger } from '../logging/logger.ts';
import { Wake } from './wake.ts';

export interface PassResult {
  readonly ok: boolean;
  readonly seconds: number;
}

export interface LoopOptions {
  readonly name: string;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** What the first pass waits for, deaf to wakes: many agents that start together must not act together. Default 0. */
  readonly firstDelayMs?: number;
  /** A pass that fails as the one before is told at debug level, and the recovery at info: for a loop that waits for others to come back. */
  readonly quietRepeats?: boolean;
  /** Part of the interval by which a pause may be longer, so that many agents do not march in step. Default 0. */
  readonly jitter?: number;
  /** What even a wake waits for after a pass, so that a storm of events is not a storm of passes. Default 1 s. */
  readonly minPauseMs?: number;
  /** True: a pass that is due now is left out, neither done nor failed; the next one comes after the pause, or a wake. */
  readonly isHeld?: () => boolean;
  /** Told of each pass that was not cut off by a shutdown. */
  readonly onResult?: (result: PassResult) => void;
  readonly wake?: Wake;
  readonly heartbeat?: Heartbeat;
  /** A number from 0 to below 1. */
  readonly random?: () => number;
}

const defaultMinPauseMs = 1_000;

/**
 * Runs `task` now and then every `intervalMs`, until `signal` aborts.
 *
 * Passes never overlap: the interval is the pause between passes, so a slow pass
 * delays the next one instead of piling up behind it. A wake cuts the pause short,
 * the later the more passes failed in a row.
 */
export async function loop(
  task: (signal: AbortSignal) => Promise<void>,
  options: LoopOptions,
  signal: AbortSignal,
): Promise<void> {
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

/** Passes that failed in a row, and why the last one did. */
interface Streak {
  readonly failures: number;
  readonly cause: string;
}

const noFailures: Streak = { failures: 0, cause: '' };

interface Standing {
  readonly options: LoopOptions;
  readonly streak: Streak;
}

async function pass(
  task: (signal: AbortSignal) => Promise<void>,
  { options, streak }: Standing,
  signal: AbortSignal,
): Promise<Streak> {
  const { clock, onResult } = options;
  const startMs = clock.monotonicMs();
  const seconds = () => (clock.monotonicMs() - startMs) / 1_000;
  try {
    if (options.isHeld?.() === true) return streak;
    await task(signal);
    logRecovery(options, streak);
    onResult?.({ ok: true, seconds: seconds() });
    return noFailures;
  } catch (err) {
    if (isShutdown(err, signal)) return noFailures;
    const cause = withoutFigures(errorLine(err));
    logFailure(options, { err, isRepeat: streak.failures > 0 && cause === streak.cause });
    onResult?.({ ok: false, seconds: seconds() });
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
  if (quietRepeats && failures > 0) log.info({ loop: name, failures }, 'passes work again');
}

/** Two lines that differ in how long something took tell the same. */
const withoutFigures = (line: string): string => line.replaceAll(/\d[\d.]*/g, '0');

/** An abort of anything but our own signal is a failure like any other. */
const isShutdown = (err: unknown, signal: AbortSignal): boolean =>
  signal.aborted && (isAbort(err) || err === signal.reason);

async function pause(
  wake: Wake,
  { options, failures }: { options: LoopOptions; failures: number },
  signal: AbortSignal,
): Promise<void> {
  const { intervalMs, jitter = 0, minPauseMs = defaultMinPauseMs, clock, random = Math.random } = options;
  const totalMs = intervalMs * (1 + jitter * random());
  const deafMs = Math.min(totalMs, minPauseMs * 2 ** failures);
  await clock.sleep(deafMs, signal);
  if (!signal.aborted) await wake.sleep(totalMs - deafMs, clock, signal);
}
