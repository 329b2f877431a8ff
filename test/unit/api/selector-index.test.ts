import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeMatcher, podMatcher } from '../../../src/api/policy/matching.ts';
import type { LabelExpression, LabelSelector } from '../../../src/api/policy/policy.ts';
import { Positions, SelectorIndex } from '../../../src/api/policy/selector-index.ts';
import { labelled, nodesRules, policy } from '../../builders.ts';

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

/** A selector of one label that counts how often it was read. */
function counting(name: string): { readonly selector: LabelSelector; readonly visits: () => number } {
  let visits = 0;
  const { matchLabels } = labelled('team', name);
  const matchExpressions = [
    {
      key: 'tier',
      operator: 'NotIn' as const,
      get values() {
        visits++;
        return ['none'];
      },
    },
  ];
  return { selector: { matchLabels, matchExpressions }, visits: () => visits };
}

const many = Array.from({ length: 200 }, (_, i) => `team-${i}`);

test.each([1, 300])('matching %i pods, namespaces and nodes reads each policy once', (count) => {
  const made = many.map((name) => ({
    name,
    ...{ ofPod: counting(name), ofNamespace: counting(name), ofNode: counting(name) },
  }));
  const policies = made.map(({ name, ofPod, ofNamespace, ofNode }) => ({
    ...policy({ name, pods: { podSelector: ofPod.selector, namespaceSelector: ofNamespace.selector } }),
    nodes: nodesRules({ nodeSelector: ofNode.selector }),
  }));
  const teamOf = (i: number): Labels => ({ team: `team-${i % 200}`, tier: 'front' });
  const namespaces = new Map(Array.from({ length: count }, (_, i) => [`namespace-${i}`, teamOf(i)]));
  const governorOf = podMatcher(policies, namespaces);
  const ofNode = nodeMatcher(policies);
  for (let i = 0; i < count; i++) {
    expect(governorOf({ namespace: `namespace-${i}`, labels: teamOf(i) })).toBe(policies[i % 200]);
    expect(governorOf({ namespace: `namespace-${i}`, labels: teamOf(i + 1) })).toBeUndefined();
    expect(ofNode(teamOf(i))).toBe(policies[i % 200]);
  }
  for (const one of made)
    expect([one.ofPod, one.ofNamespace, one.ofNode].map(({ visits }) => visits())).toEqual([1, 1, 1]);
});
