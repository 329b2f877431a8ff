import { describe, expect, test } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';
import { rollUpNodes } from '../../../../src/controllers/policystatus/nodes.ts';
import { defaultsOf, labelled, minutesAgo, node, nodesRules, now, policy } from '../../../builders.ts';
import { broken, nodesPolicy, removingPolicy, report } from './builders.ts';

const full = {
  ...{ imagesRemovable: 1, imageBytesRemovable: 10, imageBytesFreed: 100, containersRemovable: 2 },
  ...{ storageWarnings: 3, evictionRequests: 4 },
};
const all = [nodesPolicy('default')];

test('adds up the reports of the governed nodes', () => {
  const observed = {
    nodes: [node('a'), node('b'), node('c')],
    reports: [
      report('a', full),
      report('b', { ...full, degraded: true, keepListAtRisk: true, holding: true }),
    ],
  };
  expect(rollUpNodes(all, observed, now).get('uid-default')?.counts).toEqual({
    ...{ desired: 3, upToDate: 2, degraded: 1, keepListAtRisk: 1, holding: 1 },
    ...{ imagesRemovable: 2, imageBytesReclaimable: 20, imageBytesReclaimed: 200, containersRemovable: 4 },
    ...{ storageWarnings: 6, evictionRequests: 8 },
  });
});

const [counted, uncounted] = [
  { degraded: 1, imagesRemovable: 1 },
  { degraded: 0, imagesRemovable: 0 },
];
const old = minutesAgo(15);

test.each([
  { name: 'a report that is 15 min old', over: { reportedAtMs: old }, expected: { upToDate: 1, ...counted } },
  { name: 'an older report', over: { reportedAtMs: old - 1 }, expected: { upToDate: 0, ...uncounted } },
  {
    name: 'one under an older generation',
    over: { policyGeneration: 0 },
    expected: { upToDate: 0, ...counted },
  },
  {
    name: 'one under another policy',
    over: { policyUid: 'uid-other' },
    expected: { upToDate: 0, degraded: 1, imagesRemovable: 0 },
  },
  { name: 'one of a node that is gone', over: { name: 'gone' }, expected: { upToDate: 0, ...uncounted } },
])('counts $name', ({ over, expected }) => {
  const observed = { nodes: [node('a')], reports: [report('a', { ...full, degraded: true, ...over })] };
  expect(rollUpNodes(all, observed, now).get('uid-default')?.counts).toMatchObject({
    desired: 1,
    ...expected,
  });
});

test('a node counts for the one policy that governs it, for none if that is invalid', () => {
  const observed = { nodes: [node('a', { labels: { gpu: 'yes' } }), node('b'), node('c')], reports: [] };
  const desired = (...others: readonly (Policy | InvalidPolicy)[]) => {
    const ranked = [nodesPolicy('gpu', { selector: labelled('gpu', 'yes') }), ...others];
    return [...rollUpNodes(ranked, observed, now)].map(([uid, { counts }]) => `${uid} ${counts.desired}`);
  };
  expect(desired(policy({ name: 'pods-only' }), nodesPolicy('default'))).toEqual([
    'uid-gpu 1',
    'uid-default 2',
  ]);
  expect(desired()).toEqual(['uid-gpu 1']);
  expect(desired(broken, nodesPolicy('default'))).toEqual(['uid-gpu 1', 'uid-default 0']);
});

test('the progress of the remove list: what the governed nodes have left of each entry that has not ended', () => {
  const ended = { image: 'c', untilMs: now.getTime() };
  const gpu = nodesPolicy('gpu', { selector: labelled('gpu', 'yes') });
  const ranked = [gpu, removingPolicy('default', ['a:1*', ended, 'b']), nodesPolicy('other'), broken];
  const left = (image: string, inUse: number, kept: number, untagged = 0) => ({
    ...{ image, matched: inUse + kept > 0, inUse, kept, untagged },
  });
  const reporting = (name: string, ...removeList: ReturnType<typeof left>[]) => report(name, { removeList });
  const observed = {
    nodes: [
      ...['gone', 'both', 'used', 'kept', 'silent', 'old'].map((name) => node(name)),
      node('of another policy', { labels: { gpu: 'yes' } }),
    ],
    reports: [
      reporting('gone', left('a:1*', 0, 0), { ...left('b', 0, 0), matched: true }),
      reporting('both', left('a:1*', 2, 2, 1), left('b', 0, 0, 1)),
      reporting('used', left('a:1*', 1, 0), left('b', 0, 0)),
      reporting('kept', left('a:1*', 0, 1), left('b', 0, 0)),
      reporting('silent'),
      { ...reporting('old', left('a:1*', 0, 0), left('b', 0, 0)), policyUid: 'uid-before' },
      reporting('deleted', left('b', 1, 0)),
    ],
  };
  const found = [...rollUpNodes(ranked, observed, now)].map(([uid, { removals }]) => [uid, removals]);
  expect(Object.fromEntries(found)).toEqual({
    'uid-gpu': [],
    'uid-default': [
      { image: 'a:1*', matched: true, nodes: 6, gone: 1, inUse: 2, kept: 2, untagged: 0, unknown: 2 },
      { image: 'b', matched: true, nodes: 6, gone: 3, inUse: 0, kept: 0, untagged: 1, unknown: 2 },
    ],
    'uid-other': [],
  });
});

describe('the patterns that match no image on any governed node', () => {
  const patterns = {
    keep: ['a', 'b', 'c'],
    only: ['d'],
    maximumAgeByImage: [{ image: 'e', maximumAgeMs: 1 }],
  };
  const keeping = policy({ nodes: nodesRules({ imageGC: { ...defaultsOf('imageGC'), ...patterns } }) });
  const entries = (...keep: readonly number[]) => ({
    unmatched: { keep, only: [0], maximumAgeByImage: [0] },
  });
  const others = ['only d', 'maximumAgeByImage e'];
  const none = { unmatched: { keep: [], only: [], maximumAgeByImage: [] } };

  test.each<[name: string, reports: Readonly<Record<string, Partial<NodeReportFacts>>>, found?: string[]]>([
    ['on each node alone', { a: entries(0, 1), b: entries(1, 2) }, ['keep b', ...others]],
    ['every entry matches somewhere', { a: entries(0, 1, 2), b: none }, []],
    ['a node has not reported', { a: entries(1) }],
    ['an old report', { a: entries(1), b: { ...entries(1), reportedAtMs: minutesAgo(16) } }],
    ['another generation', { a: entries(1), b: { ...entries(1), policyGeneration: 0 } }],
    ['another policy', { a: entries(1), b: { ...entries(1), policyUid: 'uid-other' } }],
    ['an agent that does not report them', { a: entries(1), b: {} }],
  ])('%s', (_, reports, found) => {
    const observed = {
      nodes: [
        node('a'),
        node('b'),
        node('not governed', { labels: { gpu: 'yes' } }),
        node('opted out', { labels: { 'gc.dustpan.dev/keep': 'true' } }),
      ],
      reports: Object.entries(reports).map(([name, over]) => report(name, over)),
    };
    const ranked = [nodesPolicy('gpu', { selector: labelled('gpu', 'yes') }), keeping, broken];
    const { nodes, lists } = rollUpNodes(ranked, observed, now).get('uid-default')?.unmatched ?? {};
    expect(nodes).toBe(found && 2);
    expect(lists?.map((one) => `${one.list} ${one.patterns.join()}`)).toEqual(found);
  });

  test.each<[name: string, of: Policy]>([
    ['without nodes', keeping],
    ['without patterns', nodesPolicy('default')],
  ])('%s nothing is known', (_, of) => {
    const found = rollUpNodes([of], { nodes: [], reports: [] }, now);
    expect(found.get('uid-default')?.unmatched).toBeUndefined();
  });
});
