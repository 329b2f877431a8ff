import { expect, test } from 'vitest';
import { dustpan, inputOfEachTest } from './fixture.ts';

const input = inputOfEachTest('storage-overrun');

const writeStats = (stats: unknown): void => {
  input.write('snapshot/nodes/node-1/stats.json', stats);
};

test.each([
  { stats: { node: {}, pods: {} }, message: /stats\.json: pods: must be a list, is an object$/ },
  {
    stats: { node: {}, pods: [{ podRef: {} }] },
    message: /stats\.json: pods\[0\]\.podRef\.uid: must be a text, is absent$/,
  },
  {
    stats: { node: {}, pods: [{ podRef: { uid: 'a' }, volume: [{ name: 'tmp', usedBytes: '5Gi' }] }] },
    message: /stats\.json: pods\[0\]\.volume\[0\]\.usedBytes: must be a number, is "5Gi"$/,
  },
  {
    stats: { node: { runtime: { containerFs: [] } } },
    message: /stats\.json: node\.runtime\.containerFs: must be an object, is a list$/,
  },
  {
    stats: { node: { fs: { time: 'now' } } },
    message: /stats\.json: node\.fs\.time: must be an RFC 3339 time, is "now"$/,
  },
])('invalid statistics are one line and exit code 2: $message', async ({ stats, message }) => {
  writeStats(stats);
  const { code, stdout, stderr } = await dustpan(['plan', ...input.args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^dustpan: [^\n]+\n$/);
  expect(stderr.trimEnd()).toMatch(message);
});

test('a number that cannot be is unknown, with a note, and the plan has everything else', async () => {
  const usage = { usedBytes: 2 ** 64 - 4096 };
  writeStats({
    node: { fs: { capacityBytes: 1e12, availableBytes: -1 } },
    pods: [
      { podRef: { uid: 'c5e9a1f4-0000-4000-8000-000000000001' }, volume: [{ name: 'tmp', ...usage }] },
      { podRef: { uid: 'other', name: 'b', namespace: 'web' }, 'ephemeral-storage': usage },
    ],
  });
  const { code, stdout } = await dustpan(['plan', ...input.args]);
  const text = stdout.replaceAll(/\s+/g, ' ');
  expect(code).toBe(0);
  expect(text).toContain(
    'Node node-1: the kubelet reports an impossible value of the file system of the kubelet (availableBytes); it counts as unknown.',
  );
  expect(text).toContain('an impossible value of the pod web/b (total); it counts as unknown.');
});

test('statistics without pods: their usage is not known, and none is evicted', async () => {
  writeStats({ node: {} });
  const { stdout } = await dustpan(['plan', ...input.args]);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Node node-1: the local storage usage of its pods is not known: no pod is evicted or warned about.',
  );
  expect(stdout).toContain('Nothing would be removed.');
});

test('plan lists evictions by node, and why explains one with its values', async () => {
  const { stdout } = await dustpan(['plan', ...input.args]);
  expect(stdout).toContain(
    'localstorage on node-1: 2 to remove (emptydirfs.limit 1,\n  ephemeralpodfs.limit 1):',
  );
  expect(stdout).toMatch(/^1 +Evict +emptydirfs\.limit +web\/scratch$/m);
  const why = await dustpan(['why', ...input.args, 'pod', 'web/scratch']);
  expect(why.stderr).toBe('');
  const text = why.stdout.replaceAll(/\s+/g, ' ');
  expect(text).toContain('Pod web/scratch (node node-1) will be evicted by localstorage: emptydirfs.limit');
  expect(text).toContain(
    'Why Usage of EmptyDir volume "tmp" exceeds the limit "100Mi". It uses 130 MiB, 130 % of the limit 100Mi. Policy GCPolicy nodes (Enforce) Field nodes.localStorageEviction.evictAtPercent=100 When Now, in the next pass of the agent: it requests the eviction, the controller verifies and evicts. Kept by Less data in the volume',
  );
});

test('plan and why distinguish a warning from an eviction', async () => {
  input.write('policy.json', {
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'GCPolicy', metadata: { name: 'nodes' } },
    spec: { mode: 'DryRun', nodes: { localStorageEviction: { warnAtPercent: [4] } } },
  });
  const { stdout } = await dustpan(['plan', ...input.args]);
  expect(stdout).toMatch(/^localstorage on node-1: \d+ warnings \(/m);
  expect(stdout).toContain('localstorage on node-1: 2 to remove (');
  const why = await dustpan(['why', ...input.args, 'pod', 'web/fine']);
  const text = why.stdout.replaceAll(/\s+/g, ' ');
  expect(text).toContain('Pod web/fine (node node-1) is warned about by localstorage: ephemeralpodfs.limit');
  expect(text).toContain(
    'When Once for this level, by an Event, in mode DryRun as well. Ends when The pod uses less',
  );
  expect(text).toContain('It is kept by localstorage: UnderLimit');
});
