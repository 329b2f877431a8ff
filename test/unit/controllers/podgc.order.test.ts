import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byTurn, firstInTurn, inTurn } from '../../../src/controllers/podgc/order.ts';
import { pod } from '../../builders.ts';
import { property } from '../../property.ts';

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

test('the first few are those that a sort of all would put first', property, () => {
  fc.assert(
    fc.property(fc.array(somePod, { maxLength: 40 }), fc.integer({ min: 0, max: 45 }), (pods, count) => {
      expect(firstInTurn(pods, count)).toEqual(pods.toSorted(byTurn).slice(0, count));
    }),
  );
});

test('evicted first, then the oldest second, then by name, then by namespace', () => {
  const at = (createdAtMs: number) => ({ createdAtMs });
  const pods = [
    pod('x/b', at(1_000)),
    pod('y/a', at(1_999)),
    pod('x/a', at(1_000)),
    pod('x/old', at(999)),
    pod('x/evicted', { ...at(5_000), phase: 'Failed', reason: 'Evicted' }),
  ];
  const names = inTurn(pods).map(({ namespace, name }) => `${namespace}/${name}`);
  expect(names).toEqual(['x/evicted', 'x/old', 'x/a', 'y/a', 'x/b']);
});

test('more pods than positions are ranked all the same', () => {
  const last = pod('z');
  const many = Array.from({ length: 2 ** 19 }, () => last);
  many.push(pod('a'), pod('old', { createdAtMs: 0 }));
  expect(firstInTurn(many, 3).map(({ name }) => name)).toEqual(['old', 'a', 'z']);
});

test('the whole order is that of a plain sort', property, () => {
  fc.assert(
    fc.property(fc.array(somePod, { maxLength: 40 }), (pods) => {
      expect(inTurn(pods)).toEqual([...pods].sort(byTurn));
    }),
  );
});
