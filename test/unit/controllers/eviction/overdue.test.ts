import { expect, test } from 'vitest';
import type { LocalStoragePolicy } from '../../../../src/api/policy/policy.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { livePod } from '../../../fakes/evictions.ts';
import { EvictionEnvironment } from './environment.ts';
import { evictPolicy } from './builders.ts';

const overdueMetric = 'dustpan_evictions_exceeded_grace_period_total';

/** An environment in which the pod `a` was evicted at the time 0. */
async function evictedPod(
  over: Partial<PodFacts>,
  rule: Partial<LocalStoragePolicy> = {},
): Promise<EvictionEnvironment> {
  const env = new EvictionEnvironment(livePod('a'));
  env.policies.ranked = [evictPolicy(rule)];
  await env.pass();
  env.updatePod('uid-a', over).recorder.events.splice(0);
  return env;
}

const ending = { deletionAtMs: 0, deletionGracePeriodSeconds: 30 };

test('an evicted pod that does not end is reported once, by Event, metric and log, and nothing is forced', async () => {
  const env = await evictedPod({ ...ending, finalizers: ['example.com/backup'] });
  env.clock.stepWall(3_600_000);
  env.nodeReports.items.clear();
  env.clock.advance(46_500);
  env.pods.synced = false;
  await env.pass();
  expect(env.recorder.events).toEqual([]);
  env.pods.synced = true;
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

test.each<[name: string, over: Partial<PodFacts>, afterMs: number, gracePeriodSeconds?: number]>([
  ['its grace of 30 s', {}, 45_000],
  ['no grace, but at least 10 s', { ...ending, deletionGracePeriodSeconds: 0 }, 10_000],
  ['the grace of the policy', {}, 150_000, 100],
  ['the grace that the API server has', { ...ending, deletionGracePeriodSeconds: 40 }, 60_000, 20],
  ['never, if it has failed', { ...ending, phase: 'Failed' }, Infinity],
])(
  'an evicted pod is overdue a moment after half more than %s',
  async (_, over, afterMs, gracePeriodSeconds) => {
    const env = await evictedPod(over, { gracePeriodSeconds });
    env.clock.advance(Math.min(afterMs, 7_200_000));
    await env.pass();
    expect(await env.metric(overdueMetric)).toBe(0);
    env.clock.advance(1);
    await env.pass();
    expect(await env.metric(overdueMetric)).toBe(afterMs === Infinity ? 0 : 1);
  },
);

test('an evicted pod whose longer grace the cache shows only later is reported once', async () => {
  const env = await evictedPod({});
  for (const ms of [46_000, 1_000, 3_600_000]) {
    env.clock.advance(ms);
    await env.pass();
    env.updatePod('uid-a', { ...ending, deletionGracePeriodSeconds: 600 });
  }
  expect(await env.metric(overdueMetric)).toBe(1);
});
