import { describe, expect, test } from 'vitest';
import { node, now } from '../../../builders.ts';
import { overVolume, scratch, usage } from '../../agent/localstorage/builders.ts';
import { broken, decisionLines, keepMark, nodesBy, type Facts } from '../facts.ts';
import { storing } from './node-facts.ts';

const linesOf = (facts: Facts) => decisionLines(facts, 'localstorage');
const over = storing(scratch, overVolume);

test.each<readonly [string, Facts, reason: string]>([
  ['a namespace with the keep label', { namespaces: [], keptNamespaces: ['web'] }, 'KeepMarked'],
  ['an unknown namespace', { namespaces: [] }, 'NamespaceUnknown'],
  ['a node with the keep label', { nodes: [node('node-1', { labels: keepMark })] }, 'KeepMarked'],
])('keeps a pod that the controller would keep: %s', (_, given, reason) => {
  expect(linesOf({ ...over, ...given })).toEqual([`- a Keep ${reason}`]);
});

test('a warning is beside the decision about the pod and has no order', () => {
  const facts = storing(scratch, { volumes: { tmp: 85 } }, { rule: { warnAtPercent: [50, 80] } });
  expect(linesOf(facts)).toEqual(['- a Warn emptydirfs.limit', '- a Keep UnderLimit']);
});

test('has no decision without a policy for local storage', () => {
  expect(linesOf({ ...over, ...nodesBy({}) })).toEqual([]);
  expect(linesOf({ ...over, policies: [broken] })).toEqual([]);
});

describe('as a pass at the time of the snapshot', () => {
  const readAt = now.getTime() - 86_400_000;

  test.each([
    ['a measurement of a day ago, read then', readAt, readAt - 120_000, true],
    ['one that was stale when it was read', readAt, readAt - 301_000, false],
    ['one without a time of reading', 0, readAt, true],
  ])('%s', (_, atMs, measuredMs, isEvicted) => {
    const part = { ...over.part, usage: usage({ a: { ...overVolume, atMs: measuredMs } }, { atMs }) };
    const expected = isEvicted ? '1 a Evict emptydirfs.limit' : '- a Keep UsageUnknown';
    expect(linesOf({ ...over, part })).toEqual([expected]);
  });
});
