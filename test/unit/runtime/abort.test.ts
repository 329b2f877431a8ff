import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from '../../../src/runtime/scheduling/abort.ts';

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

function controller(): { signal: AbortSignal; abort: () => void } {
  const made = new AbortController();
  return {
    signal: made.signal,
    abort: () => {
      made.abort(reason);
    },
  };
}
