import fc from 'fast-check';
import { expect, test } from 'vitest';
import { property } from '../../property.ts';
import { actionsOf, faultsOf, podKinds, victims } from '../../stress/actions.ts';

const first = <T>(count: number, items: Iterator<T>): readonly T[] =>
  Array.from({ length: count }, () => items.next().value as T);

test('a seed always gives the same actions and faults', property, () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      expect(first(50, actionsOf(seed))).toEqual(first(50, actionsOf(seed)));
      expect(first(50, faultsOf(seed))).toEqual(first(50, faultsOf(seed)));
    }),
  );
});

test('another seed gives other actions and faults', () => {
  expect(first(10, actionsOf(1))).not.toEqual(first(10, actionsOf(2)));
  expect(first(10, faultsOf(1))).not.toEqual(first(10, faultsOf(2)));
});

test('a run has every kind of action and of pod, and both faults of every victim, and silence', () => {
  const actions = first(400, actionsOf(1)).map(({ step }) => step);
  expect(new Set(actions.map((step) => step.do))).toEqual(new Set(['start', 'delete', 'pull', 'drop']));
  const started = actions.flatMap((step) => (step.do === 'start' ? [step.kind] : []));
  expect(new Set(started)).toEqual(new Set(podKinds));
  const faults = first(100, faultsOf(1)).map(({ step }) => `${step.do} ${step.victim}`);
  const all = victims.flatMap((victim) => [`kill ${victim}`, `pause ${victim}`]);
  expect(new Set(faults)).toEqual(new Set([...all, 'silence api']));
});
