/** Random delays that spread the load of thousands of agents on their API server. docs/scale.md has the resulting load. */

/** Agents that start in the same second, after a rollout or a power cut, begin their work within this time, or within one period. */
const longestStartMs = 60_000;
/** By then the first passes have ended on most nodes, so that the first report includes them. */
const reportLagMs = 2_000;
/** A change that all agents see at the same moment, such as a new policy, takes effect within this time, or a part of their period. */
const longestSpreadMs = 10_000;
const passSpreadPart = 6;

/** The part of its period by which a pause of any loop may be longer. */
export const loopJitter = 0.1;

export interface FirstDelays {
  /** Delay of the first pass over containers; the first pass over images follows it. */
  readonly passMs: number;
  /** Delay of the first report, unless a pod must be evicted. */
  readonly reportMs: number;
}

/** Returns the delays after the start of an agent; `random` is from 0 to below 1. The report waits only for time: it must also report a runtime that hangs. */
export function firstDelays(containerGcPeriodMs: number, random: number): FirstDelays {
  const passMs = random * Math.min(containerGcPeriodMs, longestStartMs);
  return { passMs, reportMs: passMs + reportLagMs };
}

/** Delay of the first pass over local storage: short, because a pod to evict is reported as soon as it is found. */
export const firstStorageMs = (localStoragePeriodMs: number, random: number): number =>
  random * Math.min(localStoragePeriodMs, longestSpreadMs);

/** The longest delay of passes after a change. */
export const passSpreadMs = (containerGcPeriodMs: number): number =>
  Math.min(longestSpreadMs, containerGcPeriodMs / passSpreadPart);

/** The longest delay of a report after a change: nothing waits for it, and a write costs the API server far more than a pass costs a node. */
export const reportSpreadMs = (containerGcPeriodMs: number): number =>
  Math.min(longestStartMs, containerGcPeriodMs);
