import { describe, expect, test } from 'vitest';
import { evictionKeepReasons } from '../../../../src/api/reasons.ts';
import { bounded, bounds } from '../../../../src/runtime/bounds.ts';
import { labelled, minutesAgo, node, owner } from '../../../builders.ts';
import { livePod } from '../../../fakes/evictions.ts';
import { EvictionBed, many } from './environment.ts';
import { asks, evictPolicy, keepMark, mebibyte, namespace } from './builders.ts';
import { report } from '../policystatus/builders.ts';

const noBudgets = (): readonly ReturnType<typeof evictPolicy>[] => [
  evictPolicy({ respectPodDisruptionBudgets: false, gracePeriodSeconds: 0 }),
];

describe('an eviction', () => {
  test('is made after a live look, told on the pod and its owner, counted and logged', async () => {
    const bed = new EvictionBed(livePod('a', { controller: owner('StatefulSet', 'web') }));
    await bed.pass();
    expect(bed.evictions.requests).toEqual(['get a', 'evict a']);
    const note =
      'Usage of EmptyDir volume "cache" exceeds the limit "100Mi". It uses 130 MiB, 130 % of the limit 100Mi.';
    expect(bed.recorder.events).toEqual([
      {
        regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a' },
        ...{ type: 'Warning', reason: 'Evicted', action: 'EvictPod', note },
      },
      {
        regarding: { ...owner('StatefulSet', 'web'), namespace: 'default' },
        ...{ type: 'Warning', reason: 'Evicted', action: 'EvictPod', note: `Evicted pod a. ${note}` },
        occasion: 'uid-a',
      },
    ]);
    expect(await bed.metric('dustpan_evictions_total', '{eviction_signal="emptydirfs.limit"}')).toBe(1);
    expect(await bed.metric('dustpan_evictions_total', '{eviction_signal="ephemeralpodfs.limit"}')).toBe(0);
    const [line] = bed.log.lines.filter(({ level }) => level === 'info');
    expect(line).toMatchObject({
      message: 'evicted pod',
      fields: {
        ...{ pod: { namespace: 'default', name: 'a' }, uid: 'uid-a', node: 'node-1' },
        ...{ reason: 'emptydirfs.limit', subject: 'cache', policy: 'default', owner: 'StatefulSet/web' },
        ...{ usedBytes: 130 * mebibyte, limitBytes: 100 * mebibyte },
      },
    });
  });

  test('of a static pod is told on its Node, which is in no namespace', async () => {
    const node = { ...owner('Node', 'node-1'), apiVersion: 'v1' };
    const bed = new EvictionBed(livePod('a', { controller: node }));
    await bed.pass();
    expect(bed.recorder.events[1]?.regarding).toEqual({ ...node, namespace: undefined });
  });

  test('is not told on an owner with a name that nothing can have', async () => {
    const controller = { ...owner('Job', 'j'), name: bounded('j'.repeat(1_400_000), bounds.name) };
    const bed = new EvictionBed(livePod('a', { controller }));
    await bed.pass();
    expect(bed.recorder.events.map(({ regarding }) => regarding.kind)).toEqual(['Pod']);
  });

  test('is not repeated while the cache still shows the pod running', async () => {
    const bed = new EvictionBed(livePod('a'));
    await bed.pass();
    await bed.pass();
    expect(bed.evictions.requests).toEqual(['get a', 'evict a']);
    expect(await bed.metric('dustpan_eviction_pending_pods')).toBe(0);
  });

  test('has the grace that the policy sets, not the one of the request', async () => {
    const bed = new EvictionBed(livePod('a'));
    bed.policies.ranked = [evictPolicy({ gracePeriodSeconds: 17 })];
    bed.ask(asks('a', { gracePeriodSeconds: 0 }));
    await bed.pass();
    expect(bed.evictions.acts).toEqual(['evict a grace 17']);
  });

  test('is a delete where the policy asks no budgets', async () => {
    const bed = new EvictionBed(livePod('a'));
    bed.policies.ranked = noBudgets();
    await bed.pass();
    expect(bed.evictions.acts).toEqual(['delete a grace 0']);
    expect(bed.recorder.reasons).toEqual(['Evicted Pod/a']);
  });

  test('is one of a few at a time, and all are made', async () => {
    const bed = many(30);
    await bed.pass();
    expect(bed.evictions.acts).toHaveLength(30);
    expect(bed.evictions.mostAtOnce).toBe(4);
  });

  test('is about figures that are newer by then', async () => {
    const bed = new EvictionBed(livePod('a'));
    bed.evictions.onRequest = (verb) => {
      if (verb === 'get') bed.ask(asks('a', { observedBytes: 150 * mebibyte }));
    };
    await bed.pass();
    expect(bed.recorder.events[0]?.note).toContain('150 MiB');
  });
});

describe('nothing is asked of the API server', () => {
  test.each<{ name: string; change: (bed: EvictionBed) => void }>([
    {
      name: 'when nobody asks',
      change: (bed) => {
        bed.nodeReports.items.clear();
      },
    },
    { name: 'when this process does not lead', change: (bed) => (bed.leads = false) },
    {
      name: 'when it is being stopped',
      change: (bed) => {
        bed.stop();
      },
    },
    { name: 'when reports are not watched', change: (bed) => (bed.nodeReports.synced = false) },
    { name: 'when pods are not watched', change: (bed) => (bed.pods.synced = false) },
    { name: 'when nodes are not watched', change: (bed) => (bed.nodes.synced = false) },
    { name: 'when namespaces are not watched', change: (bed) => (bed.namespaces.synced = false) },
    { name: 'when policies are not watched', change: (bed) => (bed.policies.synced = false) },
    {
      name: 'when the live policies are others',
      change: (bed) => (bed.policies.confirm = () => Promise.resolve({ same: false, clockSkewMs: 0 })),
    },
    {
      name: 'when the policy is in DryRun',
      change: (bed) => (bed.policies.ranked = [evictPolicy({}, { mode: 'DryRun' })]),
    },
    {
      name: 'when the report is of another node',
      change: (bed) => {
        bed.nodeReports.items.clear();
        bed.askFrom('node-2', asks('a'));
      },
    },
  ])('$name', async ({ change }) => {
    const bed = new EvictionBed(livePod('a'));
    change(bed);
    await bed.pass();
    expect(bed.evictions.requests).toEqual([]);
    expect(bed.recorder.events).toEqual([]);
  });
});

describe('the live pod stops an eviction', () => {
  test.each([
    { name: 'gone', over: { name: 'b' }, reason: 'PodGone' },
    { name: 'another of the same name', over: { uid: 'new' }, reason: 'PodMoved' },
    { name: 'on another node', over: { nodeName: 'node-2' }, reason: 'PodMoved' },
    { name: 'on no node', over: { nodeName: undefined }, reason: 'PodMoved' },
    { name: 'terminating', over: { isTerminating: true }, reason: 'Terminating' },
    { name: 'succeeded', over: { phase: 'Succeeded' }, reason: 'Finished' },
    { name: 'failed', over: { phase: 'Failed' }, reason: 'Finished' },
    { name: 'a mirror', over: { configHash: 'abc' }, reason: 'CriticalPod' },
    { name: 'of the highest priority', over: { priority: 2_000_000_000 }, reason: 'CriticalPod' },
    { name: 'marked', over: { labels: keepMark }, reason: 'KeepMarked' },
  ])('$name: $reason', async ({ over, reason }) => {
    const bed = new EvictionBed(livePod('a'));
    bed.evictions.pods.clear();
    bed.evictions.put(livePod('a', over));
    await bed.pass();
    expect(bed.evictions.requests).toEqual(['get a']);
    expect(bed.recorder.events).toEqual([]);
    expect(await bed.metric('dustpan_eviction_skipped_pods_total', `{reason="${reason}"}`)).toBe(1);
  });

  test('a priority just below does not', async () => {
    const bed = new EvictionBed(livePod('a', { priority: 1_999_999_999 }));
    await bed.pass();
    expect(bed.evictions.acts).toEqual(['evict a']);
  });

  test('a critical pod is not read again and again', async () => {
    const bed = new EvictionBed(livePod('a', { priority: 2_000_001_000 }));
    await bed.pass();
    await bed.pass();
    expect(bed.evictions.requests).toEqual(['get a']);
  });
});

describe('what changes while the pod is read stops an eviction', () => {
  test.each<{ name: string; change: (bed: EvictionBed) => void; reason?: string }>([
    { name: 'the lease is lost', change: (bed) => (bed.leads = false) },
    {
      name: 'a stop',
      change: (bed) => {
        bed.stop();
      },
    },
    {
      name: 'the policy goes to DryRun',
      change: (bed) => (bed.policies.ranked = [evictPolicy({}, { mode: 'DryRun' })]),
    },
    { name: 'the watch of reports breaks', change: (bed) => (bed.nodeReports.synced = false) },
    {
      name: 'the node withdraws its request',
      reason: 'RequestStale',
      change: (bed) => {
        bed.ask();
      },
    },
    {
      name: 'the namespace is marked',
      reason: 'KeepMarked',
      change: (bed) => bed.namespaces.items.set('uid-default', namespace('default', keepMark)),
    },
    {
      name: 'the node is marked',
      reason: 'KeepMarked',
      change: (bed) => bed.nodes.items.set('uid-node-1', node('node-1', { labels: keepMark })),
    },
    {
      name: 'the node is gone',
      reason: 'NodeUnknown',
      change: (bed) => bed.nodes.items.delete('uid-node-1'),
    },
    {
      name: 'the pod is found finished by the watch',
      reason: 'Finished',
      change: (bed) => {
        bed.mark('uid-a', { phase: 'Failed' });
      },
    },
    {
      name: 'time, so that the figures are old',
      reason: 'RequestStale',
      change: (bed) => {
        bed.clock.advance(6 * 60_000);
      },
    },
  ])('$name', async ({ change, reason }) => {
    const bed = new EvictionBed(livePod('a'));
    bed.evictions.onRequest = () => {
      change(bed);
    };
    await bed.pass();
    expect(bed.evictions.requests).toEqual(['get a']);
    expect(bed.recorder.events).toEqual([]);
    const skipped = await Promise.all(
      evictionKeepReasons.map((one) =>
        bed.metric('dustpan_eviction_skipped_pods_total', `{reason="${one}"}`),
      ),
    );
    expect(evictionKeepReasons.filter((_, i) => skipped[i] === 1)).toEqual(
      reason === undefined ? [] : [reason],
    );
  });

  test('another policy governs the node, which ignores budgets: the right to evict was not checked', async () => {
    const bed = new EvictionBed(livePod('a'));
    const over = { name: 'other', selector: labelled('pool', 'x') };
    bed.policies.ranked = [evictPolicy({ respectPodDisruptionBudgets: false }, over), evictPolicy()];
    bed.evictions.onRequest = () => {
      bed.nodes.items.set('uid-node-1', node('node-1', { labels: { pool: 'x' } }));
      bed.nodeReports.items.set(
        'report-node-1',
        report('node-1', { policyUid: 'uid-other', requests: [asks('a')] }),
      );
    };
    await bed.pass();
    expect(bed.evictions.requests).toEqual(['get a']);
    expect(await bed.metric('dustpan_eviction_skipped_pods_total', '{reason="PolicyChanged"}')).toBe(1);
  });

  test('policies that are others by the time a slow read of the pod has ended', async () => {
    const bed = new EvictionBed(livePod('a'));
    bed.evictions.onRequest = () => {
      bed.clock.advance(5_000);
      bed.policies.confirm = () => Promise.resolve({ same: false, clockSkewMs: 0 });
    };
    await bed.pass();
    expect(bed.evictions.requests).toEqual(['get a']);
  });
});

test('figures that only our own clock calls fresh evict nobody', async () => {
  const bed = new EvictionBed(livePod('a'));
  bed.policies.confirm = () => Promise.resolve({ same: true, clockSkewMs: -3_600_000 });
  await bed.pass();
  expect(bed.evictions.acts).toEqual([]);
  expect(await bed.metric('dustpan_eviction_skipped_pods_total', '{reason="RequestStale"}')).toBe(1);
});

test.each([
  { name: 'ahead of', skewMs: 120_000, acts: ['evict a'] },
  { name: 'behind', skewMs: -120_000, acts: [] },
])('our clock is 2 min $name the server, the figures 5 min old by it: $acts', async ({ skewMs, acts }) => {
  const bed = new EvictionBed(livePod('a'));
  bed.policies.confirm = () => Promise.resolve({ same: true, clockSkewMs: skewMs });
  bed.ask(asks('a', { observedAtMs: minutesAgo(5) }));
  await bed.pass();
  expect(bed.evictions.acts).toEqual(acts);
});

test('of two nodes each gets its own pod', async () => {
  const bed = new EvictionBed(livePod('a'), livePod('b', { nodeName: 'node-2' }));
  bed.mark('uid-b', { nodeName: 'node-2' });
  bed.ask(asks('a'));
  bed.askFrom('node-2', asks('b'));
  await bed.pass();
  expect([...bed.evictions.acts].sort()).toEqual(['evict a', 'evict b']);
});

test('what was found out stays while a cache is not complete', async () => {
  const bed = new EvictionBed(livePod('a', { priority: 2_000_000_000 }));
  await bed.pass();
  const pods = new Map(bed.pods.items);
  bed.pods.synced = false;
  bed.pods.items.clear();
  await bed.pass();
  expect(await bed.metric('dustpan_eviction_kept_pods', '{reason="PodGone"}')).toBe(0);
  bed.pods.synced = true;
  for (const [uid, pod] of pods) bed.pods.items.set(uid, pod);
  await bed.pass();
  expect(bed.evictions.requests).toEqual(['get a']);
});

test('what is asked for and why it stays is in the metrics', async () => {
  const bed = new EvictionBed(livePod('a'), livePod('b'));
  bed.policies.ranked = [evictPolicy({}, { mode: 'DryRun' })];
  bed.ask(asks('a'), asks('b', { observedAtMs: minutesAgo(30) }));
  await bed.pass();
  expect(await bed.metric('dustpan_eviction_pending_pods')).toBe(2);
  expect(await bed.metric('dustpan_eviction_kept_pods', '{reason="PolicyChanged"}')).toBe(2);
  bed.ask();
  await bed.pass();
  expect(await bed.metric('dustpan_eviction_pending_pods')).toBe(0);
  expect(await bed.metric('dustpan_eviction_kept_pods', '{reason="PolicyChanged"}')).toBe(0);
});
