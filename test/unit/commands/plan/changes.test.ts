import { expect, test } from 'vitest';
import { changesBetween } from '../../../../src/commands/plan/changes.ts';
import type { Decision, PlanObject } from '../../../../src/commands/plan/document.ts';
import { decision, plan } from './builders.ts';

const pod = (uid: string, node: string | null = null): PlanObject => ({
  ...{ kind: 'Pod', namespace: 'web', name: 'same', uid, node },
});
const removal = (object: PlanObject, over: Partial<Decision> = {}): Decision =>
  decision({ unit: 'podgc', verdict: 'Delete', reason: 'Expired', order: 1, object, ...over });
const image = (node: string): PlanObject => ({ kind: 'Image', id: 'sha256:a', node });

test('an object is compared by its identity, whatever removes it', () => {
  const before = plan({ decisions: [removal(pod('a')), removal(pod('b')), removal(image('node-1'))] });
  const again = removal(pod('b'), { reason: 'Terminated', policy: 'new' });
  const after = plan({ decisions: [again, removal(pod('c')), removal(image('node-2'))] });
  const { more, less } = changesBetween(before, after);
  expect(more.map(({ object }) => object)).toEqual([pod('c'), image('node-2')]);
  expect(less.map(({ object }) => object)).toEqual([pod('a'), image('node-1')]);
});

test('kept objects and warnings are no removals', () => {
  const kept = removal(pod('a'), { verdict: 'Keep', reason: 'TooYoung', order: null });
  const changes = changesBetween(plan({ decisions: [kept] }), plan({ decisions: [removal(pod('a'))] }));
  expect(changes).toMatchObject({ more: [{ object: pod('a') }], less: [] });
});

test('names the policies that are new, gone, or change their mode', () => {
  const policies = (modes: Record<string, 'DryRun' | 'Enforce'>) =>
    plan({ policies: Object.entries(modes).map(([name, mode]) => ({ name, mode, planned: 0 })) });
  const { modes } = changesBetween(
    policies({ same: 'Enforce', trial: 'DryRun', old: 'Enforce' }),
    policies({ trial: 'Enforce', same: 'Enforce', extra: 'DryRun' }),
  );
  expect(modes).toEqual([
    { policy: 'extra', before: null, after: 'DryRun' },
    { policy: 'old', before: 'Enforce', after: null },
    { policy: 'trial', before: 'DryRun', after: 'Enforce' },
  ]);
});
