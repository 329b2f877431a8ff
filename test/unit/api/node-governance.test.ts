import { expect, test } from 'vitest';
import { governNode, isSamePolicy } from '../../../src/api/policy/node-governance.ts';
import type { InvalidPolicy, Policy } from '../../../src/api/policy/policy.ts';
import { labelled, node, policy } from '../../builders.ts';
import { evictPolicy, keepMark } from '../controllers/eviction.world.ts';

const broken: InvalidPolicy = {
  ...{ name: 'broken', uid: 'uid-broken', generation: 1, priority: 9, problems: ['spec.nodes: bad'] },
};
const gpu = evictPolicy({}, { name: 'gpu', priority: 5, selector: labelled('gpu', 'yes') });
const all = evictPolicy({}, { name: 'all' });

test.each<{
  readonly name: string;
  readonly ranked: readonly (Policy | InvalidPolicy)[] | undefined;
  readonly on: ReturnType<typeof node> | undefined;
  readonly says: string;
}>([
  { name: 'the first that selects the node', ranked: [gpu, all], on: node('n'), says: 'governed all' },
  {
    name: 'by its labels',
    ranked: [gpu, all],
    on: node('n', { labels: { gpu: 'yes' } }),
    says: 'governed gpu',
  },
  { name: 'none that selects it', ranked: [gpu], on: node('n'), says: 'keep NoPolicy' },
  { name: 'none that speaks of nodes', ranked: [policy()], on: node('n'), says: 'keep NoPolicy' },
  {
    name: 'one that cannot be followed',
    ranked: [broken, all],
    on: node('n'),
    says: 'keep InvalidPolicy broken',
  },
  { name: 'one that cannot be followed, behind', ranked: [all, broken], on: node('n'), says: 'governed all' },
  { name: 'the keep label', ranked: [all], on: node('n', { labels: keepMark }), says: 'keep KeepMarked all' },
  { name: 'a node that is not known', ranked: [all], on: undefined, says: 'keep NodeUnknown' },
  { name: 'policies that are not known', ranked: undefined, on: node('n'), says: 'keep NodeUnknown' },
])('a node is governed by $name: $says', ({ ranked, on, says }) => {
  const made = governNode(ranked, on);
  const words = [made.kind, made.kind === 'keep' && made.reason, made.policy?.name];
  expect(words.filter(Boolean).join(' ')).toBe(says);
});

test.each<{ readonly name: string; readonly other: Policy; readonly same: boolean }>([
  { name: 'the same', other: { ...all }, same: true },
  { name: 'another uid', other: { ...all, uid: 'another' }, same: false },
  { name: 'another generation', other: { ...all, generation: 2 }, same: false },
  { name: 'another mode', other: { ...all, mode: 'DryRun' }, same: false },
  {
    name: 'another default under the same generation',
    other: { ...evictPolicy({ evictAtPercent: 90 }, { name: 'all' }) },
    same: false,
  },
])('what asks for the same: $name: $same', ({ other, same }) => {
  expect(isSamePolicy(all, all)).toBe(true);
  expect(isSamePolicy(all, other)).toBe(same);
});
