import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { onAbort, deadlineAfter, untilAborted } from '../../../../src/kube/http/abort.ts';
import { SettlingClock, settled } from '../../../fakes/settling-clock.ts';

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
const reason = new Error('stop');

test('an abort calls every callback that was not removed', () => {
  const { signal, abort } = controller();
  const called: string[] = [];
  onAbort(signal, () => called.push('a'));
  const forget = onAbort(signal, () => called.push('b'));
  onAbort(signal, () => called.push('c'));
  forget();
  abort();
  expect(called).toEqual(['a', 'c']);
});

test('a callback that was added twice can be removed once', () => {
  const { signal, abort } = controller();
  let calls = 0;
  const callback = (): void => {
    calls++;
  };
  onAbort(signal, callback);
  onAbort(signal, callback)();
  abort();
  expect(calls).toBe(1);
});

test('an aborted signal calls back at once', () => {
  let calls = 0;
  onAbort(AbortSignal.abort(), () => calls++);
  expect(calls).toBe(1);
});

test('a signal has one listener for all callbacks, and none without callbacks', () => {
  const { signal } = controller();
  const forget = [0, 1, 2].map(() => onAbort(signal, () => undefined));
  expect(listenersOf(signal)).toBe(1);
  for (const one of forget) one();
  expect(listenersOf(signal)).toBe(0);
});

test('a second removal does not affect later callbacks', () => {
  const { signal, abort } = controller();
  const forget = onAbort(signal, () => undefined);
  forget();
  let calls = 0;
  const forgetLater = onAbort(signal, () => calls++);
  forget();
  onAbort(signal, () => calls++);
  expect(listenersOf(signal)).toBe(1);
  abort();
  expect(calls).toBe(2);
  forgetLater();
});

test.each([
  { name: 'resolves', promise: () => Promise.resolve(1), outcome: 1 },
  { name: 'rejects', promise: () => Promise.reject(reason), outcome: reason },
])('a wait $name as its promise does and removes its listener', async ({ promise, outcome }) => {
  const { signal } = controller();
  expect(await untilAborted<unknown>(promise(), signal).catch((err: unknown) => err)).toBe(outcome);
  await Promise.resolve();
  expect(listenersOf(signal)).toBe(0);
});

test('a wait rejects with the reason of the abort', async () => {
  const { signal, abort } = controller();
  const wait = untilAborted(new Promise(() => undefined), signal);
  abort();
  await expect(wait).rejects.toBe(reason);
});

describe('a deadline', () => {
  const late = new Error('late');
  const started = () => {
    const { signal, abort } = controller();
    const clock = new SettlingClock();
    return { clock, abort, deadline: deadlineAfter(clock, 1_000, () => late, signal) };
  };

  test('aborts with its error when it has passed', async () => {
    const { clock, deadline } = started();
    await clock.advance(999);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.reason).toBe(late);
  });

  test('can be extended', async () => {
    const { clock, deadline } = started();
    await clock.advance(900);
    const later = new Error('later');
    deadline.extend(500, () => later);
    await clock.advance(499);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.reason).toBe(later);
  });

  test('never passes after its end', async () => {
    const { clock, deadline } = started();
    deadline.stop();
    await clock.advance(1_000);
    expect([deadline.signal.aborted, clock.sleeping]).toEqual([false, 0]);
  });

  test('passes an abort on, with its reason', async () => {
    const { clock, deadline, abort } = started();
    abort();
    await settled();
    await clock.advance(1_000);
    expect(deadline.signal.reason).toBe(reason);
  });
});

function controller(): { signal: AbortSignal; abort: () => void } {
  const made = new AbortController();
  return {
    signal: made.signal,
    abort: () => {
      made.abort(reason);
    },
  };
}
