import { describe, expect, test } from 'vitest';
import { inSlices } from '../../../src/runtime/scheduling/slices.ts';
import { SpreadWake } from '../../../src/runtime/scheduling/spread-wake.ts';
import { Mutex } from '../../../src/runtime/scheduling/mutex.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { Wake } from '../../../src/runtime/scheduling/wake.ts';
import { SettlingClock, settled } from '../../fakes/settling-clock.ts';

const never = new AbortController().signal;

test('tasks run one after the other, in the order of the calls, also after a failure', async () => {
  const clock = new SettlingClock();
  const mutex = new Mutex();
  const steps: string[] = [];
  const run = (name: string, ms: number, fails = false): Promise<string> =>
    mutex.run(async () => {
      steps.push(`${name} starts`);
      await clock.sleep(ms, never);
      steps.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    }, never);
  const results = Promise.allSettled([run('a', 30, true), run('b', 10), run('c', 1)]);
  for (let ms = 0; ms < 60; ms++) await clock.advance(1);
  expect(steps).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
});

test('a task whose signal aborts while it waits does not start', async () => {
  const clock = new SettlingClock();
  const mutex = new Mutex();
  const stop = new AbortController();
  const first = mutex.run(() => clock.sleep(10, never), never);
  let started = false;
  const second = mutex.run(() => Promise.resolve((started = true)), stop.signal);
  const refused = expect(second).rejects.toThrow(/aborted/);
  await settled();
  stop.abort();
  await clock.advance(10);
  await first;
  await refused;
  expect(started).toBe(false);
});

describe('a spread wake', () => {
  function spread() {
    const clock = new SettlingClock();
    const triggered: string[] = [];
    const wakes = ['first', 'second'].map((name) => {
      const wake = new Wake();
      wake.trigger = () => triggered.push(name);
      return wake;
    });
    return { clock, triggered, wake: new SpreadWake({ clock, random: () => 0.5, spreadMs: 10_000, wakes }) };
  }

  test('triggers its wakes once after a random part of the spread; a later trigger starts anew', async () => {
    const { clock, triggered, wake } = spread();
    wake.trigger(never);
    wake.trigger(never);
    await clock.advance(4_999);
    expect(triggered).toEqual([]);
    await clock.advance(1);
    expect(triggered).toEqual(['first', 'second']);
    wake.trigger(never);
    await clock.advance(5_000);
    expect(triggered).toHaveLength(4);
  });

  test('keeps a given delay; a trigger meanwhile changes nothing', async () => {
    const { clock, triggered, wake } = spread();
    wake.hold(7_000, never);
    wake.trigger(never);
    await clock.advance(6_999);
    expect([wake.isHeld, triggered]).toEqual([true, []]);
    await clock.advance(1);
    expect([wake.isHeld, triggered]).toEqual([false, ['first', 'second']]);
  });
});

test('work in slices handles every item in order, and yields to the event loop meanwhile', async () => {
  const numbers = Array.from({ length: 5_000 }, (_, i) => i);
  const seen: number[] = [];
  let seenByOthers = 0;
  setImmediate(() => {
    seenByOthers = seen.length;
  });
  await inSlices(numbers, (item) => seen.push(item));
  expect(seen).toEqual(numbers);
  expect(seenByOthers).toBeGreaterThan(0);
  expect(seenByOthers).toBeLessThan(5_000);
});
test('a sleep that is longer than a timer of Node does not end at once', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => {
    warnings.push(name);
  };
  process.on('warning', onWarning);
  const stop = new AbortController();
  const slept = systemClock.sleep(2 ** 31, stop.signal);
  await settled();
  stop.abort();
  await slept;
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});
