/** How many requests may be in flight, and what that was concluded from. Replaced whole after each round. */
export interface Pace {
  readonly window: number;
  /** Best rate seen so far, per second; decays, so that a server that got slower is believed. */
  readonly bestPerSecond: number;
  /** Smallest latency seen with one request at a time, or the lowest mean since; milliseconds. */
  readonly baseLatencyMs: number;
}

/** One round: `done` requests finished in `elapsedMs`, with `throttled` answers of 429 among them. */
export interface Round {
  readonly done: number;
  readonly elapsedMs: number;
  readonly meanLatencyMs: number;
  readonly throttled: number;
}

export const initialPace: Pace = { window: 8, bestPerSecond: 0, baseLatencyMs: Infinity };

/** Twice the knee measured on real API servers (64 in flight); more only lengthens the queue inside the server. */
const maxWindow = 128;
/** A queue inside the server shows as latency beyond what the window itself explains; see `queueing`. */
const latencyTolerance = 2;
/** Growth that buys less than this is noise, and the window stays. */
const worthwhileGain = 1.03;
const decay = 0.97;

/**
 * Decides the next window: halved at once by a 429, cut by a quarter when latency rises without more throughput,
 * grown by half while throughput follows, else left.
 */
export function adjustPace(pace: Pace, round: Round): Pace {
  const perSecond = round.elapsedMs > 0 ? (1000 * round.done) / round.elapsedMs : 0;
  const learned = {
    bestPerSecond: Math.max(perSecond, pace.bestPerSecond * decay),
    baseLatencyMs: Math.min(pace.baseLatencyMs, round.meanLatencyMs),
  };
  return { ...learned, window: nextWindow(pace, round, perSecond) };
}

function nextWindow(pace: Pace, round: Round, perSecond: number): number {
  if (round.throttled > 0) return Math.max(1, Math.floor(pace.window / 2));
  if (perSecond > pace.bestPerSecond * worthwhileGain) return grown(pace.window);
  if (queueing(pace, round, perSecond)) return Math.max(1, Math.floor(pace.window * 0.75));
  return pace.window;
}

const grown = (window: number): number => Math.min(maxWindow, Math.ceil(window * 1.5));

/** Latency is over twice what the best throughput would give this window (Little's law), and over twice the base. */
function queueing(pace: Pace, round: Round, perSecond: number): boolean {
  const expectedMs = pace.bestPerSecond > 0 ? (1000 * pace.window) / pace.bestPerSecond : Infinity;
  const tolerated = latencyTolerance * Math.max(expectedMs, pace.baseLatencyMs);
  return perSecond < pace.bestPerSecond && round.meanLatencyMs > tolerated;
}
