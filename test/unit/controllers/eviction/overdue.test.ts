import { describe, expect, test } from 'vitest';
import { planOverdue } from '../../../../src/controllers/eviction/overdue.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { pod } from '../../../builders.ts';
import { livePod } from '../../../fakes/evictions.ts';
import { EvictionEnvironment } from './environment.ts';
import { byUid, evictPolicy, running } from './builders.ts';

const overdueUids = (over: Partial<PodFacts>, afterMs: number, requestedGraceSeconds?: number): string[] => {
  const evicted = new Map([['uid-a', { atMs: 5_000, requestedGraceSeconds, isReported: false }]]);
  const pods = byUid(pod('a', { ...running, ...over }));
  return planOverdue(evicted, pods, 5_000 + afterMs).map(({ pod: { uid } }) => uid);
};

describe('an evicted pod has not ended in time', () => {
  test.each<{ name: string; over?: Partial<PodFacts>; requestedGraceSeconds?: number; afterMs: number }>([
    { name: 'its grace of 30 s', afterMs: 45_000 },
    { name: 'its own grace', over: { deletionGracePeriodSeconds: 60 }, afterMs: 90_000 },
    { name: 'no grace, but at least 10 s', over: { deletionGracePeriodSeconds: 0 }, afterMs: 10_000 },
    { name: 'the grace of the request', requestedGraceSeconds: 20, afterMs: 30_000 },
    {
      name: 'the grace that the API server has, whatever was requested',
      over: { deletionGracePeriodSeconds: 40 },
      requestedGraceSeconds: 20,
      afterMs: 60_000,
    },
  ])('a moment after $name and half of it', ({ over = {}, requestedGraceSeconds, afterMs }) => {
    expect(overdueUids(over, afterMs, requestedGraceSeconds)).toEqual([]);
    expect(overdueUids(over, afterMs + 1, requestedGraceSeconds)).toEqual(['uid-a']);
  });

  test.each<Partial<PodFacts>>([{ phase: 'Succeeded' }, { phase: 'Failed' }, { uid: 'new' }])(
    'never if it is %j',
    (over) => {
      expect(overdueUids(over, 3_600_000)).toEqual([]);
    },
  );
});

const overdueMetric = 'dustpan_evictions_exceeded_grace_period_total';

/** An environment in which the pod `a` was evicted at the time 0 and is terminating. */
async function evictedPod(over: Partial<PodFacts> = {}): Promise<EvictionEnvironment> {
  const env = new EvictionEnvironment(livePod('a'));
  await env.pass();
  env.updatePod('uid-a', { deletionAtMs: 0, deletionGracePeriodSeconds: 30, nodeName: 'node-1', ...over });
  env.recorder.events.splice(0);
  return env;
}

describe('the controller', () => {
  test('reports a pod that does not end once, by Event, metric and log, and forces nothing', async () => {
    const env = await evictedPod({ finalizers: ['example.com/backup'] });
    env.clock.advance(45_000);
    env.clock.stepWall(3_600_000);
    await env.pass();
    expect(env.recorder.events).toEqual([]);
    env.clock.advance(1_500);
    await env.pass();
    env.clock.advance(3_600_000);
    await env.pass();
    expect(env.recorder.events).toEqual([
      {
        regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a' },
        ...{ type: 'Warning', reason: 'ExceededGracePeriod', action: 'EvictPod' },
        note:
          'Pod default/a was evicted 46 s ago and has not ended; its grace period is 30 s. dustpan does not force the deletion. ' +
          "Check the kubelet on node node-1 and the pod's volumes. Its finalizers: example.com/backup.",
      },
    ]);
    expect(await env.metric(overdueMetric)).toBe(1);
    expect(env.messages('warn')).toEqual(['evicted pod has not ended']);
    expect(env.evictions.acts).toEqual(['evict a']);
  });

  test('does so although no node requests the eviction any more', async () => {
    const env = await evictedPod();
    env.request();
    await env.pass();
    env.nodeReports.items.clear();
    env.clock.advance(46_000);
    await env.pass();
    expect(env.recorder.reasons).toEqual(['ExceededGracePeriod Pod/a']);
    expect(env.recorder.events[0]?.note).toMatch(/and the pod's volumes\.$/);
  });

  test('waits for the grace that the policy sets', async () => {
    const env = new EvictionEnvironment(livePod('a'));
    env.policies.ranked = [evictPolicy({ gracePeriodSeconds: 100 })];
    await env.pass();
    env.clock.advance(150_000);
    await env.pass();
    expect(await env.metric(overdueMetric)).toBe(0);
    env.clock.advance(1);
    await env.pass();
    expect(await env.metric(overdueMetric)).toBe(1);
  });

  test('reports nothing while pods are not synced', async () => {
    const env = await evictedPod();
    env.pods.synced = false;
    env.clock.advance(46_000);
    await env.pass();
    expect(env.recorder.events).toEqual([]);
    env.pods.synced = true;
    await env.pass();
    expect(env.recorder.reasons).toEqual(['ExceededGracePeriod Pod/a']);
  });
});
