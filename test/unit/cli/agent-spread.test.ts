import { expect, onTestFinished, test } from 'vitest';
import { AgentLoops, type Passes } from '../../../src/cli/agent-loops.ts';
import { firstDelays, newsSpreadMs, toldSpreadMs } from '../../../src/cli/agent-spread.ts';
import { silentLogger } from '../../fakes/logger.ts';
import { SettlingClock } from '../../fakes/settling-clock.ts';

const minute = 60_000;

test.each([
  { period: minute, random: 0, passMs: 0 },
  { period: minute, random: 0.5, passMs: 30_000 },
  { period: 10 * minute, random: 0.5, passMs: 30_000 },
  { period: 10_000, random: 0.5, passMs: 5_000 },
])('with a period of $period ms and $random drawn the first pass waits $passMs ms', (row) => {
  const { passMs, reportMs } = firstDelays(row.period, row.random);
  expect(passMs).toBe(row.passMs);
  expect(reportMs).toBeGreaterThan(passMs);
  expect(reportMs - passMs).toBeLessThan(5_000);
});

test('news is held back for a part of a short period, and never for long', () => {
  expect([6_000, minute, 10 * minute].map(newsSpreadMs)).toEqual([1_000, 10_000, 10_000]);
  expect([6_000, minute, 10 * minute].map(toldSpreadMs)).toEqual([6_000, minute, minute]);
});

interface Told {
  readonly pass: string;
  readonly atMs: number;
}

/** An agent that starts at 0 and makes its passes in no time. */
function start(random: number) {
  const clock = new SettlingClock();
  const stop = new AbortController();
  onTestFinished(() => {
    stop.abort();
  });
  const told: Told[] = [];
  const loops = new AgentLoops({
    config: { imageGcPeriodMs: 5 * minute, containerGcPeriodMs: minute, localStoragePeriodMs: 10_000 },
    ...{ clock, random: () => random, log: silentLogger, onResult: () => () => undefined },
  });
  const pass = (name: keyof Passes) => () => {
    told.push({ pass: name, atMs: clock.monotonicMs() });
    if (name === 'containers') loops.tell();
    return Promise.resolve();
  };
  void loops.run(
    {
      ...{ containers: pass('containers'), images: pass('images'), storage: pass('storage') },
      ...{ report: pass('report'), runtime: pass('runtime') },
    },
    stop.signal,
  );
  const times = (name: keyof Passes): readonly number[] =>
    told.filter(({ pass: one }) => one === name).map(({ atMs }) => atMs);
  const hear = (): void => {
    loops.hear(stop.signal);
  };
  return { clock, times, hear, first: (name: keyof Passes) => told.find((one) => one.pass === name)?.atMs };
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

test('news that all hear in one second is told by each when its turn has come, with what its pass saw', async () => {
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
  const spreadMs = toldSpreadMs(minute);
  for (const [i, ms] of waited.entries()) expect(ms).toBeGreaterThanOrEqual((i / 20) * spreadMs);
  for (const ms of waited) expect(ms).toBeLessThanOrEqual(spreadMs + 1_000);
});
