import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LabelExpression, LabelSelector } from '../../../src/api/policy/policy.ts';
import { Positions, SelectorIndex } from '../../../src/api/policy/selector-index.ts';

type Labels = Readonly<Record<string, string>>;

const key = fc.constantFrom('a', 'b', 'c', 'constructor');
const value = fc.constantFrom('', 'x', 'y', 'z');
const labels: fc.Arbitrary<Labels> = fc.dictionary(key, value, { maxKeys: 4 });
const expression: fc.Arbitrary<LabelExpression> = fc.record({
  key,
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
  values: fc.array(value, { maxLength: 3 }),
});
const selector: fc.Arbitrary<LabelSelector> = fc.record({
  matchLabels: fc.dictionary(key, value, { maxKeys: 2 }),
  matchExpressions: fc.array(expression, { maxLength: 3 }),
});
const selectors = fc.array(selector, { maxLength: 70, size: 'max' });

/** The reference: checks one requirement after the other. */
function selects({ matchLabels, matchExpressions }: LabelSelector, of: Labels): boolean {
  const own = new Map(Object.entries(of));
  return (
    Object.entries(matchLabels).every(([name, wanted]) => own.get(name) === wanted) &&
    matchExpressions.every(({ key: name, operator, values }) => {
      const is = own.get(name);
      if (operator === 'Exists') return is !== undefined;
      if (operator === 'DoesNotExist') return is === undefined;
      return (is !== undefined && values.includes(is)) === (operator === 'In');
    })
  );
}

function includes(positions: Positions, at: number): boolean {
  const alone = new Positions(at + 1);
  alone.add(at);
  return alone.firstIn(positions) === at;
}

test('finds the selectors that select an object, whatever was searched before', () => {
  fc.assert(
    fc.property(selectors, fc.array(labels, { maxLength: 5 }), (all, objects) => {
      const index = new SelectorIndex(all);
      for (const of of objects) {
        const found = index.select(of);
        expect(all.map((_, at) => includes(found, at))).toEqual(all.map((one) => selects(one, of)));
      }
    }),
  );
});

test('firstIn returns the first position of both sets', () => {
  fc.assert(
    fc.property(selectors, labels, labels, (all, one, other) => {
      const first = all.findIndex((each) => selects(each, one) && selects(each, other));
      expect(new SelectorIndex(all).select(one).firstIn(new SelectorIndex(all).select(other))).toBe(first);
    }),
  );
});
