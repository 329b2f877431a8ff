import { describe, expect, test } from 'vitest';
import type { PodDeleteReason } from '../../../../src/api/reasons.ts';
import { recheckNode, type LiveNode } from '../../../../src/controllers/podgc/checks.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { FakeCluster, storeOf } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { minutesAgo, node, pod, policy, terminatedRule } from '../../../builders.ts';
import {
  afterQuarantine,
  environmentOf,
  expireAll,
  inTheMiddle,
  keepLabel,
  many,
  orphan,
  orphanPolicy,
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
    const { cluster, policies, pass } = environmentOf(many(20), expireAll());
    policies.confirm = () => Promise.resolve({ same: false, clockSkewMs: 0 });
    await pass();
    expect(cluster.requests).toEqual([]);
  });

  test('that cannot be read prevent every deletion, and the pass fails', async () => {
    const { cluster, policies, pass, reports } = environmentOf(many(20), expireAll());
    policies.confirm = unreadable;
    await expect(pass()).rejects.toMatchObject({
      message: 'confirming policies',
      cause: { message: 'server down' },
    });
    expect(cluster.requests).toEqual([]);
    expect(reports).toMatchObject([{ deleted: 0, failed: 0 }]);
  });

  test('that cannot be read in the middle of a pass end it: it reports its deletions and fails', async () => {
    const made = environmentOf(many(500), expireAll());
    const { cluster, reports } = made;
    const sent = inTheMiddle(made, () => {
      made.clock.advance(5_000);
      made.policies.confirm = unreadable;
    });
    await expect(made.pass()).rejects.toThrow('confirming policies');
    expect(cluster.requests).toHaveLength(sent());
    expect(500 - cluster.podNames.length).toBe(sent());
    expect(reports.at(-1)?.deleted).toBe(sent());
  });

  test('that are always read too slowly prevent every deletion, and the pass fails', async () => {
    const { cluster, clock, policies, pass } = environmentOf(many(1), expireAll());
    policies.confirm = () => {
      clock.advance(5_000);
      return Promise.resolve({ same: true, clockSkewMs: 0 });
    };
    await expect(pass()).rejects.toThrow('re-checking live before a removal takes longer than 5 s');
    expect(cluster.requests).toEqual([]);
  });
});

describe('the live node of an orphan', () => {
  test('is read once more if the policies were read slowly, and keeps the pod if it is back', async () => {
    const { cluster, clock, policies, pass } = await afterQuarantine();
    policies.confirm = () => {
      clock.advance(5_000);
      cluster.unseenNodes.set('uid-back', node('node-gone'));
      return Promise.resolve({ same: true, clockSkewMs: 0 });
    };
    await pass();
    expect(cluster.requests).toEqual(['get node-gone', 'get node-gone']);
  });

  test('counts as unknown if every read is stale before the deletion', async () => {
    const made = await afterQuarantine();
    made.policies.confirm = () => {
      made.clock.advance(5_000);
      return Promise.resolve({ same: true, clockSkewMs: 0 });
    };
    await made.pass();
    expect(made.cluster.requests).toEqual(['get node-gone', 'get node-gone', 'get node-gone']);
    expect(await skipped(made)).toEqual(['NodeUnknown']);
  });

  test('counts as unknown if reading it takes too long, and the other pods are deleted', async () => {
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

  test.each<{ name: string; change: (made: Environment, lose: () => void) => void }>([
    {
      name: 'the policy changes to DryRun',
      change: ({ policies }) => (policies.ranked = [{ ...orphanPolicy, mode: 'DryRun' }]),
    },
    {
      name: 'the lease is lost',
      change: (_, lose) => {
        lose();
      },
    },
  ])('is read, but nothing is deleted, if $name meanwhile', async ({ change }) => {
    let leads = true;
    const made = await afterQuarantine({ holdsLease: () => leads });
    made.cluster.fault((verb) => {
      if (verb === 'get') change(made, () => (leads = false));
      return undefined;
    });
    await made.pass();
    expect(made.cluster.requests).toEqual(['get node-gone']);
  });
});

describe('the live namespace', () => {
  const other = { uid: 'uid-default', name: 'default', resourceVersion: '2' };

  test.each<{ readonly name: string; readonly read: () => unknown; readonly reason?: string }>([
    { name: 'has the keep label', read: () => ({ ...other, labels: keepLabel }), reason: 'KeepMarked' },
    { name: 'has other labels than in the plan', read: () => ({ ...other, labels: { env: 'prod' } }) },
    { name: 'does not exist', read: () => undefined },
    {
      name: 'cannot be read',
      read: () => {
        throw new Error('server down');
      },
    },
  ])('that $name keeps its pods', async ({ read, reason = 'NamespaceUnknown' }) => {
    const made = environmentOf(many(2), expireAll());
    Object.assign(made.cluster, { getNamespace: () => Promise.resolve().then(() => read()) });
    await made.pass();
    expect(made.cluster.podNames).toEqual(['p0000', 'p0001']);
    expect(await skipped(made)).toEqual([reason]);
  });

  test('is read once for all its pods', async () => {
    const { cluster, pass } = environmentOf(many(20), expireAll());
    await pass();
    expect(cluster.podNames).toEqual([]);
    expect(cluster.namespaceReads).toEqual(['default']);
  });
});

test('a node out of service that has the keep label now keeps its pods', async () => {
  const cluster = new FakeCluster([pod('stuck', { phase: 'Running', deletionAtMs: 1 })], [outOfServiceNode]);
  Object.assign(cluster, { getNode: () => Promise.resolve({ ...outOfServiceNode, labels: keepLabel }) });
  await environmentOf(cluster, policy({ pods: { outOfService: true } })).pass();
  expect(cluster.podNames).toEqual(['stuck']);
});

test('a quarantine does not continue while nodes are not synced', async () => {
  const cluster = new FakeCluster([orphan], [node('node-1')]);
  const nodes = { ...storeOf(cluster.nodes), synced: true };
  const { clock, pass } = environmentOf(cluster, orphanPolicy, { nodes });
  await pass();
  nodes.synced = false;
  clock.advance(3_600_000);
  await pass();
  nodes.synced = true;
  await pass();
  expect(cluster.requests).toEqual([]);
  clock.advance(40_000);
  await pass();
  expect(cluster.podNames).toEqual([]);
});

describe('in the middle of a pass', () => {
  test('a new keep label on the namespace keeps the rest', async () => {
    const made = environmentOf(many(500), expireAll());
    const sent = inTheMiddle(made, made.labelNamespace);
    await made.pass();
    expect(made.cluster.requests).toHaveLength(sent());
  });

  test('a cache of policies that stops working ends the pass', async () => {
    const made = environmentOf(many(500), expireAll());
    const sent = inTheMiddle(made, () => (made.policies.synced = false));
    await made.pass();
    expect(made.cluster.requests).toHaveLength(sent());
  });

  test('a cache of namespaces that stops working ends the pass', async () => {
    const namespaces = { ...storeOf(environmentOf([], expireAll()).namespaces), synced: true };
    const made = environmentOf(many(500), expireAll(), { namespaces });
    const sent = inTheMiddle(made, () => (namespaces.synced = false));
    await made.pass();
    expect(made.cluster.requests).toHaveLength(sent());
  });

  test('a lost lease ends the pass, and the next one does not start at once', async () => {
    let [leads, stale] = [true, 0];
    const made = environmentOf(many(500), expireAll(), {
      holdsLease: () => leads,
      onStale: () => (stale += 1),
    });
    const sent = inTheMiddle(made, () => (leads = false));
    await made.pass();
    expect(made.cluster.requests).toHaveLength(sent());
    expect(stale).toBe(0);
  });

  test('a plan that is a minute old ends the pass, and the next one plans anew', async () => {
    let stale = 0;
    const made = environmentOf(many(500), expireAll(), { onStale: () => stale++ });
    const sent = inTheMiddle(made, () => {
      made.clock.advance(60_000);
    });
    await made.pass();
    expect(made.cluster.requests).toHaveLength(sent());
    expect(stale).toBe(1);
    await made.pass();
    expect(made.cluster.podNames).toEqual([]);
  });
});

describe('namespaces and nodes that cannot be read live', () => {
  /** Twenty pods, each in its own namespace and orphaned by its own node. */
  const scattered = many(20, { phase: 'Running' }).map((one, i) => ({
    ...{ ...one, namespace: `n-${i}`, nodeName: `gone-${i}` },
  }));
  const orphans = policy({ pods: { orphaned: { quarantineMs: 0 } } });

  test.each<{ name: string; reason: string; message: string; fail: (made: Environment) => void }>([
    {
      name: 'namespaces',
      reason: 'NamespaceUnknown',
      message: 'reading namespace failed',
      fail: ({ cluster }) => (cluster.getNamespace = unreadable),
    },
    {
      name: 'nodes',
      reason: 'NodeUnknown',
      message: 'reading node failed',
      fail: ({ cluster }) => {
        cluster.fault((verb) => (verb === 'get' ? new Error('server down') : undefined));
      },
    },
  ])('keep their pods ($name): the report counts them, and a few lines say so', async (row) => {
    const log = new RecordingLogger();
    const made = environmentOf(scattered, orphans, { log });
    for (const { namespace: name } of scattered)
      made.namespaces.set(name, { uid: name, name, resourceVersion: '1', labels: {} });
    row.fail(made);
    await made.pass();
    expect(made.cluster.podNames).toHaveLength(20);
    expect(await skipped(made)).toEqual([row.reason]);
    expect(made.reports.at(-1)).toMatchObject({ due: 20, deleted: 0, failed: 0, unverified: 20 });
    const lines = log.lines.filter(({ message }) => message === row.message);
    expect(lines).toHaveLength(10);
  });
});

test('every reason of a skipped deletion is counted from 0', async () => {
  const { values } = await environmentOf([], expireAll()).metrics.skipped.get();
  expect(values.map(({ labels, value }) => `${String(labels.reason)} ${value}`)).toEqual([
    ...['NodeExists 0', 'NodeUnknown 0', 'NodeRecovered 0'],
    ...['NamespaceUnknown 0', 'KeepMarked 0', 'ClockUnsure 0'],
  ]);
});

test('with a skewed clock no ttl is judged, but thresholds are', async () => {
  const both = policy({
    pods: { terminated: terminatedRule({ threshold: 1, ttlAfterFinishedMs: 600_000 }) },
  });
  const log = new RecordingLogger();
  const fresh = { finishedAtMs: minutesAgo(5) };
  const made = environmentOf(
    [
      ...many(3, { finishedAtMs: minutesAgo(60) }),
      pod('fresh-1', fresh),
      pod('fresh-2', fresh),
      pod('fresh-3', fresh),
    ],
    both,
    { log },
  );
  made.policies.confirm = () => Promise.resolve({ same: true, clockSkewMs: -3_600_000 });
  await made.pass();
  expect(made.cluster.podNames.toSorted()).toEqual(['fresh-3', 'p0000', 'p0001', 'p0002']);
  expect(await made.registry.metrics()).toContain(
    'dustpan_skipped_objects_total{unit="podgc",reason="ClockUnsure"} 3',
  );
  expect(made.reports.at(-1)).toMatchObject({ deleted: 2, failed: 0, clockUnsure: 3 });
  const warnings = log.lines.filter(({ level }) => level === 'warn');
  expect(warnings.map(({ fields }) => fields)).toEqual([{ aheadSeconds: -3_600 }]);
});

describe('pods that cannot be deleted', () => {
  /** A webhook responds with a Status. */
  const denial = (status: number): ApiError =>
    new ApiError('admission webhook "guard" denied it', { status, isStatus: true, retryAfterMs: 30_000 });
  /** Responds with this status to each request about the first pods. */
  const guard = ({ cluster }: Environment, count: number, status: number): void => {
    cluster.fault((_, name) => (Number(name.slice(1)) < count ? denial(status) : undefined));
  };

  test.each([
    { name: 'a webhook denies', status: 403, count: 47 },
    { name: 'are invalid', status: 422, count: 47 },
    { name: 'are too large', status: 413, count: 47 },
    { name: 'a webhook that is down cannot judge', status: 500, count: 47 },
    { name: 'a webhook denies with 429', status: 429, count: 47 },
    { name: 'a webhook denies, thousands of them', status: 403, count: 2_000 },
  ])('because they $name: all others are deleted in the same pass', async ({ status, count }) => {
    const made = environmentOf(many(count + 50), expireAll());
    guard(made, count, status);
    await expect(made.pass()).rejects.toThrow(`${count} of ${count + 50} failed, the first default/p0000`);
    expect(made.cluster.podNames).toHaveLength(count);
    expect(made.reports.at(-1)).toMatchObject({ due: count, deleted: 50, failed: count });
  });

  test('wait, each longer with every failure, and are tried after all others', async () => {
    const made = environmentOf(many(3), expireAll());
    const { cluster, clock, pass, reports, registry } = made;
    guard(made, 2, 403);
    await expect(pass()).rejects.toThrow('2 of 3 failed');
    cluster.pods.set('late', pod('p9', { uid: 'late', finishedAtMs: 0 }));
    cluster.requests.length = 0;
    clock.advance(19_999);
    await pass();
    expect(cluster.requests).toEqual(['delete p9']);
    expect(reports.at(-1)).toMatchObject({ due: 0, waiting: 2, deleted: 1, failed: 2 });
    expect(await registry.metrics()).toContain(
      'dustpan_kept_objects{unit="podgc",reason="DeletionFailed"} 2',
    );
    cluster.pods.set('later', pod('p8', { uid: 'later', finishedAtMs: 0 }));
    clock.advance(1);
    await expect(pass()).rejects.toThrow('2 of 3 failed');
    expect(cluster.requests.slice(1)).toEqual(['delete p8', 'delete p0000', 'delete p0001']);
    clock.advance(39_999);
    await pass();
    expect(cluster.requests).toHaveLength(4);
  });

  test('are deleted when the API server accepts it', async () => {
    const made = environmentOf(many(50), expireAll());
    let isDenied = true;
    made.cluster.fault(() => (isDenied ? denial(403) : undefined));
    await expect(made.pass()).rejects.toThrow('50 of 50 failed');
    isDenied = false;
    made.clock.advance(20_000);
    await made.pass();
    expect(made.cluster.podNames).toEqual([]);
    expect(made.reports.at(-1)).toMatchObject({ deleted: 50, failed: 0 });
  });

  test('do not use up the limit of deletions of a pass', async () => {
    const limited = policy({
      pods: {
        terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
        safety: { maxDeletesPerPass: 5, maxOrphanedNodesPercent: 20 },
      },
    });
    const made = environmentOf(many(10), limited);
    guard(made, 5, 403);
    await expect(made.pass()).rejects.toThrow('5 of 5 failed');
    await made.pass();
    expect(made.cluster.podNames).toEqual(['p0000', 'p0001', 'p0002', 'p0003', 'p0004']);
  });

  test('because their mark is denied', async () => {
    const stuck = { phase: 'Running', deletionAtMs: 1, nodeName: undefined } as const;
    const unscheduled = policy({ pods: { unscheduledTerminating: true } });
    const made = environmentOf(many(50, stuck), unscheduled);
    made.cluster.fault((verb, name) =>
      verb === 'mark' && Number(name.slice(1)) < 47 ? denial(413) : undefined,
    );
    await expect(made.pass()).rejects.toThrow('47 of 50 failed');
    expect(made.cluster.podNames).toHaveLength(47);
  });

  test.each([
    { name: 'the credentials are not accepted', cause: new ApiError('no', { status: 401 }) },
    { name: 'the API server is not reachable', cause: new Error('connection refused') },
    { name: 'a gateway responds', cause: new ApiError('bad gateway', { status: 502 }) },
  ])('because $name end the pass early', async ({ cause }) => {
    const log = new RecordingLogger();
    const { cluster, pass } = environmentOf(many(2_000), expireAll(), { log });
    cluster.fault(() => cause);
    await expect(pass()).rejects.toMatchObject({ cause });
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(10);
    expect(cluster.requests.length).toBeLessThan(80);
    expect(cluster.podNames).toHaveLength(2_000);
  });

  test('because the API server is not reachable are tried again in the next pass, in their order', async () => {
    const { cluster, pass } = environmentOf(many(50), expireAll());
    let isDown = true;
    cluster.fault(() => (isDown ? new Error('connection refused') : undefined));
    await expect(pass()).rejects.toThrow('47 of 47 failed');
    isDown = false;
    cluster.requests.length = 0;
    await pass();
    expect(cluster.requests[0]).toBe('delete p0000');
    expect(cluster.podNames).toEqual([]);
  });

  test('because a webhook takes longer than the deadline of a request are tried after all others', async () => {
    const { cluster, pass } = environmentOf(many(100), expireAll());
    cluster.fault((_, name) =>
      Number(name.slice(1)) < 47 ? Object.assign(new Error('no response'), { code: 'ETIMEDOUT' }) : undefined,
    );
    await expect(pass()).rejects.toThrow('47 of 47 failed');
    await pass();
    expect(cluster.podNames).toHaveLength(47);
  });
});

const absent: LiveNode = { node: undefined };
const back: LiveNode = { node: node('node-1') };
const optedOut: LiveNode = { node: { ...outOfServiceNode, labels: keepLabel } };

test.each<{ readonly reason: PodDeleteReason; readonly live: LiveNode; readonly kept: string | undefined }>([
  { reason: 'Orphaned', live: absent, kept: undefined },
  { reason: 'Orphaned', live: back, kept: 'NodeExists' },
  { reason: 'Orphaned', live: 'unreadable', kept: 'NodeUnknown' },
  { reason: 'OutOfService', live: { node: outOfServiceNode }, kept: undefined },
  { reason: 'OutOfService', live: back, kept: 'NodeRecovered' },
  { reason: 'OutOfService', live: optedOut, kept: 'KeepMarked' },
  { reason: 'OutOfService', live: absent, kept: 'NodeUnknown' },
  { reason: 'OutOfService', live: 'unreadable', kept: 'NodeUnknown' },
  { reason: 'Terminated', live: back, kept: undefined },
  { reason: 'Unscheduled', live: 'unreadable', kept: undefined },
])('re-check of the node for $reason, live $live: kept as $kept', ({ reason, live, kept }) => {
  expect(recheckNode(reason, live)).toBe(kept);
});
