import { describe, expect, test } from 'vitest';
import { node, now, owner, pod } from '../../../builders.ts';
import { livePod } from '../../../fakes/evictions.ts';
import type { EvictionDecision } from '../../../../src/controllers/eviction/facts.ts';
import { noMemory } from '../../../../src/controllers/eviction/memory.ts';
import { ownerOf, paceAfter } from '../../../../src/controllers/eviction/pace.ts';
import { planSlowed } from '../../../../src/controllers/eviction/slowed.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { evictionRequest, mebibyte, pressurePolicy, pressureRequest } from './builders.ts';
import { EvictionEnvironment } from './environment.ts';
import { ReplacingCluster } from './replacing-cluster.ts';

/** The pods that replace evicted ones do not exceed. */
const behaving = { exceedsAgain: () => false };

const minutesOf = (evicted: Awaited<ReturnType<ReplacingCluster['run']>>): readonly number[] =>
  evicted.map(({ atMs }) => Math.floor(atMs / 60_000));

describe('an owner', () => {
  test('whose only replica exceeds at once loses it with a doubling pause, up to an hour; after two hours it begins anew', async () => {
    const env = new ReplacingCluster({ web: 1 });
    expect(minutesOf(await env.run(240))).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
    env.clock.advance(7_200_000);
    expect(minutesOf(await env.run(4))).toEqual([0, 1, 3]);
  });

  test('that is not known is whoever creates a pod of the same name; the Event is on the pod', async () => {
    const env = new EvictionEnvironment(livePod('a'));
    await env.pass();
    env.pods.items.set('uid-new', pod('a', { phase: 'Running', uid: 'uid-new' }));
    env.pods.items.delete('uid-a');
    env.evictions.put(livePod('a', { uid: 'uid-new' }));
    env.request(evictionRequest('a', { pod: { namespace: 'default', name: 'a', uid: 'uid-new' } }));
    await env.pass();
    expect(env.evictions.acts).toHaveLength(1);
    expect(await env.metric('dustpan_eviction_paced_pods', '{pace="owner"}')).toBe(1);
    expect(env.recorder.events.at(-1)).toMatchObject({
      reason: 'EvictionsSlowed',
      regarding: { kind: 'Pod', uid: 'uid-new' },
    });
  });

  test.each<readonly [name: string, over: Partial<PodFacts>, evicted: number]>([
    ['are pending', { phase: 'Pending', ready: false }, 1],
    ['crash', { ready: false }, 1],
    ['are terminating', { deletionAtMs: 1 }, 1],
    ['have finished', { phase: 'Failed', ready: false }, 1],
    ['are ready, but in another namespace', { namespace: 'other' }, 1],
    ['are ready', {}, 3],
  ])('of which 3 pods are healthy and exceed, and 27 %s, loses %i of them', async (_, over, evicted) => {
    const env = new ReplacingCluster({ web: 3 });
    const controller = owner('ReplicaSet', 'web');
    for (let i = 0; i < 27; i += 1) {
      const one = pod(`other-${i}`, { phase: 'Running', controller, ...over });
      env.pods.items.set(one.uid, one);
    }
    expect(await env.step(behaving)).toHaveLength(evicted);
  });

  test.each<readonly [name: string, over: Partial<PodFacts>, waits: boolean]>([
    ['another is not ready', { ready: false }, true],
    ['another is terminating, and has no replacement yet', { deletionAtMs: 1 }, true],
    ['another is ready', {}, false],
    ['all others have finished', { phase: 'Succeeded', ready: false }, false],
    ['another owner has a pod that is not ready', { ready: false, controller: undefined }, false],
  ])('keeps its last ready pod while %s: %s', async (_, over, waits) => {
    const env = new ReplacingCluster({ web: 1 });
    const controller = owner('ReplicaSet', 'web');
    env.pods.items.set('uid-b', pod('b', { phase: 'Running', controller, ...over }));
    expect(await env.step(behaving)).toEqual(waits ? [] : ['web-1']);
    expect(await env.metric('dustpan_eviction_paced_pods', '{pace="ready"}')).toBe(waits ? 1 : 0);
    env.updatePod('uid-b', { ready: true, deletionAtMs: undefined });
    expect(await env.step(behaving)).toEqual(waits ? ['web-1'] : []);
  });

  test('keeps its last ready pod if the others are not ready any more when its turn comes', async () => {
    const env = new ReplacingCluster({ web: 1, api: 1 });
    const controller = owner('ReplicaSet', 'web');
    env.pods.items.set('uid-b', pod('b', { phase: 'Running', controller }));
    env.evictions.onRequest = (verb, name) => {
      if (`${verb} ${name}` === 'evict api-2') env.updatePod('uid-b', { ready: false });
    };
    expect(await env.step(behaving)).toEqual(['api-2']);
    expect(await env.skipped('PacingLimit')).toBe(1);
  });

  test('whose pod that is not ready exceeds loses it, though one alone is ready', async () => {
    const env = new ReplacingCluster({ web: 1 });
    const controller = owner('ReplicaSet', 'web');
    env.pods.items.set('uid-b', pod('b', { phase: 'Running', controller }));
    env.updatePod('uid-web-1', { ready: false });
    expect(await env.step(behaving)).toEqual(['web-1']);
  });

  test('whose last ready pod waits does not delay other pods of its node that is under pressure', async () => {
    const env = new ReplacingCluster({ web: 1, api: 1 });
    env.policies.ranked = [pressurePolicy()];
    const controller = owner('ReplicaSet', 'web');
    env.pods.items.set('uid-b', pod('b', { phase: 'Pending', ready: false, controller }));
    expect(await env.step({ request: pressureRequest })).toEqual(['api-2']);
  });

  test('whose pods become unready while some are evicted loses fewer', async () => {
    const env = new ReplacingCluster({ web: 30 });
    env.evictions.onRequest = (verb) => {
      if (verb === 'evict')
        for (const [uid, one] of [...env.pods.items].slice(5))
          env.pods.items.set(uid, { ...one, ready: false });
    };
    expect(await env.step(behaving)).toHaveLength(1);
  });

  test('whose terminating and finished pods do not count', async () => {
    const env = new ReplacingCluster({ web: 21 });
    env.updatePod('uid-web-1', { deletionAtMs: 1 });
    env.updatePod('uid-web-2', { phase: 'Failed' });
    expect(await env.step(behaving)).toHaveLength(1);
  });
});

test('the cluster counts evictions for node pressure, by the default if the policy has no rule for limits', async () => {
  const nodes = Array.from({ length: 12 }, (_, i) => `node-${i + 1}`);
  const env = new ReplacingCluster(Object.fromEntries(nodes.map((name) => [name, 1])), {}, (name) => name);
  for (const name of nodes) env.nodes.items.set(`uid-${name}`, node(name));
  const policy = pressurePolicy();
  env.policies.ranked = [
    { ...policy, nodes: policy.nodes && { ...policy.nodes, localStorageEviction: undefined } },
  ];
  expect(await env.step({ request: pressureRequest })).toHaveLength(10);
  env.clock.advance(10_000);
  await env.step({ request: pressureRequest });
  expect(await env.metric('dustpan_eviction_paced_pods', '{pace="cluster"}')).toBe(2);
});

test('a new leader evicts no pod for a minute, because the one before may just have', async () => {
  const env = new ReplacingCluster({ web: 1 });
  await env.step();
  env.lead();
  expect(await env.step()).toEqual([]);
  expect(await env.metric('dustpan_eviction_paced_pods', '{pace="leader"}')).toBe(1);
  env.clock.advance(60_000);
  expect(await env.step()).toEqual(['web-2']);
});

describe('Events on the owner', () => {
  test('report once that evictions are slowed, and each time that the pause doubles', async () => {
    const env = new ReplacingCluster({ web: 1 });
    await env.run(8);
    const slowed = env.recorder.events.filter(({ reason }) => reason === 'EvictionsSlowed');
    expect(slowed.map(({ regarding }) => `${regarding.kind}/${regarding.name}`)).toEqual(
      slowed.map(() => 'ReplicaSet/web'),
    );
    const waits =
      '1 pod is due for eviction and waits: dustpan evicts at most 1 of the pods of this owner a minute (ready: 1).';
    const again = 'Replacements of evicted pods are due again: dustpan waits';
    expect(slowed.map(({ note }) => note.replace(/ Raise .*/, ''))).toEqual([
      waits,
      ...['2m', '4m', '8m'].map((pause) => `${waits} ${again} ${pause} after the last eviction.`),
    ]);
  });

  test('count the pods that wait', async () => {
    const env = new ReplacingCluster({ web: 3 });
    await env.run(2);
    const [slowed] = env.recorder.events.filter(({ reason }) => reason === 'EvictionsSlowed');
    expect(slowed?.note).toMatch(/^3 pods are due for eviction and wait: dustpan evicts at most 1 /);
  });

  test('know nothing about a pod that is gone, and no count of unknown pods', () => {
    const known = pod('a');
    const pace = paceAfter(undefined, { ...known, allowance: 1 }, { wallMs: now.getTime(), monotonicMs: 0 });
    const decisions = [
      { target: { uid: known.uid }, reason: 'PacingLimit', pace: 'owner' },
    ] as unknown as readonly EvictionDecision[];
    const memory = { ...noMemory, owners: new Map([[ownerOf(known), pace]]) };
    expect(planSlowed(decisions, { pods: new Map(), replicas: new Map(), memory })).toEqual([]);
    const pods = new Map([[known.uid, known]]);
    expect(planSlowed(decisions, { pods, replicas: new Map(), memory })).toMatchObject([
      { waiting: 1, replicas: { ready: 0, others: 0 } },
    ]);
  });
});

describe('a node under pressure whose evicted pod returns', () => {
  /** Uses 90 MiB; of the disk 100 MiB are available. */
  const usual = { request: pressureRequest };
  const available = (bytes: number) => ({
    request: (name: string) =>
      pressureRequest(name, { shortage: { available: bytes, threshold: 150 * mebibyte } }),
  });
  const ofInodes = { request: (name: string) => pressureRequest(name, { signal: 'nodefs.inodesFree' }) };
  function pressed(): ReplacingCluster {
    const env = new ReplacingCluster({ web: 1 });
    env.policies.ranked = [pressurePolicy()];
    return env;
  }

  test('loses three pods, then none; an Event on the node reports it once', async () => {
    const env = pressed();
    expect(await env.run(180, usual)).toHaveLength(3);
    const stopped = env.recorder.events.filter(({ reason }) => reason === 'EvictionsStopped');
    expect(stopped.map(({ regarding }) => regarding)).toEqual([
      { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid-node-1', namespace: undefined },
    ]);
    expect(stopped[0]?.note).toMatch(
      /^The node is low on disk space .*\. Three evictions freed nothing, so dustpan evicts no more pods for it until more is available\./,
    );
    expect(await env.kept('NothingFreed')).toBe(1);
  });

  test.each<readonly [name: string, pauseMs: number, step: typeof usual, minutes: number, count: number]>([
    ['by less than a tenth of what they used', 0, available(127 * mebibyte - 1), 1, 0],
    ['by a tenth', 0, available(127 * mebibyte), 1, 1],
    // Ten seconds have passed since the last report.
    ['by nothing in less than ten minutes without pressure', 589_999, usual, 1, 0],
    ['by ten minutes without pressure', 590_000, usual, 1, 1],
    ['by a shortage of another signal', 0, ofInodes, 180, 3],
  ])('begins anew %s', async (_, pauseMs, ...[step, minutes, count]) => {
    const env = pressed();
    await env.run(60, usual);
    env.nodeReports.items.clear();
    env.clock.advance(pauseMs);
    expect(await env.run(minutes, step)).toHaveLength(count);
  });
});

test.each([
  { error: new ApiError('a webhook fails', { status: 500 }), counts: false },
  { error: new ApiError('a gateway responds', { status: 504 }), counts: true },
  { error: new Error('connection lost'), counts: true },
])(
  '$error.message: whether the request counts as an eviction of its owner: $counts',
  async ({ error, counts }) => {
    const cluster = new ReplacingCluster({ a: 20 });
    const first = [...cluster.pods.items.values()][0]?.name ?? '';
    cluster.evictions.outcomes.set(first, error);
    await cluster.step().catch(() => undefined);
    const tried = new Set(cluster.evictions.acts);
    expect(tried).toContain(`evict ${first}`);
    expect(tried.size).toBe(counts ? 2 : 3);
  },
);
