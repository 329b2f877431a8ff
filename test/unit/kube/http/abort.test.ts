import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort, untilAborted } from '../../../../src/kube/http/abort.ts';

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
const reason = new Error('stop');

test('everything that waits on a signal is told, what was forgotten is not', () => {
  const { signal, abort } = controller();
  const told: string[] = [];
  onAbort(signal, () => told.push('a'));
  const forget = onAbort(signal, () => told.push('b'));
  onAbort(signal, () => told.push('c'));
  forget();
  abort();
  expect(told).toEqual(['a', 'c']);
});

test('one function handed in twice is called twice, and forgotten once at a time', () => {
  const { signal, abort } = controller();
  let calls = 0;
  const act = (): void => {
    calls++;
  };
  onAbort(signal, act);
  onAbort(signal, act)();
  abort();
  expect(calls).toBe(1);
});

test('an aborted signal acts at once', () => {
  let calls = 0;
  onAbort(AbortSignal.abort(), () => calls++);
  expect(calls).toBe(1);
});

test('a signal has one listener for all, and none when nobody waits', () => {
  const { signal } = controller();
  const forget = [0, 1, 2].map(() => onAbort(signal, () => undefined));
  expect(listenersOf(signal)).toBe(1);
  for (const one of forget) one();
  expect(listenersOf(signal)).toBe(0);
});

test('to forget twice takes nothing from those who came later', () => {
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
])('a wait that $name does as its promise and leaves nothing behind', async ({ promise, outcome }) => {
  const { signal } = controller();
  expect(await untilAborted<unknown>(promise(), signal).catch((err: unknown) => err)).toBe(outcome);
  await Promise.resolve();
  expect(listenersOf(signal)).toBe(0);
});

test('a wait ends with the reason of the abort', async () => {
  const { signal, abort } = controller();
  const wait = untilAborted(new Promise(() => undefined), signal);
  abort();
  await expect(wait).rejects.toBe(reason);
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
