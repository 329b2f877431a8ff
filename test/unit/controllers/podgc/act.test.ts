import { expect, test } from 'vitest';
import { disruptionTarget, throttledForMs } from '../../../../src/controllers/podgc/act.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { node, now, pod, policy } from '../../../builders.ts';
import { afterQuarantine, environmentOf, type Environment } from './environment.ts';

/** A controller that must mark the pod `stuck` as failed before it deletes it. */
const unscheduled = (over: Parameters<typeof environmentOf>[2] = {}): Environment =>
  environmentOf(
    [pod('stuck', { phase: 'Pending', deletionAtMs: 1, nodeName: undefined })],
    policy({ pods: { unscheduledTerminating: true } }),
    over,
  );

test.each<{ name: string; change: (made: Environment, lose: () => void) => unknown }>([
  {
    name: 'the lease is lost',
    change: (_, lose) => {
      lose();
    },
  },
  { name: 'the policy is deleted', change: ({ policies }) => (policies.ranked = []) },
  {
    name: 'the API server has other policies, which no watch has shown yet',
    change: ({ policies, clock }) => {
      clock.advance(5_000);
      policies.confirm = () => Promise.resolve({ same: false, clockSkewMs: 0 });
    },
  },
  {
    name: 'the policies cannot be read any more',
    change: ({ policies, clock }) => {
      clock.advance(5_000);
      policies.confirm = () => Promise.reject(new Error('server down'));
    },
  },
  {
    name: 'the namespace gets the keep label',
    change: ({ labelNamespace }) => {
      labelNamespace();
    },
  },
])('a marked pod is not deleted if, during the mark, $name', async ({ change }) => {
  let leads = true;
  const made = unscheduled({ holdsLease: () => leads });
  made.cluster.fault((verb) => {
    if (verb === 'mark') change(made, () => (leads = false));
    return undefined;
  });
  await made.pass().catch(() => undefined);
  expect(made.cluster.requests).toEqual(['mark stuck']);
  expect(made.reports.at(-1)?.deleted).toBe(0);
});

test('a marked orphan is not deleted if its node comes back during a slow mark', async () => {
  const { cluster, clock, pass } = await afterQuarantine();
  cluster.fault((verb) => {
    if (verb !== 'mark') return undefined;
    clock.advance(15_000);
    cluster.unseenNodes.set('uid-back', node('node-gone'));
    return undefined;
  });
  await pass();
  expect(cluster.requests).toEqual(['get node-gone', 'mark orphan', 'get node-gone']);
  expect(cluster.podNames).toEqual(['orphan']);
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

test('a delete that is throttled after the mark is tried again with the version after the mark', async () => {
  const { cluster, pass } = unscheduled();
  let throttled = false;
  cluster.fault((verb) => {
    if (verb !== 'delete' || throttled) return undefined;
    throttled = true;
    return new ApiError('busy', { status: 429 });
  });
  await pass();
  expect(cluster.requests).toEqual(['mark stuck', 'delete stuck', 'delete stuck']);
  expect(cluster.podNames).toEqual([]);
});

const refusal = (over: object): Error => Object.assign(new Error('refused'), over);

test.each([
  {
    name: 'for the Retry-After of the response',
    err: refusal({ status: 429, retryAfterMs: 7_000 }),
    expected: 7_000,
  },
  { name: 'a second without Retry-After', err: refusal({ status: 429 }), expected: 1_000 },
  {
    name: 'not for another status',
    err: refusal({ status: 500, retryAfterMs: 7_000 }),
    expected: undefined,
  },
  { name: 'not for an error without status', err: new Error('refused'), expected: undefined },
  { name: 'not for a value that is no error', err: 'x', expected: undefined },
])('waits $name', ({ err, expected }) => {
  expect(throttledForMs(err)).toBe(expected);
});

test('only an orphan gets the condition, as upstream', () => {
  expect(disruptionTarget('Orphaned', now)).toMatchObject({ reason: 'DeletionByPodGC', at: now });
  expect(disruptionTarget('OutOfService', now)).toBeUndefined();
});
