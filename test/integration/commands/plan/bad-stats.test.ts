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
