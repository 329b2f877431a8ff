import { expect, test } from 'vitest';
import { changesBetween } from '../../../../src/evaluation/plan/changes.ts';
import type { Decision, PlanObject } from '../../../../src/evaluation/plan/document.ts';
import { decision, plan } from './builders.ts';

const pod = (uid: string): PlanObject => ({
  ...{ kind: 'Pod', namespace: 'web', name: 'same', uid, node: null },
});
const removal = (object: PlanObject, over: Partial<Decision> = {}): Decision =>
  decision({ unit: 'podgc', verdict: 'Delete', reason: 'Expired', order: 1, object, ...over });
const image = (node: string): PlanObject => ({ kind: 'Image', id: 'sha256:a', node });

test('a removed object is compared by its identity, whatever removes it; a kept one is none', () => {
  const kept = removal(pod('k'), { verdict: 'Keep', reason: 'TooYoung', order: null });
  const before = plan({ decisions: [removal(pod('a')), removal(pod('b')), removal(image('node-1')), kept] });
  const again = removal(pod('b'), { reason: 'Terminated', policy: 'new' });
  const after = plan({ decisions: [again, removal(pod('k')), removal(image('node-2'))] });
  const { more, less } = changesBetween(before, after);
  expect(more.map(({ object }) => object)).toEqual([pod('k'), image('node-2')]);
  expect(less.map(({ object }) => object)).toEqual([pod('a'), image('node-1')]);
});
