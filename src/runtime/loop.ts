import type { Clock } from './clock.ts';
import { isAbort } from './errors.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Logger } from './logger.ts';
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
  /** Part of the interval by which a pause may be longer, so that many agents do not march in step. Default 0. */
  readonly jitter?: number;
  /** What even a wake waits for after a pass, so that a storm of events is not a storm of passes. Default 1 s. */
  readonly minPauseMs?: number;
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
  const { wake = new Wake(), heartbeat } = options;
  let failures = 0;
  heartbeat?.beat();
  while (!signal.aborted) {
    wake.reset();
    failures = (await pass(task, options, signal)) ? 0 : failures + 1;
    heartbeat?.beat();
    await pause(wake, { options, failures }, signal);
  }
  heartbeat?.stop();
}

async function pass(
  task: (signal: AbortSignal) => Promise<void>,
  { name, clock, log, onResult }: LoopOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const startMs = clock.monotonicMs();
  const seconds = () => (clock.monotonicMs() - startMs) / 1_000;
  try {
    await task(signal);
    onResult?.({ ok: true, seconds: seconds() });
    return true;
  } catch (err) {
    if (isShutdown(err, signal)) return true;
    log.error({ err, loop: name }, 'pass failed');
    onResult?.({ ok: false, seconds: seconds() });
    return false;
  }
}

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
