import { expect, test } from 'vitest';
import type { LabelExpression, LabelSelector } from '../../../src/api/policy/policy.ts';
import { SelectorIndex } from '../../../src/api/policy/selector-index.ts';
import { selectorKeys, selectsAll } from '../../../src/api/policy/selector.ts';

const selector = (matchLabels: Record<string, string>, ...matchExpressions: LabelExpression[]) => ({
  matchLabels,
  matchExpressions,
});
const needs = (key: string, operator: LabelExpression['operator'], ...values: string[]): LabelExpression => ({
  key,
  operator,
  values,
});
const labels = { app: 'web', tier: '', 'example.com/team': 'a' };

function isSelected(wanted: LabelSelector): boolean {
  const selecting = new SelectorIndex([wanted]).select(labels);
  return selecting.firstIn(selecting) === 0;
}

test.each([
  ['the empty selector', selector({})],
  ['one label', selector({ app: 'web' })],
  ['all labels', selector({ app: 'web', 'example.com/team': 'a' })],
  ['an empty value', selector({ tier: '' })],
  ['In', selector({}, needs('app', 'In', 'db', 'web'))],
  ['In that names its value twice', selector({}, needs('app', 'In', 'web', 'web'), needs('tier', 'Exists'))],
  ['NotIn with another value', selector({}, needs('app', 'NotIn', 'db'))],
  ['NotIn of an absent label', selector({}, needs('none', 'NotIn', 'db'))],
  ['Exists', selector({}, needs('tier', 'Exists'))],
  ['DoesNotExist', selector({}, needs('none', 'DoesNotExist'))],
  ['DoesNotExist of a name that objects have by nature', selector({}, needs('constructor', 'DoesNotExist'))],
  ['labels and expressions', selector({ app: 'web' }, needs('tier', 'Exists'), needs('app', 'In', 'web'))],
])('selects by %s', (_name, wanted) => {
  expect(isSelected(wanted)).toBe(true);
});

test.each([
  ['another value', selector({ app: 'db' })],
  ['one of two labels', selector({ app: 'web', none: 'x' })],
  ['an empty value where the label is absent', selector({ none: '' })],
  ['In of an absent label', selector({}, needs('none', 'In', 'x'))],
  ['In with other values', selector({}, needs('app', 'In', 'db'))],
  ['NotIn with its value', selector({}, needs('app', 'NotIn', 'db', 'web'))],
  ['Exists of an absent label', selector({}, needs('none', 'Exists'))],
  ['Exists of a name that objects have by nature', selector({}, needs('constructor', 'Exists'))],
  ['DoesNotExist', selector({}, needs('app', 'DoesNotExist'))],
  [
    'In that names its value twice, beside another',
    selector({}, needs('app', 'In', 'web', 'web'), needs('none', 'Exists')),
  ],
  ['an expression beside a label', selector({ app: 'web' }, needs('tier', 'DoesNotExist'))],
])('does not select by %s', (_name, wanted) => {
  expect(isSelected(wanted)).toBe(false);
});

test('selectorKeys names each key once', () => {
  expect(selectorKeys(selector({ a: '1', b: '2' }, needs('b', 'Exists'), needs('c', 'Exists')))).toEqual([
    'a',
    'b',
    'c',
  ]);
});

test.each([
  [selector({}), true],
  [selector({ a: '' }), false],
  [selector({}, needs('a', 'DoesNotExist')), false],
])('selectsAll of %j is %s', (wanted, expected) => {
  expect(selectsAll(wanted)).toBe(expected);
});
