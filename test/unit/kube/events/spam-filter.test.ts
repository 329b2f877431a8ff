import { expect, test } from 'vitest';
import { EventSpamFilter } from '../../../../src/kube/events/spam-filter.ts';

const minuteMs = 60_000;

/** How many of so many new Events about objects are allowed at once. */
const allowed = (
  filter: EventSpamFilter,
  count: number,
  nowMs: number,
  objectOf: (i: number) => string = () => 'one',
): number =>
  Array.from({ length: count }, (_, i) => filter.allows(objectOf(i), nowMs)).filter(Boolean).length;

test('all objects get 200, then ten a second, and never more than 200 at once', () => {
  const filter = new EventSpamFilter(0);
  const own = (i: number): string => `object-${i}`;
  expect(allowed(filter, 300, 0, own)).toBe(200);
  expect(allowed(filter, 300, 1_000, (i) => own(1_000 + i))).toBe(10);
  expect(allowed(filter, 300, 1_000 * minuteMs, (i) => own(2_000 + i))).toBe(200);
});
