import { expect, test } from 'vitest';
import { createRateLimit } from '../../../../src/kube/http/rate-limit.ts';
import { FakeClock } from '../../../fakes/clock.ts';

const never = new AbortController().signal;

async function takeMany(limit: { take(signal: AbortSignal): Promise<void> }, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => limit.take(never)));
}

/** Time stands still until a sleeper is aborted. */
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
  { name: 'a burst is free', qps: 5, burst: 10, count: 10, ms: 0 },
  { name: 'after it turns come at the rate', qps: 5, burst: 10, count: 20, ms: 2000 },
  { name: 'a burst below one is one', qps: 2, burst: 0, count: 3, ms: 1000 },
  { name: 'a rate below one', qps: 0.5, burst: 1, count: 2, ms: 2000 },
  { name: 'no rate is no limit', qps: 0, burst: 1, count: 100, ms: 0 },
  { name: 'a negative rate is no limit', qps: -1, burst: 1, count: 100, ms: 0 },
])('$name', async ({ qps, burst, count, ms }) => {
  const clock = new FakeClock();
  await takeMany(createRateLimit({ qps, burst, clock }), count);
  expect(clock.monotonicMs()).toBe(ms);
});

test('a rest fills the bucket up to the burst', async () => {
  const clock = new FakeClock();
  const limit = createRateLimit({ qps: 10, burst: 4, clock });
  await takeMany(limit, 4);
  clock.advance(60_000);
  await takeMany(limit, 4);
  expect(clock.monotonicMs()).toBe(60_000);
  await takeMany(limit, 1);
  expect(clock.monotonicMs()).toBe(60_100);
});

test('who comes first goes first', async () => {
  const limit = createRateLimit({ qps: 10, burst: 2, clock: new FakeClock() });
  const order: number[] = [];
  await Promise.all(
    [0, 1, 2, 3, 4].map((i) =>
      limit.take(never).then(() => {
        order.push(i);
      }),
    ),
  );
  expect(order).toEqual([0, 1, 2, 3, 4]);
});

test('who gives up waits no longer and uses no turn', async () => {
  const clock = new FrozenClock();
  const limit = createRateLimit({ qps: 1, burst: 1, clock });
  await limit.take(never);
  const first = new AbortController();
  const second = new AbortController();
  const reason = new Error('given up');
  const sleeping = limit.take(first.signal);
  const queued = limit.take(second.signal);
  second.abort(reason);
  await expect(queued).rejects.toBe(reason);
  first.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
  clock.advance(1000);
  await limit.take(never);
});

test.each([{ qps: 0 }, { qps: 1 }])('an aborted signal gets no turn at $qps a second', async ({ qps }) => {
  const limit = createRateLimit({ qps, burst: 1, clock: new FakeClock() });
  await expect(limit.take(AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
});
