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

  const ofTeam = { namespaces: byUid([namespaceOf('team')]), part: team };
  const labelledPart = { namespace: undefined, selector: 'app=web' };
  const late = byUid([pod('x', { namespace: 'late' })]);

  test.each<readonly [string, string | undefined, Partial<PlanFacts>, problem: string | undefined]>([
    ['is not given', undefined, { namespaces }, undefined],
    ['exists', 'batch', { namespaces }, undefined],
    ['does not exist', 'bacth', { namespaces }, 'there is no namespace bacth; did you mean batch?'],
    ['is like no other', 'production', { namespaces }, 'there is no namespace production'],
    ['is not among the namespaces, but has a pod', 'late', { namespaces, pods: late }, undefined],
    ['may exist: namespaces are not known', 'x', { namespaces: undefined }, undefined],
    [
      'of a user who may list no others does not exist',
      'team',
      { namespaces: new Map(), part: team },
      'there is no namespace team',
    ],
    [
      'is not the one of the snapshot',
      'web',
      ofTeam,
      'the snapshot has no pods of namespace web, only those of namespace team',
    ],
    [
      'does not exist in a snapshot of some labels',
      'wbe',
      { namespaces, part: labelledPart },
      'there is no namespace wbe; did you mean web?',
    ],
  ])('%s', (_, namespace, facts, problem) => {
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

  const all = [of('a'), gone, container('b/gone'), image];

  interface Given {
    readonly decisions?: readonly Decision[];
    readonly filter?: Partial<PodFilter>;
    readonly facts?: Partial<PlanFacts>;
  }

  test.each<readonly [string, Given, notes: readonly string[]]>([
    ['are noted if labels hide them', {}, sentence('2 objects of such pods are')],
    ['in a namespace', { filter: { namespace: 'b' } }, sentence('one object of such a pod is')],
    ['are shown without labels', { filter: { selector: undefined } }, []],
    ['are not known without pods', { facts: { pods: undefined } }, []],
    ['are not known in a part', { facts: { part: { namespace: undefined, selector: 'app' } } }, []],
    ['do not exist', { decisions: [of('a'), container('a/x'), image] }, []],
    [
      'are not counted if they are kept and kept objects are not listed',
      { decisions: listedOf([{ ...gone, ...kept }], false) },
      [],
    ],
  ])('%s', (_, { decisions = all, filter, facts }, notes) => {
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
  const facts = factsOf({ pods });
  const web = labelled('app', 'web');

  test.each([
    ['all pods without a filter', {}, 'all'],
    ['the pods of a namespace, known or not', { namespace: 'a' }, ['a/web', 'a/db', 'a/gone']],
    ['the pods with the labels', { selector: web }, ['a/web', 'ab/web']],
    ['those of one namespace', { namespace: 'a', selector: web }, ['a/web']],
    ['no pod with other labels', { selector: labelled('app', 'x') }, []],
    ['no pod with labels where pods are not known', { selector: web }, [], true],
  ])('%s', (_, filter, shown, unknown = false) => {
    const given = { namespace: undefined, selector: undefined, ...filter };
    const isShown = shownPods(given, unknown ? { ...facts, pods: undefined } : facts);
    const names = ['a/web', 'a/db', 'a/gone', 'ab/web'];
    expect(isShown === undefined ? 'all' : names.filter(isShown)).toEqual(shown);
  });
});
