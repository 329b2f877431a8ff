import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byDeletionOrder, DeletionQueue } from '../../../../src/controllers/podgc/order.ts';
import { pod } from '../../../builders.ts';

/** Few ages, few names: many ties. */
const somePod = fc
  .record({
    age: fc.integer({ min: 0, max: 3 }),
    name: fc.constantFrom('a', 'b', 'c'),
    namespace: fc.constantFrom('x', 'y'),
    evicted: fc.boolean(),
  })
  .map(({ age, name, namespace, evicted }) =>
    pod(`${namespace}/${name}`, {
      createdAtMs: 1_700_000_000_000 + age * 700,
      phase: evicted ? 'Failed' : 'Succeeded',
      reason: evicted ? 'Evicted' : '',
    }),
  );

test('returns the surplus over the threshold in order, and the place of each pod', () => {
  fc.assert(
    fc.property(fc.array(somePod, { maxLength: 40 }), fc.integer({ min: 1, max: 45 }), (pods, threshold) => {
      const queue = new DeletionQueue(pods, threshold, { kept: new Map(), due: new Map() });
      const sorted = pods.toSorted(byDeletionOrder);
      expect(queue.surplus()).toEqual(sorted.slice(0, Math.max(0, pods.length - threshold)));
      expect(queue.placeOf(pod('not-counted'))).toBe(0);
      expect(sorted.map((one) => queue.placeOf(one))).toEqual(sorted.map((_, i) => i + 1));
    }),
  );
});

test('orders evicted pods first, then by second of creation, name and namespace', () => {
  const at = (createdAtMs: number) => ({ createdAtMs });
  const pods = [
    pod('x/b', at(1_000)),
    pod('y/a', at(1_999)),
    pod('x/a', at(1_000)),
    pod('x/succeeded', { ...at(5_000), reason: 'Evicted' }),
    pod('x/old', at(999)),
    pod('x/evicted', { ...at(5_000), phase: 'Failed', reason: 'Evicted' }),
  ];
  const names = pods.toSorted(byDeletionOrder).map(({ namespace, name }) => `${namespace}/${name}`);
  expect(names).toEqual(['x/evicted', 'x/old', 'x/a', 'y/a', 'x/b', 'x/succeeded']);
});
