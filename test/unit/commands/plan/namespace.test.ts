import { expect, test } from 'vitest';
import type { Decision } from '../../../../src/commands/plan/document.ts';
import { inNamespace } from '../../../../src/commands/plan/namespace.ts';
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

test('has the pods of the namespace and what belongs to them, with totals of their own', () => {
  const { decisions, totals, policies } = inNamespace(whole, 'a', false);
  expect(decisions).toEqual([of('a'), container('a/x')]);
  const place = { bytes: 0, reasons: { Expired: 1, TooYoung: 1 } };
  expect(totals).toEqual([
    { unit: 'podgc', node: null, planned: 1, kept: 1, waiting: 1, ...place },
    { unit: 'containergc', node: 'n', planned: 1, kept: 0, waiting: 0, bytes: 5, reasons: { PodGone: 1 } },
  ]);
  expect(policies).toEqual([{ name: 'default', mode: 'Enforce', planned: 2 }]);
});

test('has kept objects if they are to be listed', () => {
  expect(inNamespace(whole, 'a', true).decisions).toHaveLength(3);
  expect(inNamespace(whole, 'c', true)).toMatchObject({ decisions: [], totals: [] });
});
