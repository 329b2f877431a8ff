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
  const { window } = settle(server(40, 20), 30);
  expect(window).toBeGreaterThanOrEqual(40);
  expect(window).toBeLessThanOrEqual(64);
});

test('a server without limits gets the largest window and no more', () => {
  expect(settle(server(1e9, 5), 50).window).toBe(64);
});

test('a 429 halves the window at once', () => {
  const pace: Pace = { window: 40, bestPerSecond: 400, baseLatencyMs: 20 };
  expect(adjustPace(pace, { done: 5, elapsedMs: 10, meanLatencyMs: 2, throttled: 1 }).window).toBe(20);
});

test('never below one', () => {
  let pace: Pace = { window: 3, bestPerSecond: 400, baseLatencyMs: 20 };
  for (let i = 0; i < 5; i++)
    pace = adjustPace(pace, { done: 1, elapsedMs: 10, meanLatencyMs: 2, throttled: 1 });
  expect(pace.window).toBe(1);
});

test('shrinks when latency rises and throughput falls', () => {
  const calm = settle(server(64, 20), 30);
  const pace = adjustPace(calm, { done: calm.window, elapsedMs: 400, meanLatencyMs: 400, throttled: 0 });
  expect(pace.window).toBeLessThan(calm.window);
});

test('recovers after a slow spell', () => {
  const slow = settle(server(2, 200), 40, settle(server(64, 20), 30));
  const after = settle(server(64, 20), 120, slow);
  expect(after.window).toBeGreaterThanOrEqual(40);
});
