/**
 * What spreads the load of thousands of agents on their API server: each draws its own times, none knows of the others. docs/scale.md tells
 * what comes of it.
 */

/** Agents that start in the same second, after a rollout or a power cut, take up their work within this time, or within a period of theirs. */
const longestStartMs = 60_000;
/** By then the first passes have ended on most nodes: the first report says what they saw, and need not be written again for that. */
const reportLagMs = 2_000;
/** What all agents learn at the same moment, as a changed policy, they act upon within this time, or a part of their period. */
const longestNewsMs = 10_000;
const newsPart = 6;

/** The part of its period by which a pause of any loop may be longer. */
export const loopJitter = 0.1;

export interface FirstDelays {
  /** Of the first pass over containers, which the one over images follows. */
  readonly passMs: number;
  /** Of the first look at whether there is something to report, where no pod is to be evicted. */
  readonly reportMs: number;
}

/** How long after its start an agent begins, by a `random` from 0 to below 1. The report waits for nothing but time: a runtime that hangs must be told too. */
export function firstDelays(containerGcPeriodMs: number, random: number): FirstDelays {
  const passMs = random * Math.min(containerGcPeriodMs, longestStartMs);
  return { passMs, reportMs: passMs + reportLagMs };
}

/** How long after its start an agent first looks at local storage: a pod that is to be evicted is reported as soon as it is found. */
export const firstStorageMs = (localStoragePeriodMs: number, random: number): number =>
  random * Math.min(localStoragePeriodMs, longestNewsMs);

/** The longest that news is held back before the passes that act upon it. */
export const newsSpreadMs = (containerGcPeriodMs: number): number =>
  Math.min(longestNewsMs, containerGcPeriodMs / newsPart);

/** The longest that news is held back before the report tells of it: nothing waits for that, and a write costs the API server far more than a pass costs a node. */
export const loggedSpreadMs = (containerGcPeriodMs: number): number =>
  Math.min(longestStartMs, containerGcPeriodMs);
