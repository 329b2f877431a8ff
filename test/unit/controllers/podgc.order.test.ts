import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byTurn, firstInTurn, inTurn } from '../../../src/controllers/podgc/order.ts';
import type { PodFacts } from '../../../src/kube/objects.ts';
import { pod } from '../../builders.ts';
import { property } from '../../property.ts';

/** Few ages, few names: many ties. */
const somePod = fc
  .record({
    age: fc.integer({ min: 0, max: 3 }),
    name: fc.constantFrom('a', 'b', 'c'),
    namespace: fc.constantFrom('x', 'y'),
    evicted: fc.boolean(),
    held: fc.boolean(),
  })
  .map(({ age, name, namespace, evicted, held }) =>
    pod(`${namespace}/${name}`, {
      createdAtMs: 1_700_000_000_000 + age * 700,
      phase: evicted ? 'Failed' : 'Succeeded',
      reason: evicted ? 'Evicted' : '',
      finalizers: held ? ['f'] : [],
    }),
  );

const mayGo = ({ finalizers }: PodFacts): boolean => finalizers.length === 0;

test('the first few are those that a sort of all would put first', property, () => {
  fc.assert(
    fc.property(fc.array(somePod, { maxLength: 40 }), fc.integer({ min: 0, max: 45 }), (pods, count) => {
      const sorted = pods.filter(mayGo).sort(byTurn);
      expect(firstInTurn(pods, count, mayGo)).toEqual(sorted.slice(0, count));
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
  many.push(pod('a'), pod('held', { createdAtMs: 0, finalizers: ['f'] }));
  expect(
    inTurn(many)
      .slice(0, 2)
      .map(({ name }) => name),
  ).toEqual(['held', 'a']);
  expect(firstInTurn(many, 2, mayGo).map(({ name }) => name)).toEqual(['a', 'z']);
});

test('the whole order is that of a plain sort', property, () => {
  fc.assert(
    fc.property(fc.array(somePod, { maxLength: 40 }), (pods) => {
      expect(inTurn(pods)).toEqual([...pods].sort(byTurn));
    }),
  );
});
