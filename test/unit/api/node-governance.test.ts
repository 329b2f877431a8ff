import { expect, test } from 'vitest';
import { governNode, isSamePolicy } from '../../../src/api/policy/node-governance.ts';
import type { InvalidPolicy, Policy } from '../../../src/api/policy/policy.ts';
import { labelled, node } from '../../builders.ts';
import { evictPolicy, keepLabel } from '../controllers/eviction/builders.ts';
import { broken } from '../controllers/policystatus/builders.ts';

const gpu = evictPolicy({}, { name: 'gpu', priority: 5, selector: labelled('gpu', 'yes') });
const all = evictPolicy({}, { name: 'all' });
const gpuNode = node('n', { labels: { gpu: 'yes' } });
const keptNode = node('n', { labels: keepLabel });

test.each<{
  readonly name: string;
  readonly ranked: readonly (Policy | InvalidPolicy)[] | undefined;
  readonly on: ReturnType<typeof node> | undefined;
  readonly expected: string;
}>([
  { name: 'the first policy selects the node', ranked: [gpu, all], on: gpuNode, expected: 'governed gpu' },
  { name: 'no policy selects it', ranked: [gpu], on: node('n'), expected: 'keep NoPolicy' },
  {
    name: 'an invalid policy is first',
    ranked: [broken, all],
    on: node('n'),
    expected: 'keep InvalidPolicy broken',
  },
  { name: 'an invalid policy is last', ranked: [all, broken], on: node('n'), expected: 'governed all' },
  { name: 'the node has the keep label', ranked: [all], on: keptNode, expected: 'keep KeepMarked all' },
  { name: 'the node is unknown', ranked: [all], on: undefined, expected: 'keep NodeUnknown' },
  { name: 'the policies are unknown', ranked: undefined, on: node('n'), expected: 'keep NodeUnknown' },
])('$name: $expected', ({ ranked, on, expected }) => {
  const governance = governNode(ranked, on);
  const words = [governance.kind, governance.kind === 'keep' && governance.reason, governance.policy?.name];
  expect(words.filter(Boolean).join(' ')).toBe(expected);
});

test.each<{ readonly name: string; readonly other: Policy; readonly same: boolean }>([
  { name: 'another uid', other: { ...all, uid: 'another' }, same: false },
  { name: 'another generation', other: { ...all, generation: 2 }, same: false },
  { name: 'another mode', other: { ...all, mode: 'DryRun' }, same: false },
  {
    name: 'another default under the same generation',
    other: { ...evictPolicy({ evictAtPercent: 90 }, { name: 'all' }) },
    same: false,
  },
])('whether two policies have the same effect: $name: $same', ({ other, same }) => {
  expect(isSamePolicy(all, all)).toBe(true);
  expect(isSamePolicy(all, other)).toBe(same);
});
