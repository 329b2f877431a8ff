import { expect, test } from 'vitest';
import { paced, type ActResult, type PacedOptions } from '../../../src/runtime/paced.ts';
import { initialPace } from '../../../src/runtime/pacing.ts';
import { FakeClock } from '../../fakes/clock.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

function options(
  act: (item: number) => Promise<ActResult>,
  over: Partial<PacedOptions<number>> = {},
): PacedOptions<number> {
  return { act, clock: new FakeClock(), pace: initialPace, maxPerSecond: 0, mayStart: () => true, ...over };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;

test('does everything, in order, with no more in flight than the window', async () => {
  const started: number[] = [];
  let inFlight = 0;
  let most = 0;
  await paced(
    numbers(50),
    options(async (item) => {
      started.push(item);
      most = Math.max(most, ++inFlight);
      await turn();
      inFlight--;
      return 'done';
    }),
    never,
  );
  expect(started).toEqual(numbers(50));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(50);
});

test('what was throttled is done later, after the pause the server asked for', async () => {
  const clock = new FakeClock();
  const done: number[] = [];
  const at: number[] = [];
  await paced(
    numbers(3),
    options(
      (item) => {
        at.push(clock.monotonicMs());
        if (item === 0 && at.length === 1) return Promise.resolve({ throttledForMs: 2_000 });
        done.push(item);
        return Promise.resolve('done');
      },
      { clock, pace: { ...initialPace, window: 1 } },
    ),
    never,
  );
  expect(done).toEqual([0, 1, 2]);
  expect(at[1]).toBeGreaterThanOrEqual(2_000);
});

test('mayStart turned false ends the run; what is in flight finishes', async () => {
  let open = true;
  const done: number[] = [];
  await paced(
    numbers(100),
    options(
      async (item) => {
        await turn();
        done.push(item);
        if (item === 3) open = false;
        return 'done';
      },
      { mayStart: () => open },
    ),
    never,
  );
  expect(done.length).toBeLessThan(30);
});

test('a rejection stops the run and is handed on', async () => {
  let started = 0;
  const run = paced(
    numbers(100),
    options(async () => {
      started++;
      await turn();
      throw new Error('forbidden');
    }),
    never,
  );
  await expect(run).rejects.toThrow('forbidden');
  expect(started).toBeLessThan(20);
});

test('an abort ends it with the reason of the signal', async () => {
  const stop = new AbortController();
  const run = paced(
    numbers(100),
    options(async (item) => {
      await turn();
      if (item === 2) stop.abort(new Error('stopping'));
      return 'done';
    }),
    stop.signal,
  );
  await expect(run).rejects.toThrow('stopping');
});

test('a ceiling spaces the starts', async () => {
  const clock = new FakeClock();
  const at: number[] = [];
  await paced(
    numbers(5),
    options(
      () => {
        at.push(clock.monotonicMs());
        return Promise.resolve('done');
      },
      { clock, maxPerSecond: 10 },
    ),
    never,
  );
  expect(at).toEqual([0, 100, 200, 300, 400]);
});

test.each([
  { name: 'a round that is too short to tell anything leaves the window', eachMs: 1, grows: false },
  { name: 'one of 50 ms and more lets it grow', eachMs: 10, grows: true },
])('$name', async ({ eachMs, grows }) => {
  const clock = new FakeClock();
  const pace = { ...initialPace, window: 8 };
  const act = (): Promise<ActResult> => {
    clock.advance(eachMs);
    return Promise.resolve('done');
  };
  const { window } = await paced(numbers(16), options(act, { clock, pace }), never);
  expect(window > 8).toBe(grows);
});
