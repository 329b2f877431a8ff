/** How many requests may be in flight, and what that was concluded from. Replaced whole after each round. */
export interface Pace {
  readonly window: number;
  /** Best rate seen lately, per second. */
  readonly bestPerSecond: number;
  /** Lowest mean latency seen lately, milliseconds. */
  readonly baseLatencyMs: number;
}

/** One round: `done` requests finished in `elapsedMs`, with `throttled` answers of 429 among them. */
export interface Round {
  readonly done: number;
  readonly elapsedMs: number;
  readonly meanLatencyMs: number;
  readonly throttled: number;
}

/** Of the 600 requests that an API server by default serves at a time: it hurts nobody, and is soon outgrown. */
export const initialPace: Pace = { window: 16, bestPerSecond: 0, baseLatencyMs: Infinity };

/**
 * What a plain client needs to get the most of an API server and etcd that share two cores (docs/benchmarks.md): with half as many, etcd has fewer
 * to write at once and the server spends a fifth more on each. A server that takes 100 ms for an answer gets 640 a second at most.
 */
const maxWindow = 64;
/** Rising latency alone, which on a busy machine may mean anything, cuts no deeper: so few requests are no queue. A 429 does. */
const minUnasked = 8;
/** Below this the latency counts as flat: the server has room. */
const flatUpTo = 1.4;
/** Above this times what the window itself explains, requests queue up inside the server. */
const queueingFrom = 2;
/** Growth that buys less than this is noise. */
const worthwhileGain = 1.03;
/** What was once the best rate fades by this a round, so that a server that became slower is believed. */
const rateFading = 0.97;
/** The base fades more slowly: else a queue that lasts would pass for the server's own latency. */
const latencyFading = 0.998;

/**
 * Decides the next window: halved at once by a 429, cut by what the rate has lost when requests queue up inside the server,
 * grown by half while latency is flat or the rate still follows, else left.
 */
export function adjustPace(pace: Pace, round: Round): Pace {
  const perSecond = round.elapsedMs > 0 ? (1000 * round.done) / round.elapsedMs : 0;
  const baseLatencyMs = Math.min(round.meanLatencyMs, pace.baseLatencyMs / latencyFading);
  if (round.throttled === 0 && isQueueing(pace, round, perSecond)) {
    // The window that keeps latency where it was. The slower rate is believed at once: it takes no second cut, and what comes after counts as gain.
    const kept = Math.floor((pace.window * perSecond) / pace.bestPerSecond);
    const window = Math.max(kept, Math.min(minUnasked, pace.window));
    return { baseLatencyMs, bestPerSecond: perSecond, window };
  }
  const bestPerSecond = Math.max(perSecond, pace.bestPerSecond * rateFading);
  return { baseLatencyMs, bestPerSecond, window: nextWindow(pace, round, perSecond) };
}

function nextWindow(pace: Pace, round: Round, perSecond: number): number {
  if (round.throttled > 0) return Math.max(1, Math.floor(pace.window / 2));
  const flat = round.meanLatencyMs <= flatUpTo * pace.baseLatencyMs;
  const follows = perSecond > pace.bestPerSecond * worthwhileGain;
  return flat || follows ? Math.min(maxWindow, Math.ceil(pace.window * 1.5)) : pace.window;
}

/** Latency is over twice what the best rate would give this window (Little's law) and over twice the base. */
function isQueueing(pace: Pace, round: Round, perSecond: number): boolean {
  if (pace.bestPerSecond === 0 || perSecond >= pace.bestPerSecond) return false;
  const explainedMs = (1000 * pace.window) / pace.bestPerSecond;
  return round.meanLatencyMs > queueingFrom * Math.max(explainedMs, pace.baseLatencyMs);
}
