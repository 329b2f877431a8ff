import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LabelExpression, LabelSelector } from '../../../src/api/policy/policy.ts';
import { Positions, SelectorIndex } from '../../../src/api/policy/selector-index.ts';
import { parseSelector } from '../../../src/api/policy/selector-text.ts';

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

function selectsText(text: string, labels: Labels): boolean {
  const parsed = parseSelector(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  const found = new SelectorIndex([parsed]).select(labels);
  return found.firstIn(found) === 0;
}

describe('a selector as in kubectl get -l', () => {
  test.each<{ text: string; yes: readonly Labels[]; no: readonly Labels[] }>([
    { text: 'app=web', yes: [{ app: 'web' }], no: [{ app: 'db' }, {}] },
    { text: ' app = web ', yes: [{ app: 'web' }], no: [{}] },
    { text: 'app!=web', yes: [{ app: 'db' }, {}], no: [{ app: 'web' }] },
    { text: 'app in (web, db)', yes: [{ app: 'web' }, { app: 'db' }], no: [{ app: 'x' }, {}] },
    { text: 'app in (web,)', yes: [{ app: 'web' }, { app: '' }], no: [{}] },
    { text: 'app notin (web,db)', yes: [{ app: 'x' }, {}], no: [{ app: 'web' }, { app: 'db' }] },
    { text: 'app', yes: [{ app: 'web' }, { app: '' }], no: [{}] },
    { text: '!app', yes: [{}], no: [{ app: 'web' }] },
    {
      text: 'example.com/app in (a,b),tier!=x,env',
      yes: [{ 'example.com/app': 'b', env: 'e' }],
      no: [{ 'example.com/app': 'b', env: 'e', tier: 'x' }, { 'example.com/app': 'b' }],
    },
    { text: 'app=a,app=b', yes: [], no: [{ app: 'a' }, { app: 'b' }] },
    { text: 'in', yes: [{ in: 'x' }], no: [{}] },
  ])('$text', ({ text, yes, no }) => {
    expect(yes.filter((labels) => !selectsText(text, labels))).toEqual([]);
    expect(no.filter((labels) => selectsText(text, labels))).toEqual([]);
  });
});

const long = 'a'.repeat(64);

test.each([
  { name: 'nothing', text: ' ', problem: '"": use KEY=VALUE, ' },
  { name: 'an end that is a comma', text: 'app=web,', problem: '"": use ' },
  { name: 'two words', text: 'app web', problem: '"app web": use ' },
  { name: 'no values', text: 'app in ()', problem: '"app in ()": use ' },
  { name: 'an open parenthesis', text: 'app in (web', problem: '"app in (web": use ' },
  { name: 'a comparison of numbers', text: 'size>3', problem: '"size>3": use KEY=VALUE, KEY!=VALUE, ' },
  { name: 'a prefix in upper case', text: 'A.b/app', problem: '"A.b/app" is not the key of a label' },
  { name: 'a key with an empty name', text: 'a/=x', problem: '"a/" is not the key of a label' },
  { name: 'a key that is too long', text: long, problem: `"${long}" is not the key of a label` },
  { name: 'a value that ends with a dash', text: 'app=web-', problem: '"web-" is not the value of a label' },
])('a bad selector is refused: $name', ({ text, problem }) => {
  expect(parseSelector(text)).toEqual({ problem: expect.stringContaining(problem) as string });
});
