import { expect, onTestFinished, test } from 'vitest';
import { AgentLoops, reportSpreadMs, type Passes } from '../../../../src/daemon/agent/loops.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { SettlingClock } from '../../../fakes/settling-clock.ts';

const minute = 60_000;

interface Told {
  readonly pass: string;
  readonly atMs: number;
}

/** An agent that starts at 0 and makes its passes in no time; what it asks for is told by any report. */
function start(random: number, localStoragePeriodMs = 10_000) {
  const clock = new SettlingClock();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const told: Told[] = [];
  const asks = { isUntold: false, isPulling: false };
  const loops = new AgentLoops({
    config: { imageGcPeriodMs: 5 * minute, containerGcPeriodMs: minute, localStoragePeriodMs },
    ...{ clock, random: () => random, log: silentLogger, onResult: () => () => undefined },
    isCurrent: () => true,
  });
  const pass = (name: keyof Passes) => () => {
    told.push({ pass: name, atMs: clock.monotonicMs() });
    if (name === 'report') asks.isUntold = false;
    if (name === 'containers' || name === 'storage') loops.wakeReport();
    return Promise.resolve();
  };
  const own = { containers: pass('containers'), images: pass('images'), storage: pass('storage') };
  const others = { pressure: pass('pressure'), report: pass('report'), runtime: pass('runtime') };
  const passes = { ...own, ...others, usage: pass('usage'), leftovers: pass('leftovers') };
  const isPulling = (): Promise<boolean> => Promise.resolve(asks.isPulling);
  void loops.run({ ...passes, isPulling, isReportAwaited: () => asks.isUntold }, stop.signal);
  const times = (name: keyof Passes): readonly number[] =>
    told.filter(({ pass: one }) => one === name).map(({ atMs }) => atMs);
  const hear = (): void => loops.wakeAll(stop.signal);
  return { clock, times, hear, asks, first: (name: keyof Passes) => times(name)[0] };
}

test('agents that start together report one after the other, each after its first pass', async () => {
  const agents = Array.from({ length: 60 }, (_, i) => start(i / 60));
  for (let seconds = 0; seconds <= 74; seconds += 1) {
    for (const { clock } of agents) await clock.advance(seconds === 0 ? 0 : 1_000);
    // Their first sync is news to all of them.
    if (seconds === 1) for (const { hear } of agents) hear();
  }
  const reports = agents.map(({ first }) => first('report') ?? NaN);
  expect(reports).toEqual(reports.toSorted((a, b) => a - b));
  expect(new Set(reports).size).toBeGreaterThanOrEqual(59);
  for (const { first } of agents) expect(first('report')).toBeGreaterThan(first('containers') ?? Infinity);
});

test('after a policy change, agents report one after the other, each after its pass', async () => {
  const agents = Array.from({ length: 20 }, (_, i) => start(i / 20));
  const advance = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds * 4; i += 1) for (const { clock } of agents) await clock.advance(250);
  };
  // The last pass over containers is so long ago for none that its period would end by itself.
  await advance(64);
  const heardMs = agents[0]?.clock.monotonicMs() ?? NaN;
  for (const { hear } of agents) hear();
  await advance(64);
  const waited = agents.map(({ times }) => (times('report').find((atMs) => atMs > heardMs) ?? NaN) - heardMs);
  const spreadMs = reportSpreadMs(minute);
  for (const [i, ms] of waited.entries()) expect(ms).toBeGreaterThanOrEqual((i / 20) * spreadMs);
  for (const ms of waited) expect(ms).toBeLessThanOrEqual(spreadMs + 1_000);
});

/** A second at a time. */
async function advance({ clock }: ReturnType<typeof start>, seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i += 1) await clock.advance(1_000);
}

test('whatever the period of local storage, usage and node pressure are measured at least every two minutes', async () => {
  const agent = start(0.5, 30 * minute);
  await advance(agent, 60 * 60);
  for (const name of ['usage', 'pressure'] as const)
    expect(agent.times(name).length, name).toBeGreaterThanOrEqual(25);
  expect(agent.times('storage').length).toBeLessThanOrEqual(3);
});

test('a new eviction request is reported at once, even after a policy change', async () => {
  const agent = start(0.9);
  await advance(agent, 64);
  agent.hear();
  const heardMs = agent.clock.monotonicMs();
  await advance(agent, 20);
  const since = (): readonly number[] => agent.times('report').filter((atMs) => atMs > heardMs);
  expect(since()).toEqual([]);
  agent.asks.isUntold = true;
  await advance(agent, 11);
  expect(since()).toHaveLength(1);
  expect(agent.times('storage')).toContain(since()[0]);
  // What is told by it is told: the rest has its turn.
  await advance(agent, 20);
  expect(since()).toHaveLength(1);
  await advance(agent, 5);
  expect(since()[1]).toBe(heardMs + 0.9 * reportSpreadMs(minute));
});
