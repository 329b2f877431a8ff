import { describe, expect, test } from 'vitest';
import { planOverdue } from '../../../../src/controllers/eviction/overdue.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { pod } from '../../../builders.ts';
import { livePod } from '../../../fakes/evictions.ts';
import { EvictionEnvironment } from './environment.ts';
import { byUid, evictedAt0, evictPolicy, running } from './builders.ts';

interface Row {
  readonly name: string;
  readonly pod?: Partial<PodFacts>;
  readonly requestedGraceSeconds?: number;
  readonly afterMs: number;
  readonly expected: boolean;
}

describe('an evicted pod has not ended in time', () => {
  test.each<Row>([
    { name: 'its grace of 30 s and half of it', afterMs: 45_000, expected: false },
    { name: 'a moment more', afterMs: 45_001, expected: true },
    { name: 'its own grace', pod: { deletionGracePeriodSeconds: 60 }, afterMs: 90_000, expected: false },
    { name: 'a moment more', pod: { deletionGracePeriodSeconds: 60 }, afterMs: 90_001, expected: true },
    { name: 'at least 10 s', pod: { deletionGracePeriodSeconds: 0 }, afterMs: 10_000, expected: false },
    { name: 'a moment more', pod: { deletionGracePeriodSeconds: 0 }, afterMs: 10_001, expected: true },
    { name: 'the grace of the request', requestedGraceSeconds: 20, afterMs: 30_000, expected: false },
    { name: 'a moment more', requestedGraceSeconds: 20, afterMs: 30_001, expected: true },
    {
      name: 'the grace that the API server has, whatever was requested',
      pod: { deletionGracePeriodSeconds: 40 },
      requestedGraceSeconds: 20,
      afterMs: 60_000,
      expected: false,
    },
    {
      name: 'an hour, but it has succeeded',
      pod: { phase: 'Succeeded' },
      afterMs: 3_600_000,
      expected: false,
    },
    { name: 'an hour, but it has failed', pod: { phase: 'Failed' }, afterMs: 3_600_000, expected: false },
    { name: 'an hour, but it is another pod', pod: { uid: 'new' }, afterMs: 3_600_000, expected: false },
  ])('after $name ($afterMs ms): $expected', ({ pod: over, requestedGraceSeconds, afterMs, expected }) => {
    const evicted = new Map([['uid-a', { atMs: 5_000, requestedGraceSeconds, isReported: false }]]);
    const pods = byUid(pod('a', { ...running, ...over }));
    expect(planOverdue(evicted, pods, 5_000 + afterMs).map(({ pod: one }) => one.uid)).toEqual(
      expected ? ['uid-a'] : [],
    );
  });

  test('but is reported only once', () => {
    const reported = new Map(
      [...evictedAt0('uid-a')].map(([uid, one]) => [uid, { ...one, isReported: true }]),
    );
    expect(planOverdue(reported, byUid(pod('a', running)), 3_600_000)).toEqual([]);
  });
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

  test('does not report a pod that has ended', async () => {
    const env = await evictedPod();
    env.pods.items.clear();
    env.clock.advance(46_000);
    await env.pass();
    expect(env.recorder.events).toEqual([]);
    expect(await env.metric(overdueMetric)).toBe(0);
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

  test('ignores changes of the wall clock', async () => {
    const env = await evictedPod();
    env.clock.stepWall(3_600_000);
    await env.pass();
    expect(env.recorder.events).toEqual([]);
  });
});
