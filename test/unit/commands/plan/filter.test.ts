import { expect, test } from 'vitest';
import { UsageError } from '../../../../src/process/exit.ts';
import type { Decision } from '../../../../src/evaluation/plan/document.ts';
import { checkNamespace, goneNotes, listedOf, shownPart } from '../../../../src/evaluation/plan/filter.ts';
import type { PodFilter } from '../../../../src/evaluation/plan/filter.ts';
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

test('a part of a plan has its pods and what belongs to them, with totals of its own', () => {
  const young = of('a', { ...kept, eligibleAt: '2026-01-15T13:00:00Z' });
  const whole = plan({
    decisions: [of('a'), of('b', { order: 2 }), young, container('a/x'), container('ab/x'), image],
    policies: [{ name: 'default', mode: 'Enforce', planned: 5 }],
  });
  const isInA = (name: string): boolean => name.startsWith('a/');
  expect(shownPart(whole, isInA, true).decisions).toEqual([of('a'), young, container('a/x')]);
  const { decisions, totals, policies } = shownPart(whole, isInA, false);
  expect(decisions).toEqual([of('a'), container('a/x')]);
  const place = { bytes: 0, reasons: { Expired: 1, TooYoung: 1 } };
  expect(totals).toEqual([
    { unit: 'podgc', node: null, planned: 1, kept: 1, waiting: 1, ...place },
    { unit: 'containergc', node: 'n', planned: 1, kept: 0, waiting: 0, bytes: 5, reasons: { PodGone: 1 } },
  ]);
  expect(policies).toEqual([{ name: 'default', mode: 'Enforce', planned: 2 }]);
});

test('a count of 0 in a part of a plan is as unknown as in the whole', () => {
  const place = { unit: 'podgc', node: null, planned: 1, kept: 1, waiting: null, reasons: {} } as const;
  const whole = plan({ decisions: [of('a', kept), of('b')], totals: [{ ...place, state: 'Unknown' }] });
  expect(shownPart(whole, (name) => name.startsWith('a/'), true).totals).toMatchObject([
    { planned: null, kept: 1, waiting: null, state: 'Unknown' },
  ]);
});

const namespaces = byUid(['batch', 'web'].map((name) => namespaceOf(name)));
const team = { namespace: 'team', selector: undefined };

/** Why a namespace is refused; '-' = it is not. */
function refusal(namespace: string, facts: Partial<PlanFacts>): string {
  try {
    checkNamespace({ namespace, selector: undefined }, { ...factsOf({}), ...facts });
    return '-';
  } catch (err) {
    return err instanceof UsageError ? err.problems.join() : String(err);
  }
}

const gone = container('a/gone');
const all = [of('a'), gone, container('b/gone'), image];
const goneOf = (decisions: readonly Decision[], filter: Partial<PodFilter> = {}): string => {
  const given = { namespace: undefined, selector: labelled('app', 'web'), ...filter };
  const pods = byUid([pod('x', { namespace: 'a' })]);
  return goneNotes(decisions, given, { ...factsOf({}), pods }).join() || '-';
};

const sentences: Readonly<Record<string, string>> = {
  'a namespace that does not exist': refusal('bacth', { namespaces }),
  'one that is not listed, but has a pod': refusal('late', {
    namespaces,
    pods: byUid([pod('x', { namespace: 'late' })]),
  }),
  'one that may exist: namespaces are not known': refusal('x', { namespaces: undefined }),
  'one of a user who may list no others': refusal('team', { namespaces: new Map(), part: team }),
  'not the one of the snapshot': refusal('web', { namespaces: byUid([namespaceOf('team')]), part: team }),
  'objects of pods that are gone, which labels hide': goneOf(all),
  'the same without labels, which shows them': goneOf(all, { selector: undefined }),
  'one that is kept, and kept objects are not listed': goneOf(listedOf([{ ...gone, ...kept }], false)),
};

test('refused namespaces and the notes on pods that are gone are those of the file', async () => {
  const texts = Object.entries(sentences).map(([name, sentence]) => `${name}: ${sentence}\n`);
  await expect(texts.join('')).toMatchFileSnapshot('./__snapshots__/filter.txt');
});
