import { expect, test } from 'vitest';
import { RateLimit } from '../../../../src/kube/http/rate-limit.ts';
import { FakeClock } from '../../../fakes/clock.ts';

const never = new AbortController().signal;

async function acquireMany(limit: RateLimit, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => limit.acquire(never)));
}

/** Its time does not advance during a sleep, which ends only with an abort. */
class FrozenClock extends FakeClock {
  override sleep(_: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) =>
      signal?.addEventListener('abort', () => {
        resolve();
      }),
    );
  }
}

test.each([
  { name: 'a burst does not wait', qps: 5, burst: 10, count: 10, ms: 0 },
  { name: 'requests after the burst follow at the rate', qps: 5, burst: 10, count: 20, ms: 2000 },
  { name: 'a burst below one counts as one', qps: 2, burst: 0, count: 3, ms: 1000 },
  { name: 'a rate may be below one', qps: 0.5, burst: 1, count: 2, ms: 2000 },
  { name: 'a rate of 0 is no limit', qps: 0, burst: 1, count: 100, ms: 0 },
  { name: 'a negative rate is no limit', qps: -1, burst: 1, count: 100, ms: 0 },
])('$name', async ({ qps, burst, count, ms }) => {
  const clock = new FakeClock();
  await acquireMany(new RateLimit({ qps, burst, clock }), count);
  expect(clock.monotonicMs()).toBe(ms);
});

test('a pause refills the bucket up to the burst', async () => {
  const clock = new FakeClock();
  const limit = new RateLimit({ qps: 10, burst: 4, clock });
  await acquireMany(limit, 4);
  clock.advance(60_000);
  await acquireMany(limit, 4);
  expect(clock.monotonicMs()).toBe(60_000);
  await acquireMany(limit, 1);
  expect(clock.monotonicMs()).toBe(60_100);
});

test('requests are served in their order', async () => {
  const limit = new RateLimit({ qps: 10, burst: 2, clock: new FakeClock() });
  const order: number[] = [];
  await Promise.all([0, 1, 2, 3, 4].map((i) => limit.acquire(never).then(() => order.push(i))));
  expect(order).toEqual([0, 1, 2, 3, 4]);
});

test('an aborted request stops waiting and uses no token', async () => {
  const clock = new FrozenClock();
  const limit = new RateLimit({ qps: 1, burst: 1, clock });
  await limit.acquire(never);
  const first = new AbortController();
  const second = new AbortController();
  const reason = new Error('given up');
  const sleeping = limit.acquire(first.signal);
  const queued = limit.acquire(second.signal);
  second.abort(reason);
  await expect(queued).rejects.toBe(reason);
  first.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
  clock.advance(1000);
  await limit.acquire(never);
});

test.each([{ qps: 0 }, { qps: 1 }])('an aborted signal is rejected at $qps a second', async ({ qps }) => {
  const limit = new RateLimit({ qps, burst: 1, clock: new FakeClock() });
  await expect(limit.acquire(AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
});
