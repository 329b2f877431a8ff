import { expect, test } from 'vitest';
import { planImageGc } from '../../../src/agent/imagegc/plan.ts';
import { now } from '../../builders.ts';
import { image } from '../../fakes/runtime.ts';
import { facts, imageRule, told } from './imagegc.bed.ts';

test.each([
  { name: 'while only other things are pinned stays', other: 'docker.io/library/b:1', reason: 'Pinned' },
  { name: 'goes once another one is pinned', other: 'registry.k8s.io/pause:3.11', reason: undefined },
])('what sandboxes are made of $name', ({ other, reason }) => {
  const pause = image('a', { tags: ['registry.k8s.io/pause:3.10'] });
  const listed = [pause, image('b', { tags: [other], pinned: true })];
  const { goes, stays } = told(planImageGc(facts(listed), { policy: imageRule(), now }));
  expect(stays['a']).toBe(reason);
  expect(goes).toEqual(reason === undefined ? ['a Space'] : []);
});
