import { describe, expect, test } from 'vitest';
import type { Decision } from '../../../../src/commands/plan/document.ts';
import { shownPart, shownPods } from '../../../../src/commands/plan/filter.ts';
import type { PlanFacts } from '../../../../src/snapshot/plan-facts.ts';
import { labelled, pod } from '../../../builders.ts';
import { decision, plan } from './builders.ts';

const of = (namespace: string, over: Partial<Decision> = {}): Decision =>
  decision({
    ...{ unit: 'podgc', verdict: 'Delete', reason: 'Expired', policy: 'default', mode: 'Enforce', order: 1 },
    object: { kind: 'Pod', namespace, name: 'x', uid: namespace, node: 'n' },
    ...over,
  });
const kept = { verdict: 'Keep', reason: 'TooYoung', order: null, bytes: null } as const;
const container = (pod: string): Decision =>
  of('', {
    ...{ unit: 'containergc', verdict: 'Remove', reason: 'PodGone', bytes: 5 },
    object: { kind: 'Container', id: 'c', node: 'n', pod },
  });
const image = of('', { unit: 'imagegc', object: { kind: 'Image', id: 'i', node: 'n' } });

const whole = plan({
  decisions: [
    of('a'),
    of('b', { order: 2 }),
    of('a', { ...kept, eligibleAt: '2026-01-15T13:00:00Z' }),
    container('a/x'),
    container('ab/x'),
    image,
  ],
  policies: [{ name: 'default', mode: 'Enforce', planned: 5 }],
});

const only =
  (namespace: string) =>
  (name: string): boolean =>
    name.startsWith(`${namespace}/`);

test('has the pods of the namespace and what belongs to them, with totals of their own', () => {
  const { decisions, totals, policies } = shownPart(whole, only('a'), false);
  expect(decisions).toEqual([of('a'), container('a/x')]);
  const place = { bytes: 0, reasons: { Expired: 1, TooYoung: 1 } };
  expect(totals).toEqual([
    { unit: 'podgc', node: null, planned: 1, kept: 1, waiting: 1, ...place },
    { unit: 'containergc', node: 'n', planned: 1, kept: 0, waiting: 0, bytes: 5, reasons: { PodGone: 1 } },
  ]);
  expect(policies).toEqual([{ name: 'default', mode: 'Enforce', planned: 2 }]);
});

test('has kept objects if they are to be listed', () => {
  expect(shownPart(whole, only('a'), true).decisions).toHaveLength(3);
  expect(shownPart(whole, only('c'), true)).toMatchObject({ decisions: [], totals: [] });
});

describe('shows', () => {
  const pods = [
    pod('web', { namespace: 'a', uid: '1', labels: { app: 'web' } }),
    pod('db', { namespace: 'a', uid: '2', labels: { app: 'db' } }),
    pod('web', { namespace: 'ab', uid: '3', labels: { app: 'web' } }),
  ];
  const facts: PlanFacts = {
    ...{ policies: [], nodes: undefined, namespaces: undefined, jobs: undefined, replicaSets: undefined },
    ...{ parts: [], reports: [], notes: [] },
    pods: new Map(pods.map((one) => [one.uid, one])),
  };
  const web = labelled('app', 'web');

  test.each([
    { name: 'all pods without a filter', filter: {}, shown: 'all' },
    {
      name: 'the pods of a namespace, known or not',
      filter: { namespace: 'a' },
      shown: ['a/web', 'a/db', 'a/gone'],
    },
    { name: 'the pods with the labels', filter: { selector: web }, shown: ['a/web', 'ab/web'] },
    { name: 'those of one namespace', filter: { namespace: 'a', selector: web }, shown: ['a/web'] },
    { name: 'no pod with other labels', filter: { selector: labelled('app', 'x') }, shown: [] },
    {
      name: 'no pod with labels where pods are not known',
      filter: { selector: web },
      shown: [],
      unknown: true,
    },
  ])('$name', ({ filter, shown, unknown = false }) => {
    const given = { namespace: undefined, selector: undefined, ...filter };
    const isShown = shownPods(given, unknown ? { ...facts, pods: undefined } : facts);
    const names = ['a/web', 'a/db', 'a/gone', 'ab/web'];
    expect(isShown === undefined ? 'all' : names.filter(isShown)).toEqual(shown);
  });
});
