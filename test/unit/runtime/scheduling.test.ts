import { describe, expect, test } from 'vitest';
import { Heartbeat } from '../../../src/runtime/scheduling/heartbeat.ts';
import {
  loop,
  type LoopOptions,
  type PassResult,
  type Task as PassTask,
} from '../../../src/runtime/scheduling/loop.ts';
import { inSlices, inSteps } from '../../../src/runtime/scheduling/slices.ts';
import { SpreadWake } from '../../../src/runtime/scheduling/spread-wake.ts';
import { Mutex } from '../../../src/runtime/scheduling/mutex.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { Wake } from '../../../src/runtime/scheduling/wake.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { SettlingClock, settled } from '../../fakes/settling-clock.ts';

const never = new AbortController().signal;

type Task = (signal: AbortSignal) => Promise<void>;

/** Starts a loop, and its first pass; `passes` are the start times of its passes. */
async function running(
  task: PassTask = () => Promise.resolve(),
  { clock = new SettlingClock(), ...options }: Partial<LoopOptions> & { clock?: SettlingClock } = {},
) {
  const log = new RecordingLogger();
  const wake = new Wake();
  const results: PassResult[] = [];
  const passes: number[] = [];
  const stop = new AbortController();
  const counted: PassTask = (signal) => {
    passes.push(clock.monotonicMs());
    return task(signal);
  };
  const onResult = (result: PassResult) => results.push(result);
  const base = { name: 'test', intervalMs: 20_000, clock, log, wake, onResult };
  const done = loop(counted, { ...base, ...options }, stop.signal);
  await settled();
  return { clock, log, wake, results, passes, stop, done };
}

const failing: Task = () => Promise.reject(new Error('listing pods', { cause: new Error('refused') }));

describe('loop', () => {
  test('runs at once and then after each pause', async () => {
    const { clock, passes } = await running();
    await clock.advance(1_000);
    await clock.advance(18_999);
    expect(passes).toEqual([0]);
    await clock.advance(1);
    expect(passes).toEqual([0, 20_000]);
  });

  test('a slow pass is reported with its duration, and delays the next one instead of overlapping it', async () => {
    const clock = new SettlingClock();
    const { passes, results } = await running((signal) => clock.sleep(60_000, signal), { clock });
    await clock.advance(60_000);
    expect(results).toEqual([{ result: 'success', seconds: 60 }]);
    await clock.advance(1_000);
    expect(passes).toHaveLength(1);
    await clock.advance(19_000);
    expect(passes).toHaveLength(2);
  });

  test('a pass that a shutdown interrupts is not a failure and has no result', async () => {
    const untilAborted: Task = (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      });
    const { stop, done, log, results } = await running(untilAborted);
    stop.abort();
    await done;
    expect(log.lines).toEqual([]);
    expect(results).toEqual([]);
  });

  test('an abort of another signal is a failure', async () => {
    const { results } = await running(() => Promise.reject(new DOMException('aborted', 'AbortError')));
    expect(results).toEqual([{ result: 'error', seconds: 0 }]);
  });

  test('jitter makes a pause longer, never shorter', async () => {
    const { clock, passes } = await running(undefined, { jitter: 0.5, random: () => 0.5 });
    await clock.advance(1_000);
    await clock.advance(23_999);
    expect(passes).toHaveLength(1);
    await clock.advance(1);
    expect(passes).toHaveLength(2);
  });
});

describe('the first pass', () => {
  test('waits for its delay even after a wake', async () => {
    const { clock, wake, passes } = await running(undefined, { firstDelayMs: 7_000 });
    wake.trigger();
    await clock.advance(6_999);
    expect(passes).toEqual([]);
    await clock.advance(1);
    expect(passes).toEqual([7_000]);
  });

  test('never starts if the signal aborts before', async () => {
    const { stop, done, passes } = await running(undefined, { firstDelayMs: 7_000 });
    stop.abort();
    await done;
    expect(passes).toEqual([]);
  });
});

test('quiet repeats: logs each cause once at error level, and the recovery', async () => {
  const outcomes = ['took 1.5 s', 'took 20 s', 'refused', undefined, undefined, 'refused'];
  const task: Task = () => {
    const cause = outcomes.shift();
    return cause === undefined ? Promise.resolve() : Promise.reject(new Error(cause));
  };
  const { clock, log, results } = await running(task, { quietRepeats: true, intervalMs: 1_000 });
  for (let pass = 0; pass < 5; pass++) await clock.advance(1_000);
  expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    'error pass failed',
    'debug pass failed again',
    'error pass failed',
    'info passes succeed again',
    'error pass failed',
  ]);
  expect(results.filter(({ result }) => result === 'error')).toHaveLength(4);
});

test('a pass that waits for a cache neither succeeds nor fails, and an earlier failure has not recovered', async () => {
  const outcomes: readonly (() => ReturnType<PassTask>)[] = [
    () => Promise.reject(new Error('refused')),
    () => Promise.resolve('waiting' as const),
    () => Promise.resolve(undefined),
  ];
  let next = 0;
  const task: PassTask = () => outcomes[next++]?.() ?? Promise.resolve();
  const { clock, log, results } = await running(task, { quietRepeats: true, intervalMs: 1_000 });
  for (let pass = 0; pass < 2; pass++) await clock.advance(1_000);
  expect(results.map(({ result }) => result)).toEqual(['error', 'waiting', 'success']);
  expect(log.lines.map(({ message }) => message)).toEqual(['pass failed', 'passes succeed again']);
});

test('a held pass neither succeeds nor fails: it is not reported, and an earlier failure has not recovered', async () => {
  let isSkipped = false;
  const options = { quietRepeats: true, intervalMs: 1_000, isSkipped: () => isSkipped };
  const { clock, log, passes, results } = await running(failing, options);
  isSkipped = true;
  for (let pass = 0; pass < 3; pass++) await clock.advance(1_000);
  expect([passes.length, results.length]).toEqual([1, 1]);
  isSkipped = false;
  await clock.advance(1_000);
  expect(passes).toEqual([0, 4_000]);
  expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    'error pass failed',
    'debug pass failed again',
  ]);
});

describe('wake', () => {
  test('shortens a pause to the shortest, and many triggers cause one pass; an abort ends the pause', async () => {
    const { clock, wake, passes, stop, done } = await running();
    for (let event = 0; event < 100; event++) wake.trigger();
    await clock.advance(999);
    expect(passes).toEqual([0]);
    await clock.advance(1);
    expect(passes).toEqual([0, 1_000]);
    await clock.advance(5_000);
    expect(passes).toEqual([0, 1_000]);
    wake.trigger();
    await settled();
    expect(passes).toEqual([0, 1_000, 6_000]);
    await clock.advance(1_000);
    stop.abort();
    await done;
    expect(passes).toHaveLength(3);
  });

  test('during a pass causes another pass', async () => {
    const clock = new SettlingClock();
    const { wake, passes } = await running((signal) => clock.sleep(3_000, signal), { clock });
    await clock.advance(1_000);
    wake.trigger();
    await clock.advance(2_000);
    await clock.advance(1_000);
    expect(passes).toEqual([0, 4_000]);
  });

  test('waits longer with every failure in a row, but never longer than the interval', async () => {
    const clock = new SettlingClock();
    const { passes, wake, log } = await running(failing, { clock });
    expect(log.lines).toMatchObject([{ level: 'error', message: 'pass failed', fields: { loop: 'test' } }]);
    for (let second = 0; second < 60; second++) {
      wake.trigger();
      await clock.advance(1_000);
    }
    expect(passes).toEqual([0, 2_000, 6_000, 14_000, 30_000, 50_000]);
  });
});

describe('heartbeat', () => {
  test('passes before the loop starts and while it fails, fails if it hangs, passes when it has ended', async () => {
    const clock = new SettlingClock();
    const heartbeat = new Heartbeat('podgc', 60_000, clock);
    await clock.advance(100_000);
    expect(heartbeat.check()).toBeUndefined();
    const tasks: Task[] = [failing, (signal) => clock.sleep(1e9, signal)];
    const task: Task = (signal) => tasks.shift()?.(signal) ?? Promise.resolve();
    const { stop, done } = await running(task, { clock, heartbeat });
    await clock.advance(2_000);
    expect(heartbeat.check()).toBeUndefined();
    await clock.advance(18_000);
    await clock.advance(100_000);
    expect(heartbeat.check()).toBe('no pass completed for 120 s');
    stop.abort();
    await done;
    expect(heartbeat.check()).toBeUndefined();
  });
});

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

  test('triggers its wakes once after a random part of the spread, or a given delay', async () => {
    const { clock, triggered, wake } = spread();
    wake.trigger(never);
    wake.trigger(never);
    await clock.advance(4_999);
    expect([wake.isDelaying, triggered]).toEqual([true, []]);
    await clock.advance(1);
    expect([wake.isDelaying, triggered]).toEqual([false, ['first', 'second']]);
    wake.delay(7_000, never);
    wake.trigger(never);
    await clock.advance(6_999);
    expect(triggered).toHaveLength(2);
    await clock.advance(1);
    expect(triggered).toHaveLength(4);
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
test('work in steps yields to the event loop between two steps, and returns the result of the last and its own time', async () => {
  const order: string[] = [];
  const clock = new FakeClock();
  function* steps(): Generator<void, string> {
    order.push('first step');
    clock.advance(5);
    setImmediate(() => {
      order.push('other work');
      clock.advance(100);
    });
    yield;
    clock.advance(7);
    order.push('last step');
    return 'result';
  }
  expect(await inSteps(steps(), clock)).toEqual({ result: 'result', busyMs: 12 });
  expect(order).toEqual(['first step', 'other work', 'last step']);
});
test('a sleep that is longer than a timer of Node does not end at once', async () => {
  const stop = new AbortController();
  let hasEnded = false;
  const slept = systemClock.sleep(2 ** 31, stop.signal).finally(() => (hasEnded = true));
  await systemClock.sleep(20, never);
  expect(hasEnded).toBe(false);
  stop.abort();
  await slept;
});
