import { expect, test } from 'vitest';
import { disruptionTarget, throttledForMs } from '../../../../src/controllers/podgc/act.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { FakeCluster } from '../../../fakes/cluster.ts';
import { node, now, pod, policy } from '../../../builders.ts';
import { bed, orphan, orphanPolicy } from './environment.ts';

const keep = { 'gc.dustpan.dev/keep': 'true' };

/** A pod that is marked Failed before it is deleted, and a controller that governs it. */
const unscheduled = (over: Parameters<typeof bed>[2] = {}): ReturnType<typeof bed> =>
  bed(
    new FakeCluster(
      [pod('stuck', { phase: 'Pending', deletionAtMs: 1, nodeName: undefined })],
      [node('node-1')],
    ),
    policy({ pods: { unscheduledTerminating: true } }),
    over,
  );

test.each<{ name: string; change: (scene: ReturnType<typeof bed>, lose: () => void) => void }>([
  {
    name: 'the lease is lost',
    change: (_scene, lose) => {
      lose();
    },
  },
  {
    name: 'the policy goes to DryRun',
    change: ({ policies: view }) => (view.ranked = []),
  },
  {
    name: 'the API server has other policies, which no watch has shown yet',
    change: ({ policies: view, clock }) => {
      clock.advance(5_000);
      view.confirm = () => Promise.resolve({ same: false, clockSkewMs: 0 });
    },
  },
  {
    name: 'the policies cannot be read any more',
    change: ({ policies: view, clock }) => {
      clock.advance(5_000);
      view.confirm = () => Promise.reject(new Error('server down'));
    },
  },
  {
    name: 'the namespace gets the keep label',
    change: ({ namespaces }) =>
      namespaces.set('uid-default', {
        uid: 'uid-default',
        name: 'default',
        resourceVersion: '2',
        labels: keep,
      }),
  },
])('no delete follows the mark when, while the mark is written, $name', async ({ change }) => {
  let leads = true;
  const scene = unscheduled({ holdsLease: () => leads });
  scene.cluster.fault((verb) => {
    if (verb === 'mark') change(scene, () => (leads = false));
    return undefined;
  });
  await scene.pass().catch(() => undefined);
  expect(scene.cluster.requests).toEqual(['mark stuck']);
  expect(scene.reports.at(-1)?.deleted).toBe(0);
});

test('a node that comes back while the mark of its orphan is written slowly keeps it', async () => {
  const { cluster, clock, pass } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy);
  await pass();
  clock.advance(40_000);
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

test('a quick mark costs no more requests', async () => {
  const { cluster, clock, pass } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy);
  await pass();
  clock.advance(40_000);
  await pass();
  expect(cluster.requests).toEqual(['get node-gone', 'mark orphan', 'delete orphan']);
});

test('a delete that is throttled after the mark is tried again with the marked version', async () => {
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
  { name: 'not for another status', err: refusal({ status: 500, retryAfterMs: 7_000 }), expected: undefined },
  { name: 'not for an error without status', err: new Error('refused'), expected: undefined },
  { name: 'not for a value that is no error', err: 'x', expected: undefined },
])('waits $name', ({ err, expected }) => {
  expect(throttledForMs(err)).toBe(expected);
});

test('only an orphan gets the condition, as upstream', () => {
  expect(disruptionTarget('Orphaned', now)).toMatchObject({ reason: 'DeletionByPodGC', at: now });
  expect(disruptionTarget('OutOfService', now)).toBeUndefined();
});
