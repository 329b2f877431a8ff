import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { node, pod, policy } from '../../../builders.ts';
import { afterQuarantine, environmentOf, orphan, orphanPolicy, type Environment } from './environment.ts';

/** A controller that must mark the pod `stuck` as failed before it deletes it. */
const unscheduled = (over: Parameters<typeof environmentOf>[2] = {}): Environment =>
  environmentOf(
    [pod('stuck', { phase: 'Pending', deletionAtMs: 1, nodeName: undefined })],
    policy({ pods: { unscheduledTerminating: true } }),
    over,
  );

test('a marked pod is not deleted if the lease is lost during the mark', async () => {
  let leads = true;
  const { cluster, pass, reports } = unscheduled({ holdsLease: () => leads });
  cluster.fault((verb) => {
    if (verb === 'mark') leads = false;
    return undefined;
  });
  await pass();
  expect(cluster.requests).toEqual(['mark stuck']);
  expect(reports.at(-1)?.deleted).toBe(0);
});

/** Prevents the mark, and comes too late to prevent the deletion. */
function forbid({ cluster, clock, policies, labelNamespace }: Environment): void {
  policies.ranked = [];
  labelNamespace();
  clock.advance(5_000);
  cluster.nodes.set('uid-back', node('node-gone'));
  for (const [uid, one] of cluster.pods) cluster.pods.set(uid, { ...one, resourceVersion: '99' });
}

const refused = (status?: number): Error =>
  status === undefined ? new Error('connection lost') : new ApiError('refused', { status });

test.each([{ status: 429 }, { status: 500 }, { status: 401 }, { status: undefined }])(
  'the deletion of a marked orphan is repeated after a failure ($status), whatever else has changed',
  async ({ status }) => {
    const made = await afterQuarantine();
    const { cluster, pass, reports } = made;
    let failures = 0;
    cluster.fault((verb) => {
      if (verb !== 'delete' || failures++ === 3) return undefined;
      forbid(made);
      return refused(status);
    });
    await pass();
    expect(cluster.podNames).toEqual([]);
    expect(cluster.requests.filter((request) => request.startsWith('mark'))).toHaveLength(1);
    expect(reports.at(-1)).toMatchObject({ deleted: 1, failed: 0 });
  },
);

test('an orphan whose mark is throttled is not deleted if its node comes back meanwhile', async () => {
  const { cluster, clock, pass } = await afterQuarantine();
  cluster.fault((verb) => {
    if (verb !== 'mark') return undefined;
    clock.advance(15_000);
    cluster.unseenNodes.set('uid-back', node('node-gone'));
    return new ApiError('busy', { status: 429 });
  });
  await pass();
  expect(cluster.requests).toEqual(['get node-gone', 'mark orphan', 'get node-gone']);
  expect(cluster.podNames).toEqual(['orphan']);
});

test('a shutdown between the requests does not leave a marked pod', async () => {
  const stop = new AbortController();
  const { cluster, pass } = unscheduled();
  cluster.fault((verb) => {
    if (verb === 'mark') stop.abort();
    return undefined;
  });
  await pass(stop.signal);
  expect(cluster.podNames).toEqual([]);
});

test('a marked pod that the API server does not let be deleted is asked for once in a pass', async () => {
  const { cluster, pass } = unscheduled();
  cluster.fault((verb) => (verb === 'delete' ? refused(403) : undefined));
  await expect(pass()).rejects.toThrow('1 of 1 failed');
  expect(cluster.requests).toEqual(['mark stuck', 'delete stuck']);
});

test('an orphan whose deletion failed after its mark is deleted by a later pass, whatever its node and policies', async () => {
  const { cluster, clock, policies, pass, reports } = await afterQuarantine();
  let isDown = true;
  cluster.fault((verb) => (verb === 'delete' && isDown ? refused(500) : undefined));
  await expect(pass()).rejects.toThrow('1 of 1 failed');
  expect(clock.monotonicMs()).toBe(70_000);
  cluster.nodes.set('uid-back', node('node-gone'));
  policies.ranked = [{ ...orphanPolicy, mode: 'DryRun' }];
  cluster.policies = () => Promise.reject(new Error('server down'));
  cluster.requests.length = 0;
  await pass();
  expect(cluster.requests).toEqual([]);
  // The server has refused this pod, which waits.
  clock.advance(20_000);
  await expect(pass()).rejects.toThrow('1 of 1 failed');
  expect(cluster.requests).toEqual(['delete orphan']);
  isDown = false;
  clock.advance(40_000);
  await pass();
  expect(cluster.podNames).toEqual([]);
  // The plan does not count a pod that only the mark makes due.
  expect(reports.at(-1)).toMatchObject({ due: 0, deleted: 0, failed: 0 });
});

describe('an orphan whose mark got no answer', () => {
  const lost = async (isMarked: boolean) => {
    const made = await afterQuarantine();
    const { cluster } = made;
    const [[uid, before] = ['', orphan]] = cluster.pods;
    let [isLost, wasMarked] = [true, isMarked];
    cluster.fault((verb) => {
      if (verb !== 'mark' || !isLost) return undefined;
      isLost = false;
      if (wasMarked) cluster.pods.set(uid, { ...before, phase: 'Failed', resourceVersion: '2' });
      wasMarked = false;
      return refused();
    });
    await expect(made.pass()).rejects.toThrow('1 of 1 failed');
    cluster.nodes.set('uid-back', node('node-gone'));
    return { ...made, uid, before };
  };

  test('is deleted if it was marked, although its node is back', async () => {
    const { cluster, pass } = await lost(true);
    await pass();
    expect(cluster.podNames).toEqual([]);
  });

  test('is kept on a node that is back if it was not marked, even when it fails later', async () => {
    const { cluster, pass, uid, before } = await lost(false);
    await pass();
    cluster.pods.set(uid, { ...before, resourceVersion: '2' });
    await pass();
    cluster.pods.set(uid, { ...before, phase: 'Failed', resourceVersion: '3' });
    await pass();
    expect(cluster.podNames).toEqual(['orphan']);
    expect(cluster.requests).not.toContain('delete orphan');
  });
});

test('a pod that has changed before its mark is not deleted', async () => {
  const { cluster, pass, reports } = unscheduled();
  cluster.fault(() => {
    for (const [uid, one] of cluster.pods) cluster.pods.set(uid, { ...one, resourceVersion: '2' });
    return undefined;
  });
  await pass();
  expect(cluster.requests).toEqual(['mark stuck']);
  expect(reports).toMatchObject([{ deleted: 0, failed: 0 }]);
});

test('each request and each outcome shows that a long pass is not a hung one', async () => {
  let progress = 0;
  await unscheduled({ onProgress: () => (progress += 1) }).pass();
  expect(progress).toBe(3);
});
