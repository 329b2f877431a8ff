import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { node, pod, policy } from '../../../builders.ts';
import {
  afterQuarantine,
  environmentOf,
  expireAll,
  keepLabel,
  many,
  orphan,
  orphanPolicy,
  type Environment,
} from './environment.ts';

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
      if (wasMarked)
        cluster.pods.set(uid, { ...before, phase: 'Failed', markedByPodGc: true, resourceVersion: '2' });
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

  test('is kept if it was not marked, and fails by itself after its node is back: under DryRun, with the keep label', async () => {
    const { cluster, policies, pass, uid, before } = await lost(false);
    policies.ranked = [{ ...orphanPolicy, mode: 'DryRun' }];
    const ended = { phase: 'Failed', resourceVersion: '2', labels: keepLabel };
    cluster.pods.set(uid, { ...before, ...ended });
    await pass();
    expect(cluster.requests).not.toContain('delete orphan');
    // Nor later: a mark of somebody else is none of ours.
    cluster.pods.set(uid, { ...before, ...ended, markedByPodGc: true });
    await pass();
    expect(cluster.podNames).toEqual(['orphan']);
  });
});

/** Changes all pods right before each request about one. */
function changeAlways({ cluster }: Environment): void {
  cluster.fault(() => {
    for (const [uid, one] of cluster.pods)
      cluster.pods.set(uid, { ...one, resourceVersion: `${one.resourceVersion}1` });
    return undefined;
  });
}

test('a pod that has changed before its mark is not deleted, and remains due', async () => {
  const made = unscheduled();
  changeAlways(made);
  await made.pass();
  expect(made.cluster.requests).toEqual(['mark stuck']);
  expect(made.reports).toMatchObject([{ governed: 1, due: 1, deleted: 0, failed: 0 }]);
});

test('finished pods that change all the time are due in each pass, and not deleted', async () => {
  const made = environmentOf(many(3), expireAll());
  changeAlways(made);
  await made.pass();
  await made.pass();
  const kept = { governed: 3, terminated: 3, due: 3, deleted: 0, failed: 0 };
  expect(made.reports).toMatchObject([kept, kept]);
  const metrics = await made.registry.metrics();
  expect(metrics).toContain('dustpan_skipped_objects_total{unit="podgc",reason="PodChanged"} 6');
});

test('a marked pod that was replaced by a namesake meanwhile is gone', async () => {
  const { cluster, pass, reports } = unscheduled();
  cluster.fault((verb) => {
    const [[uid, before] = ['', orphan]] = cluster.pods;
    if (verb !== 'delete') return undefined;
    cluster.pods.delete(uid);
    cluster.pods.set('uid-new', { ...before, uid: 'uid-new' });
    return undefined;
  });
  await pass();
  expect(reports).toMatchObject([{ governed: 0, due: 0, deleted: 0, failed: 0 }]);
});

test('each request and each outcome shows that a long pass is not a hung one', async () => {
  let progress = 0;
  await unscheduled({ onProgress: () => (progress += 1) }).pass();
  expect(progress).toBe(3);
});
