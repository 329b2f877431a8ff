import { describe, expect, test } from 'vitest';
import { ConnectionError } from '../../../../src/kube/http/connection-errors.ts';
import { isTransient, retrying } from '../../../../src/kube/http/retry.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';

const broken = (code: string): ConnectionError => new ConnectionError('broken', { code });
const rejected = (status: number): ApiError => new ApiError('no', { status });

test.each([
  { err: rejected(429), expected: true },
  { err: rejected(500), expected: true },
  { err: rejected(404), expected: false },
  { err: broken('ECONNREFUSED'), expected: true },
  { err: broken('CERT_HAS_EXPIRED'), expected: false },
  { err: broken('EPROTO'), expected: false },
  { err: new TypeError('a bug'), expected: false },
])('is transient: $err.status $err.code: $expected', ({ err, expected }) => {
  expect(isTransient(err)).toBe(expected);
});

test.each([
  { random: 0, waits: [125, 250, 500, 1_000, 2_000, 4_000, 5_000, 5_000] },
  { random: 1, waits: [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000] },
])('the waits between attempts with jitter $random', async ({ random, waits }) => {
  const slept: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    slept.push(ms);
    return Promise.resolve();
  };
  const given = { retries: waits.length, clock: { sleep }, random: () => random, isOver: () => false };
  const once = (): Promise<never> => Promise.reject(rejected(503));
  await expect(retrying(once, given, new AbortController().signal)).rejects.toThrow('no');
  expect(slept).toEqual(waits);
});

describe('nothing is sent again', () => {
  /** Fails each time. Returns the number of attempts and of waits, and the error. */
  async function failing({
    retries = 1,
    during,
    inTheWait,
  }: {
    retries?: number;
    during?: (stop: AbortController) => void;
    inTheWait?: (stop: AbortController) => void;
  }) {
    const stop = new AbortController();
    const count = { attempts: 0, waits: 0 };
    const once = (): Promise<never> => {
      count.attempts += 1;
      during?.(stop);
      return Promise.reject(broken('ECONNRESET'));
    };
    const sleep = (): Promise<void> => {
      count.waits += 1;
      inTheWait?.(stop);
      return Promise.resolve();
    };
    const given = { retries, clock: { sleep }, random: () => 0, isOver: () => false };
    const error = await retrying(once, given, stop.signal).catch((err: unknown) => err);
    return { ...count, error };
  }
  const reason = new Error('stopping');
  const abort = (stop: AbortController): void => {
    stop.abort(reason);
  };

  test('after an abort, which is the error', async () => {
    const expected = { attempts: 1, waits: 0, error: reason };
    expect(await failing({ during: abort })).toEqual(expected);
    expect(await failing({ during: abort, retries: 0 })).toEqual(expected);
  });

  test('after an abort in the wait', async () => {
    expect(await failing({ inTheWait: abort })).toEqual({ attempts: 1, waits: 1, error: reason });
  });
});
