import { describe, expect, test } from 'vitest';
import { evictionKeepReasons, type EvictionKeepReason } from '../../../../src/api/reasons.ts';
import { labelled, minutesAgo, node, owner } from '../../../builders.ts';
import { livePod } from '../../../fakes/evictions.ts';
import { EvictionEnvironment } from './environment.ts';
import type { EvictionRequest } from '../../../../src/api/local-storage.ts';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import {
  evictionRequest,
  evictPolicy,
  keepLabel,
  mebibyte,
  namespace,
  pressurePolicy,
  pressureRequest,
} from './builders.ts';
import { report } from '../policystatus/builders.ts';
import { fieldsOfLine } from '../../docs/pages.ts';

describe('an eviction', () => {
  test('follows a live read; Events on pod and owner, a metric and a log line report it', async () => {
    const env = new EvictionEnvironment(livePod('a', { controller: owner('StatefulSet', 'web') }));
    await env.pass();
    expect(env.evictions.requests).toEqual(['get a', 'evict a']);
    const [onPod, onOwner] = env.recorder.events;
    expect(onPod).toMatchObject({
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a' },
      ...{ type: 'Warning', reason: 'Evicted', action: 'EvictPod' },
    });
    expect(onOwner).toEqual({
      ...{ ...onPod, note: `Evicted pod a. ${onPod?.note}`, occasion: 'uid-a' },
      regarding: { ...owner('StatefulSet', 'web'), namespace: 'default' },
    });
    expect(await env.metric('dustpan_evictions_total', '{eviction_signal="emptydirfs.limit"}')).toBe(1);
    expect(await env.metric('dustpan_evictions_total', '{eviction_signal="ephemeralpodfs.limit"}')).toBe(0);
    const [line] = env.log.lines.filter(({ level }) => level === 'info');
    expect(line).toMatchObject({
      message: 'evicted pod',
      fields: {
        ...{ pod: { namespace: 'default', name: 'a' }, uid: 'uid-a', node: 'node-1' },
        ...{ reason: 'emptydirfs.limit', subject: 'cache', policy: 'default', owner: 'StatefulSet/web' },
        ...{ usedBytes: 130 * mebibyte, limitBytes: 100 * mebibyte },
      },
    });
    const { written, promised } = fieldsOfLine(line);
    expect(written).toEqual(promised);
  });

  test('is not repeated while the cache still shows the pod running', async () => {
    const env = new EvictionEnvironment(livePod('a'));
    await env.pass();
    await env.pass();
    expect(env.evictions.requests).toEqual(['get a', 'evict a']);
    expect(await env.metric('dustpan_eviction_pending_pods')).toBe(0);
  });

  test.each([
    { rule: { gracePeriodSeconds: 17 }, act: 'evict a grace 17' },
    { rule: { respectPodDisruptionBudgets: false, gracePeriodSeconds: 0 }, act: 'delete a grace 0' },
  ])('follows the policy, not the request: $act', async ({ rule, act }) => {
    const env = new EvictionEnvironment(livePod('a', { priority: 1_999_999_999 }));
    env.policies.ranked = [evictPolicy(rule)];
    env.request(evictionRequest('a', { gracePeriodSeconds: 1 }));
    await env.pass();
    expect(env.evictions.acts).toEqual([act]);
    expect(env.recorder.reasons).toEqual(['Evicted Pod/a']);
  });
});

interface Change {
  readonly name: string;
  readonly change: (env: EvictionEnvironment) => unknown;
}
const dryRun = (env: EvictionEnvironment): unknown =>
  (env.policies.ranked = [evictPolicy({}, { mode: 'DryRun' })]);

describe('sends no request', () => {
  test.each<Change>([
    { name: 'without requests of agents', change: (env) => env.nodeReports.items.delete('report-node-1') },
    { name: 'without the lease', change: (env) => (env.leads = false) },
    { name: 'while it is being stopped', change: (env) => env.stop() },
    { name: 'while reports are not synced', change: (env) => (env.nodeReports.synced = false) },
    { name: 'while pods are not synced', change: (env) => (env.pods.synced = false) },
    { name: 'while nodes are not synced', change: (env) => (env.nodes.synced = false) },
    { name: 'while namespaces are not synced', change: (env) => (env.namespaces.synced = false) },
    { name: 'while policies are not synced', change: (env) => (env.policies.synced = false) },
    { name: 'if the live policies differ', change: (env) => env.confirm({ same: false }) },
    { name: 'in mode DryRun', change: dryRun },
  ])('$name', async ({ change }) => {
    const env = new EvictionEnvironment(livePod('a'));
    change(env);
    await env.pass();
    expect(env.evictions.requests).toEqual([]);
    expect(env.recorder.events).toEqual([]);
  });
});

test.each<Change & { readonly result: 'waiting' | undefined }>([
  ...(['nodeReports', 'pods', 'nodes', 'namespaces', 'policies'] as const).map((name) => ({
    name: `${name} are not current`,
    change: (env: EvictionEnvironment) => (env[name].synced = false),
    result: 'waiting' as const,
  })),
  {
    name: 'no report requests anything, and the reports are not current',
    change: (env) => {
      env.nodeReports.items.clear();
      env.nodeReports.synced = false;
    },
    result: 'waiting',
  },
  {
    name: 'the reports are not current, and no policy evicts',
    change: (env) => {
      env.nodeReports.items.clear();
      env.nodeReports.synced = false;
      env.policies.ranked = [];
    },
    result: undefined,
  },
  {
    name: 'no report requests anything',
    change: (env) => env.nodeReports.items.clear(),
    result: undefined,
  },
])('the result of a pass is $result while $name', async ({ change, result }) => {
  const env = new EvictionEnvironment(livePod('a'));
  change(env);
  expect(await env.pass()).toBe(result);
});

describe('the live pod', () => {
  test.each([
    { name: 'gone', over: { name: 'b' }, reason: 'PodGone' },
    { name: 'another one of the same name', over: { uid: 'new' }, reason: 'PodMoved' },
    { name: 'on another node', over: { nodeName: 'node-2' }, reason: 'PodMoved' },
    { name: 'on no node', over: { nodeName: undefined }, reason: 'PodMoved' },
    { name: 'terminating', over: { isTerminating: true }, reason: 'Terminating' },
    { name: 'succeeded', over: { phase: 'Succeeded' }, reason: 'Finished' },
    { name: 'failed', over: { phase: 'Failed' }, reason: 'Finished' },
    { name: 'a mirror', over: { configHash: 'abc' }, reason: 'CriticalPod' },
    { name: 'of the highest priority', over: { priority: 2_000_000_000 }, reason: 'CriticalPod' },
    { name: 'labelled to keep', over: { labels: keepLabel }, reason: 'KeepMarked' },
  ] as const)('is kept if it is $name: $reason', async ({ over, reason }) => {
    const env = new EvictionEnvironment(livePod('a'));
    env.evictions.pods.clear();
    env.evictions.put(livePod('a', over));
    await env.pass();
    expect(env.evictions.requests).toEqual(['get a']);
    expect(env.recorder.events).toEqual([]);
    expect(await env.skipped(reason)).toBe(1);
  });
});

describe('the live pod, whose owner refuses evictions,', () => {
  const doNotDisrupt = 'karpenter.sh/do-not-disrupt: "true"';
  const at95 = evictionRequest('a', { observedBytes: 95 * mebibyte });
  const notRespected = (by: Policy): Policy => ({
    ...by,
    nodes: by.nodes && { ...by.nodes, respectDoNotDisrupt: false },
  });
  const at90 = evictPolicy({ evictAtPercent: 90 });
  const asDefault = evictPolicy({
    defaultLimits: { emptyDirBytes: 100 * mebibyte, podBytes: undefined, containerBytes: undefined },
  });

  test.each<[name: string, request: EvictionRequest, by: Policy, keeps: boolean]>([
    ['is kept below its limit', at95, at90, true],
    ['is evicted above its limit', evictionRequest('a'), at90, false],
    ['is kept above a limit that may be the default of the policy', evictionRequest('a'), asDefault, true],
    ['is kept for node pressure', pressureRequest('a'), pressurePolicy(), true],
    [
      'is evicted for node pressure if the policy does not respect it',
      pressureRequest('a'),
      notRespected(pressurePolicy()),
      false,
    ],
    ['is evicted below its limit if the policy does not respect it', at95, notRespected(at90), false],
  ])('%s', async (_, request, by, keeps) => {
    const env = new EvictionEnvironment(livePod('a', { doNotDisrupt })).request(request);
    env.policies.ranked = [by];
    await env.pass();
    expect(env.evictions.acts).toEqual(keeps ? [] : ['evict a']);
    expect(await env.skipped('DoNotDisrupt')).toBe(keeps ? 1 : 0);
  });

  test('is evicted after the annotation is removed, and read again with pauses until then', async () => {
    const env = new EvictionEnvironment(livePod('a', { doNotDisrupt })).request(at95);
    env.policies.ranked = [at90];
    await env.pass();
    await env.pass();
    expect(env.evictions.requests).toEqual(['get a']);
    expect(await env.kept('DoNotDisrupt')).toBe(1);
    env.evictions.put(livePod('a'));
    env.clock.advance(10_000);
    await env.pass();
    expect(env.evictions.acts).toEqual(['evict a']);
  });
});

describe('keeps the pod if, while it is read,', () => {
  test.each<Change & { readonly reason?: EvictionKeepReason }>([
    { name: 'the lease is lost', change: (env) => (env.leads = false) },
    { name: 'the controller is stopped', change: (env) => env.stop() },
    { name: 'the policy changes to DryRun', change: dryRun },
    { name: 'the watch of reports breaks', change: (env) => (env.nodeReports.synced = false) },
    {
      name: 'live policies change during a slow read',
      change: (env) => {
        env.clock.advance(5_000);
        env.confirm({ same: false });
      },
    },
    { name: 'the node withdraws its request', reason: 'RequestStale', change: (env) => env.request() },
    {
      name: 'the namespace gets the keep label',
      reason: 'KeepMarked',
      change: (env) => env.namespaces.items.set('uid-default', namespace('default', keepLabel)),
    },
    {
      name: 'the node gets the keep label',
      reason: 'KeepMarked',
      change: (env) => env.nodes.items.set('uid-node-1', node('node-1', { labels: keepLabel })),
    },
    {
      name: 'its measurement becomes stale',
      reason: 'RequestStale',
      change: (env) => env.clock.advance(6 * 60_000),
    },
  ])('$name', async ({ change, reason }) => {
    const env = new EvictionEnvironment(livePod('a'));
    env.evictions.onRequest = () => change(env);
    await env.pass();
    expect(env.evictions.requests).toEqual(['get a']);
    expect(env.recorder.events).toEqual([]);
    const skipped = await Promise.all(evictionKeepReasons.map((one) => env.skipped(one)));
    expect(evictionKeepReasons.filter((_, i) => skipped[i] === 1)).toEqual(
      reason === undefined ? [] : [reason],
    );
  });

  test('another policy that ignores budgets begins to govern: the right to evict was not checked', async () => {
    const env = new EvictionEnvironment(livePod('a'));
    const over = { name: 'other', selector: labelled('pool', 'x') };
    env.policies.ranked = [evictPolicy({ respectPodDisruptionBudgets: false }, over), evictPolicy()];
    env.evictions.onRequest = () => {
      env.nodes.items.set('uid-node-1', node('node-1', { labels: { pool: 'x' } }));
      env.nodeReports.items.set(
        'report-node-1',
        report('node-1', { policyUid: 'uid-other', requests: [evictionRequest('a')] }),
      );
    };
    await env.pass();
    expect(env.evictions.requests).toEqual(['get a']);
    expect(await env.skipped('PolicyChanged')).toBe(1);
  });
});

test.each([
  { skew: '2 min ahead of', skewMs: 120_000, acts: ['evict a'] },
  { skew: '2 min behind', skewMs: -120_000, acts: [] },
])('with a measurement 5 min old and our clock $skew the server: $acts', async ({ skewMs, acts }) => {
  const env = new EvictionEnvironment(livePod('a'));
  env.confirm({ clockSkewMs: skewMs });
  env.request(evictionRequest('a', { observedAtMs: minutesAgo(5) }));
  await env.pass();
  expect(env.evictions.acts).toEqual(acts);
  expect(await env.skipped('RequestStale')).toBe(1 - acts.length);
});

test('a critical pod is not read again, nor after a cache was not complete', async () => {
  const env = new EvictionEnvironment(livePod('a', { priority: 2_000_000_000 }));
  await env.pass();
  const { items } = env.pods;
  Object.assign(env.pods, { synced: false, items: new Map() });
  await env.pass();
  expect(await env.kept('PodGone')).toBe(0);
  Object.assign(env.pods, { synced: true, items });
  await env.pass();
  expect(env.evictions.requests).toEqual(['get a']);
  env.request();
  await env.pass();
  env.request(evictionRequest('a'));
  await env.pass();
  expect(env.evictions.requests).toEqual(['get a', 'get a']);
});

test('metrics count requested pods and reasons to keep them', async () => {
  const env = new EvictionEnvironment(livePod('a'), livePod('b'));
  env.policies.ranked = [evictPolicy({}, { mode: 'DryRun' })];
  env.request(evictionRequest('a'), evictionRequest('b', { observedAtMs: minutesAgo(30) }));
  await env.pass();
  expect(await env.metric('dustpan_eviction_pending_pods')).toBe(2);
  expect(await env.kept('PolicyChanged')).toBe(2);
  env.request();
  await env.pass();
  expect(await env.metric('dustpan_eviction_pending_pods')).toBe(0);
  expect(await env.kept('PolicyChanged')).toBe(0);
});
