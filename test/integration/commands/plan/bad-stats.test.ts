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
    message: /stats\.json: pods\[0\]\.volume\[0\]\.usedBytes: must be a number from 0 to 2\^53, is "5Gi"$/,
  },
  {
    stats: {
      node: {},
      pods: [{ podRef: { uid: 'a' }, containers: [{ name: 'b', logs: { usedBytes: -1 } }] }],
    },
    message:
      /stats\.json: pods\[0\]\.containers\[0\]\.logs\.usedBytes: must be a number from 0 to 2\^53, is -1$/,
  },
  {
    stats: { node: { runtime: { imageFs: { capacityBytes: 1, availableBytes: 1, inodes: -5 } } } },
    message: /stats\.json: node\.runtime\.imageFs\.inodes: must be a number from 0 to 2\^53, is -5$/,
  },
  {
    stats: { node: { fs: { inodesFree: -5 } } },
    message: /stats\.json: node\.fs\.inodesFree: must be a number from 0 to 2\^53, is -5$/,
  },
  {
    stats: { node: { runtime: { imageFs: { availableBytes: '9Gi' } } } },
    message:
      /stats\.json: node\.runtime\.imageFs\.availableBytes: must be a number from 0 to 2\^53, is "9Gi"$/,
  },
  {
    stats: { node: { runtime: { containerFs: [] } } },
    message: /stats\.json: node\.runtime\.containerFs: must be an object, is a list$/,
  },
  {
    stats: { node: { memory: { workingSetBytes: true } } },
    message: /stats\.json: node\.memory\.workingSetBytes: must be a number from 0 to 2\^53, is true$/,
  },
  {
    stats: { node: {}, pods: [{ podRef: { uid: 'a' }, memory: { workingSetBytes: 0.5 } }] },
    message: /stats\.json: pods\[0\]\.memory\.workingSetBytes: must be a whole number, is 0\.5$/,
  },
  {
    stats: {
      node: {},
      pods: [{ podRef: { uid: 'a' }, containers: [{ name: 'b', rootfs: { inodesUsed: '7' } }] }],
    },
    message: /stats\.json: pods\[0\]\.containers\[0\]\.rootfs\.inodesUsed: must be a number .*, is "7"$/,
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
