import { expect, test } from 'vitest';
import { adjustPace, initialPace, type Pace, type Round } from '../../../src/runtime/pacing.ts';

/** A server that answers in `serviceMs` while fewer than `lanes` requests are in flight, and queues the rest. */
const server =
  (lanes: number, serviceMs: number) =>
  (window: number): Round => {
    const latency = serviceMs * Math.max(1, window / lanes);
    return { done: window, elapsedMs: latency, meanLatencyMs: latency, throttled: 0 };
  };

function settle(answer: (window: number) => Round, rounds: number, from: Pace = initialPace): Pace {
  let pace = from;
  for (let i = 0; i < rounds; i++) pace = adjustPace(pace, answer(pace.window));
  return pace;
}

test('grows to what the server can do at once, and not far beyond', () => {
  const { window } = settle(server(12, 20), 30, { ...initialPace, window: 4 });
  expect(window).toBeGreaterThanOrEqual(12);
  expect(window).toBeLessThanOrEqual(24);
});

test('a server without limits gets the largest window and no more', () => {
  expect(settle(server(1e9, 5), 50).window).toBe(64);
});

test('a 429 halves the window at once', () => {
  const pace: Pace = { window: 30, bestPerSecond: 400, baseLatencyMs: 20 };
  expect(adjustPace(pace, { done: 5, elapsedMs: 10, meanLatencyMs: 2, throttled: 1 }).window).toBe(15);
});

test('never below one', () => {
  let pace: Pace = { window: 3, bestPerSecond: 400, baseLatencyMs: 20 };
  for (let i = 0; i < 5; i++)
    pace = adjustPace(pace, { done: 1, elapsedMs: 10, meanLatencyMs: 2, throttled: 1 });
  expect(pace.window).toBe(1);
});

test('shrinks when latency rises and throughput falls', () => {
  const calm = settle(server(32, 20), 30);
  const pace = adjustPace(calm, { done: calm.window, elapsedMs: 400, meanLatencyMs: 400, throttled: 0 });
  expect(pace.window).toBeLessThan(calm.window);
});

test('recovers after a slow spell', () => {
  const slow = settle(server(2, 200), 40, settle(server(32, 20), 30));
  const after = settle(server(32, 20), 120, slow);
  expect(after.window).toBeGreaterThanOrEqual(20);
});

test('a slow spell costs what the rate lost, once, and is made up for when it is over', () => {
  const calm = settle(server(32, 20), 30);
  const slow = (window: number): Round => server(12, 20)(window);
  const during = settle(slow, 10, calm);
  expect(during.window).toBeGreaterThanOrEqual(11);
  expect(during.window).toBeLessThan(calm.window);
  expect(settle(server(32, 20), 5, during).window).toBeGreaterThanOrEqual(calm.window);
});

test.each([
  { name: 'rising latency alone leaves a few in flight', window: 12, throttled: 0, expected: 8 },
  { name: 'and does not make a small window larger', window: 3, throttled: 0, expected: 3 },
  { name: 'a 429 cuts deeper', window: 8, throttled: 1, expected: 4 },
])('$name', ({ window, throttled, expected }) => {
  const pace: Pace = { window, bestPerSecond: 400, baseLatencyMs: 20 };
  const round: Round = { done: window, elapsedMs: 2_000, meanLatencyMs: 2_000, throttled };
  expect(adjustPace(pace, round).window).toBe(expected);
});
