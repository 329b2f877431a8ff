import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { FakeCluster } from '../../../fakes/cluster.ts';
import { livePolicies } from '../../../fakes/evictions.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { minutesAgo, node, pod, policy, terminatedRule } from '../../../builders.ts';
import {
  environmentOf,
  expireAll,
  inTheMiddle,
  keepLabel,
  many,
  orphan,
  type Environment,
} from './environment.ts';
import { outOfServiceNode } from './rows.ts';

const unreadable = (): Promise<never> => Promise.reject(new Error('server down'));

/** The reasons of the deletions that checks prevented. */
async function skipped({ metrics }: Environment): Promise<unknown[]> {
  const { values } = await metrics.skipped.get();
  return values.filter(({ value }) => value > 0).map(({ labels }) => labels.reason);
}

describe('live policies', () => {
  test('that differ from those of the plan prevent every deletion, without a failure', async () => {
    const { cluster, pass } = environmentOf(many(20), expireAll());
    cluster.policies = () => Promise.resolve(livePolicies({ same: false }));
    await pass();
    expect(cluster.requests).toEqual([]);
  });

  test('that cannot be read in the middle of a pass end it: it reports its deletions and fails', async () => {
    const made = environmentOf(many(500), expireAll());
    const sent = inTheMiddle(made, () => {
      made.clock.advance(5_000);
      made.cluster.policies = unreadable;
    });
    await expect(made.pass()).rejects.toMatchObject({
      message: 'confirming policies',
      cause: { message: 'server down' },
    });
    expect(made.cluster.requests).toHaveLength(sent());
    expect(500 - made.cluster.podNames.length).toBe(sent());
    expect(made.reports.at(-1)?.deleted).toBe(sent());
  });
});

test('a live node that takes too long to read counts as unknown, and the other pods are deleted', async () => {
  const both = policy({
    pods: { orphaned: { quarantineMs: 0 }, terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) },
  });
  const made = environmentOf([orphan, ...many(2)], both);
  made.cluster.fault((verb) => {
    if (verb === 'get') made.clock.advance(5_000);
    return undefined;
  });
  await made.pass();
  expect(made.cluster.podNames).toEqual(['orphan']);
  expect(await skipped(made)).toEqual(['NodeUnknown']);
});

describe('the live namespace', () => {
  const other = { uid: 'uid-default', name: 'default', resourceVersion: '2' };

  test.each([
    { name: 'has the keep label', live: { ...other, labels: keepLabel }, reason: 'KeepMarked' },
    { name: 'has other labels than in the plan', live: { ...other, labels: { env: 'prod' } } },
    { name: 'does not exist', live: undefined },
  ])('that $name keeps its pods', async ({ live, reason = 'NamespaceUnknown' }) => {
    const made = environmentOf(many(2), expireAll());
    made.cluster.namespace = () => Promise.resolve(live);
    await made.pass();
    expect(made.cluster.podNames).toEqual(['p0000', 'p0001']);
    expect(await skipped(made)).toEqual([reason]);
  });

  test('that has the labels of the plan, another one than dustpan reads included, keeps no pod', async () => {
    const made = environmentOf(many(2), expireAll());
    const labelled = { ...other, labels: { env: 'prod' } };
    made.namespaces.set(labelled.uid, labelled);
    made.cluster.namespace = () => Promise.resolve(labelled);
    await made.pass();
    expect(made.cluster.podNames).toEqual([]);
  });
});

test.each([
  { name: 'is still out of service', live: outOfServiceNode, kept: [] },
  { name: 'has recovered', live: node('node-1'), kept: ['NodeRecovered'] },
  { name: 'has the keep label', live: { ...outOfServiceNode, labels: keepLabel }, kept: ['KeepMarked'] },
  { name: 'does not exist', live: undefined, kept: ['NodeUnknown'] },
])('a node out of service that $name, by a live read, keeps its pods: $kept', async ({ live, kept }) => {
  const cluster = new FakeCluster([pod('stuck', { phase: 'Running', deletionAtMs: 1 })], [outOfServiceNode]);
  cluster.node = () => Promise.resolve(live);
  const made = environmentOf(cluster, policy({ pods: { outOfService: true } }));
  await made.pass();
  expect(await skipped(made)).toEqual(kept);
  expect(cluster.podNames).toEqual(kept.length > 0 ? ['stuck'] : []);
  // Only an orphan gets the condition, as upstream.
  expect([...cluster.failed]).toEqual(kept.length > 0 ? [] : [['stuck', undefined]]);
});

/** What a controller is connected to, and changes in the middle of a pass. */
interface Switches {
  readonly made: Environment;
  leads: boolean;
  readonly namespaces: { synced: boolean };
}

test.each<{ name: string; change: (all: Switches) => unknown; stale?: number; kept?: string }>([
  {
    name: 'a new keep label on the namespace',
    change: ({ made }) => made.labelNamespace(),
    stale: 0,
    kept: 'KeepMarked',
  },
  {
    name: 'a new keep label on their node',
    change: ({ made }) => {
      const labelled = { ...node('node-1'), labels: keepLabel };
      made.cluster.nodes.set(labelled.uid, labelled);
    },
    stale: 0,
    kept: 'KeepMarked',
  },
  { name: 'a policy that is deleted', change: ({ made }) => (made.policies.ranked = []) },
  {
    name: 'a policy in DryRun',
    change: ({ made }) => (made.policies.ranked = [expireAll({ mode: 'DryRun' })]),
  },
  { name: 'a cache of policies that stops working', change: ({ made }) => (made.policies.synced = false) },
  { name: 'a cache of namespaces that stops working', change: (all) => (all.namespaces.synced = false) },
  { name: 'a lost lease', change: (all) => (all.leads = false), stale: 0 },
  {
    name: 'a minute since the plan',
    change: ({ made }) => made.clock.advance(60_000),
  },
  {
    name: 'a clock that is set back',
    change: ({ made }) => made.clock.stepWall(-3_600_000),
  },
])('not one more request begins after $name in the middle of a pass', async ({ change, stale = 1, kept }) => {
  const namespaces = {
    synced: true,
    get items() {
      return made.namespaces;
    },
  };
  let staleCount = 0;
  const made: Environment = environmentOf(many(500), expireAll(), {
    namespaces,
    holdsLease: () => all.leads,
    onStale: () => (staleCount += 1),
  });
  const all: Switches = { made, leads: true, namespaces };
  const sent = inTheMiddle(made, () => change(all));
  await made.pass();
  expect(sent()).toBeGreaterThanOrEqual(100);
  expect(made.cluster.requests).toHaveLength(sent());
  expect(await skipped(made)).toEqual(kept === undefined ? [] : [kept]);
  // Whether the next pass starts at once.
  expect(staleCount).toBe(stale);
});

const orphansAtOnce = policy({ pods: { orphaned: { quarantineMs: 0 } } });

test.each([
  { read: 'namespace', reason: 'NamespaceUnknown' },
  { read: 'node', reason: 'NodeUnknown' },
] as const)('a $read that cannot be read live keeps its pods; log and report have it', async (row) => {
  const log = new RecordingLogger();
  const made = environmentOf(many(2, { phase: 'Running', nodeName: 'node-gone' }), orphansAtOnce, { log });
  made.cluster[row.read] = unreadable;
  await made.pass();
  expect(made.cluster.podNames).toHaveLength(2);
  expect(await skipped(made)).toEqual([row.reason]);
  expect(made.reports.at(-1)).toMatchObject({ due: 2, deleted: 0, failed: 0, unverified: 2 });
  const name = { namespace: 'default', node: 'node-gone' }[row.read];
  const warnings = log.lines.filter(({ level }) => level === 'warn');
  expect(warnings).toMatchObject([
    { message: `reading ${row.read} failed`, fields: { [row.read]: name, err: { message: 'server down' } } },
  ]);
});

test('of many nodes that cannot be read, ten are logged', async () => {
  const log = new RecordingLogger();
  const pods = many(12, { phase: 'Running' }).map((one, i) => ({ ...one, nodeName: `gone-${i}` }));
  const made = environmentOf(pods, orphansAtOnce, { log });
  made.cluster.node = unreadable;
  await made.pass();
  expect(made.cluster.podNames).toHaveLength(12);
  expect(log.lines.filter(({ message }) => message === 'reading node failed')).toHaveLength(10);
});

test.each([-3_600_000, 3_600_000])(
  'with a clock that is off by %d ms no ttl is judged, but thresholds are',
  async (clockSkewMs) => {
    const both = policy({
      pods: { terminated: terminatedRule({ threshold: 1, ttlAfterFinishedMs: 600_000 }) },
    });
    const log = new RecordingLogger();
    const pods = [...many(3, { finishedAtMs: minutesAgo(60) }), pod('x', { finishedAtMs: minutesAgo(5) })];
    const made = environmentOf([...pods, pod('y', { finishedAtMs: minutesAgo(5) })], both, { log });
    made.cluster.policies = () => Promise.resolve(livePolicies({ clockSkewMs }));
    await made.pass();
    expect(made.cluster.podNames.toSorted()).toEqual(['p0000', 'p0001', 'p0002', 'y']);
    expect(await skipped(made)).toEqual(['ClockUnsure']);
    expect(made.reports.at(-1)).toMatchObject({ deleted: 1, failed: 0, clockUnsure: 3 });
    const warnings = log.lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ fields }) => fields)).toEqual([{ aheadSeconds: clockSkewMs / 1000 }]);
  },
);

test('a clock an hour ahead that is corrected between plan and live read deletes no pod before its ttl', async () => {
  const ttl = policy({ pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 1_800_000 }) } });
  const pods = [pod('young', { finishedAtMs: minutesAgo(10) }), pod('old', { finishedAtMs: minutesAgo(31) })];
  const made = environmentOf(pods, ttl);
  made.clock.stepWall(3_600_000);
  made.cluster.policies = () => {
    made.clock.stepWall(-3_600_000);
    made.cluster.policies = () => Promise.resolve(livePolicies());
    return Promise.resolve(livePolicies());
  };
  await made.pass();
  expect(made.cluster.podNames).toEqual(['old', 'young']);
  await made.pass();
  expect(made.cluster.podNames).toEqual(['young']);
});

describe('pods that cannot be deleted', () => {
  /** A webhook responds with a Status. */
  const denial = (status: number): ApiError =>
    new ApiError('admission webhook "guard" denied it', { status, isStatus: true, retryAfterMs: 30_000 });
  /** Responds with this status to each request about the first pods. */
  const guard = ({ cluster }: Environment, count: number, status: number): void =>
    cluster.fault((_, name) => (Number(name.slice(1)) < count ? denial(status) : undefined));

  test.each([403, 429])(
    'because a webhook denies with %i: all others are deleted in the same pass',
    async (status) => {
      const made = environmentOf(many(97), expireAll());
      guard(made, 47, status);
      await expect(made.pass()).rejects.toThrow('47 of 97 failed, the first default/p0000');
      expect(made.cluster.podNames).toHaveLength(47);
      expect(made.reports.at(-1)).toMatchObject({ due: 47, deleted: 50, failed: 47 });
    },
  );

  test('wait, each longer with every failure, and are tried after all others', async () => {
    const made = environmentOf(many(3), expireAll());
    const { cluster, clock, pass, reports } = made;
    guard(made, 2, 403);
    await expect(pass()).rejects.toThrow('2 of 3 failed');
    clock.advance(19_999);
    await pass();
    expect(reports.at(-1)).toMatchObject({ due: 0, waiting: 2, deleted: 0, failed: 2 });
    cluster.pods.set('late', pod('p9', { uid: 'late', finishedAtMs: 0 }));
    cluster.requests.length = 0;
    clock.advance(1);
    await expect(pass()).rejects.toThrow('2 of 3 failed');
    expect(cluster.requests).toEqual(['delete p9', 'delete p0000', 'delete p0001']);
    clock.advance(39_999);
    await pass();
    expect(cluster.requests).toHaveLength(3);
  });

  test('because the API server is not reachable end the pass early', async () => {
    const cause = new Error('connection refused');
    const { cluster, pass } = environmentOf(many(2_000), expireAll());
    cluster.fault(() => cause);
    await expect(pass()).rejects.toMatchObject({ cause });
    expect(cluster.requests.length).toBeLessThan(80);
    expect(cluster.podNames).toHaveLength(2_000);
  });
});
