import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/commands/cli/exit.ts';
import type { Decision } from '../../../../src/commands/plan/document.ts';
import {
  checkNamespace,
  goneNotes,
  listedOf,
  shownPart,
  shownPods,
} from '../../../../src/commands/plan/filter.ts';
import type { PodFilter } from '../../../../src/commands/plan/filter.ts';
import type { PlanFacts } from '../../../../src/snapshot/plan-facts.ts';
import { labelled, pod } from '../../../builders.ts';
import { byUid, factsOf, namespaceOf } from '../facts.ts';
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

describe('a namespace', () => {
  const namespaces = byUid(['batch', 'web'].map((name) => namespaceOf(name)));
  const team = { namespace: 'team', selector: undefined };

  test.each<{ name: string; namespace?: string; facts: Partial<PlanFacts>; problem?: string }>([
    { name: 'is not given', facts: { namespaces } },
    { name: 'exists', namespace: 'batch', facts: { namespaces } },
    {
      name: 'does not exist: the nearest name',
      ...{ namespace: 'bacth', facts: { namespaces } },
      problem: 'there is no namespace bacth; did you mean batch?',
    },
    {
      name: 'does not exist, and none is similar',
      ...{ namespace: 'production', facts: { namespaces } },
      problem: 'there is no namespace production',
    },
    {
      name: 'is not among the namespaces, but has a pod',
      ...{ namespace: 'late', facts: { namespaces, pods: byUid([pod('x', { namespace: 'late' })]) } },
    },
    { name: 'may exist: namespaces are not known', namespace: 'x', facts: { namespaces: undefined } },
    {
      name: 'of a user who may list no others does not exist',
      ...{ namespace: 'team', facts: { namespaces: new Map(), part: team } },
      problem: 'there is no namespace team',
    },
    {
      name: 'is not the one of the snapshot',
      ...{ namespace: 'web', facts: { namespaces: byUid([namespaceOf('team')]), part: team } },
      problem: 'the snapshot has no pods of namespace web, only those of namespace team',
    },
    {
      name: 'does not exist in a snapshot of some labels',
      ...{ namespace: 'wbe', facts: { namespaces, part: { namespace: undefined, selector: 'app=web' } } },
      problem: 'there is no namespace wbe; did you mean web?',
    },
  ])('$name', ({ namespace, facts, problem }) => {
    const check = (): void => {
      checkNamespace({ namespace, selector: undefined }, { ...factsOf({}), ...facts });
    };
    if (problem === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(new UsageError([problem]));
  });
});

describe('objects of pods that are gone', () => {
  const pods = byUid([pod('x', { namespace: 'a' })]);
  const app = labelled('app', 'web');
  const sentence = (count: string): string[] => [
    `The labels of pods that are gone are not known: ${count} not shown.`,
  ];
  const gone = container('a/gone');

  test.each<{
    name: string;
    decisions?: readonly Decision[];
    filter?: Partial<PodFilter>;
    facts?: Partial<PlanFacts>;
    notes: readonly string[];
  }>([
    { name: 'are noted if labels hide them', notes: sentence('2 objects of such pods are') },
    { name: 'in a namespace', filter: { namespace: 'b' }, notes: sentence('one object of such a pod is') },
    { name: 'are shown without labels', filter: { selector: undefined }, notes: [] },
    { name: 'are not known without pods', facts: { pods: undefined }, notes: [] },
    {
      name: 'are not known in a part',
      facts: { part: { namespace: undefined, selector: 'app' } },
      notes: [],
    },
    { name: 'do not exist', decisions: [of('a'), container('a/x'), image], notes: [] },
    {
      name: 'are not counted if they are kept and kept objects are not listed',
      decisions: listedOf([{ ...gone, ...kept }], false),
      notes: [],
    },
  ])('$name', ({ decisions = [of('a'), gone, container('b/gone'), image], filter, facts, notes }) => {
    const given = { namespace: undefined, selector: app, ...filter };
    expect(goneNotes(decisions, given, { ...factsOf({}), pods, ...facts })).toEqual(notes);
  });
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
