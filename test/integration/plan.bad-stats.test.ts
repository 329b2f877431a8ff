import { afterEach, beforeEach, expect, test } from 'vitest';
import { dustpan, Scene } from './plan.bed.ts';

let scene: Scene;
beforeEach(() => {
  scene = new Scene('storage-overrun');
});
afterEach(() => {
  scene.remove();
});

const use = (stats: unknown): void => {
  scene.write('snapshot/nodes/node-1/stats.json', stats);
};

test.each([
  { stats: { node: {}, pods: {} }, says: /stats\.json: pods: must be a list, is an object$/ },
  {
    stats: { node: {}, pods: [{ podRef: {} }] },
    says: /stats\.json: pods\[0\]\.podRef\.uid: must be a text, is absent$/,
  },
  {
    stats: { node: {}, pods: [{ podRef: { uid: 'a' }, volume: [{ name: 'tmp', usedBytes: '5Gi' }] }] },
    says: /stats\.json: pods\[0\]\.volume\[0\]\.usedBytes: must be a number from 0 to 2\^53, is "5Gi"$/,
  },
  {
    stats: {
      node: {},
      pods: [{ podRef: { uid: 'a' }, containers: [{ name: 'b', logs: { usedBytes: -1 } }] }],
    },
    says: /stats\.json: pods\[0\]\.containers\[0\]\.logs\.usedBytes: must be a number from 0 to 2\^53, is -1$/,
  },
  {
    stats: { node: { fs: { time: 'now' } } },
    says: /stats\.json: node\.fs\.time: must be an RFC 3339 time, is "now"$/,
  },
])('statistics that no kubelet writes are one line, and exit code 2: $says', async ({ stats, says }) => {
  use(stats);
  const { code, stdout, stderr } = await dustpan(['plan', ...scene.args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^dustpan: [^\n]+\n$/);
  expect(stderr.trimEnd()).toMatch(says);
});

test('statistics without pods do not tell what they use: that is said, and nothing goes', async () => {
  use({ node: {} });
  const { stdout } = await dustpan(['plan', ...scene.args]);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Node node-1: what its pods use is not known: none is evicted or warned about.',
  );
  expect(stdout).toContain('Nothing would be removed.');
});

test('the table has what goes by node, and why explains it with its figures', async () => {
  const { stdout } = await dustpan(['plan', ...scene.args]);
  expect(stdout).toContain('localstorage on node-1: 2 go (emptydirfs.limit 1, ephemeralpodfs.limit 1):');
  expect(stdout).toMatch(/^1 +Evict +emptydirfs\.limit +web\/scratch$/m);
  const why = await dustpan(['why', ...scene.args, 'pod', 'web/scratch']);
  expect(why.stderr).toBe('');
  const text = why.stdout.replaceAll(/\s+/g, ' ');
  expect(text).toContain('Pod web/scratch (node node-1) goes: emptydirfs.limit');
  expect(text).toContain(
    'Why Usage of EmptyDir volume "tmp" exceeds the limit "100Mi". It uses 130 MiB, 130 % of the limit 100Mi. Policy GCPolicy nodes (Enforce) Field nodes.localStorageEviction.evictAtPercent=100 When Now, in the next pass. Kept by Less in the volume',
  );
});

test('a warning is no deletion, to plan and to why', async () => {
  scene.write('policy.json', {
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'GCPolicy', metadata: { name: 'nodes' } },
    spec: { mode: 'DryRun', nodes: { localStorageEviction: { warnAtPercent: [4] } } },
  });
  const { stdout } = await dustpan(['plan', ...scene.args]);
  // Of the two that go, the critical one and the one that is fine.
  expect(stdout).toMatch(/^localstorage on node-1: \d+ warnings \(/m);
  expect(stdout).toContain('localstorage on node-1: 2 go (');
  const why = await dustpan(['why', ...scene.args, 'pod', 'web/fine']);
  const text = why.stdout.replaceAll(/\s+/g, ' ');
  expect(text).toContain('Pod web/fine (node node-1) is warned about: ephemeralpodfs.limit');
  expect(text).toContain(
    'When Once for this level, by an Event, in mode DryRun as well. Ends when The pod uses less',
  );
  expect(text).toContain('Pod web/fine (node node-1) stays: UnderLimit');
});
