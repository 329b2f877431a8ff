import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import { podStorageMetrics } from '../../../../src/agent/localstorage/metrics.ts';
import { full, Node, off, unknown } from './environment.ts';
import { container, emptyDir, governedBy, mib, scratch, storagePod, storagePolicy } from './builders.ts';

const requested = 'requesting eviction';

/** The line of the metric that counts due pods. */
const due = (mode: Policy['mode'], count: number): string =>
  `due_objects{unit="localstorage",reason="emptydirfs.limit",mode="${mode}"} ${count}`;

describe('a policy with a rule for local storage', () => {
  test('requests the eviction of a pod as long as it exceeds a limit; logs and counts it once', async () => {
    const node = new Node();
    node.governance = governedBy(storagePolicy({ gracePeriodSeconds: 7 }));
    await node.pass(full);
    expect(node.inventory?.evictionRequests).toEqual([
      {
        pod: { namespace: 'web', name: 'scratch', uid: 'uid-scratch' },
        ...{ signal: 'emptydirfs.limit', subject: 'tmp', observedBytes: 130 * mib, limitBytes: 100 * mib },
        ...{ observedAtMs: node.clock.now().getTime(), gracePeriodSeconds: 7 },
      },
    ]);
    expect(node.last).toMatchObject({ unit: 'localstorage', result: 'Succeeded', removed: 0, errors: 0 });
    await node.pass();
    expect(node.requests).toEqual(['scratch emptydirfs.limit']);
    expect(node.logged(requested)).toBe(1);
    await node.pass({ scratch: { volumes: { tmp: 10 } } });
    expect(node.requests).toEqual([]);
    expect(node.last?.result).toBe('Idle');
    await node.pass(full);
    expect(node.logged(requested)).toBe(2);
    const labels = 'eviction_signal="emptydirfs.limit",mode="Enforce"';
    expect(await node.hasMetric(`local_storage_eviction_requests_total{${labels}} 2`)).toBe(true);
  });

  test('in mode DryRun warns and counts, but requests no eviction', async () => {
    const node = new Node();
    node.governance = governedBy(storagePolicy(), 'DryRun');
    await node.pass(full);
    expect(node.requests).toEqual([]);
    expect(node.inventory?.warnings).toHaveLength(1);
    expect(node.events.map(({ note }) => note)).toEqual([
      'Usage of EmptyDir volume "tmp" is 130 MiB, 130 % of the limit 100Mi. It exceeds the limit.',
    ]);
    expect(node.logged('would request eviction')).toBe(1);
    const labels = 'eviction_signal="emptydirfs.limit",mode="DryRun"';
    expect(await node.hasMetric(due('DryRun', 1))).toBe(true);
    expect(await node.hasMetric(`local_storage_eviction_requests_total{${labels}} 1`)).toBe(true);
    node.governance = governedBy(storagePolicy());
    await node.pass();
    expect(node.requests).toEqual(['scratch emptydirfs.limit']);
    expect(node.logged(requested)).toBe(1);
  });
});

describe('measured usage', () => {
  function nodeOfThree(): Node {
    const node = new Node();
    node.pods = [
      storagePod('scratch', { emptyDirs: [emptyDir('tmp', '100Mi'), emptyDir('shm', undefined, true)] }),
      storagePod('logger', { containers: [container('main', '200Mi')] }),
      storagePod('free'),
    ];
    return node;
  }
  const logger = { total: 190, containers: { main: { layer: 90, logs: 100 } } };

  test('has metrics by its kind, and of its age', async () => {
    const node = nodeOfThree();
    const atMs = node.clock.now().getTime() - 50_000;
    const containers = { main: { layer: 15, logs: 5 } };
    await node.pass({ scratch: { atMs, total: 150, volumes: { tmp: 130, shm: 64 }, containers }, logger });
    for (const line of [
      'warned_limits{eviction_signal="emptydirfs.limit"} 1',
      'warned_limits{eviction_signal="ephemeralpodfs.limit"} 1',
      `used_bytes{kind="layers"} ${105 * mib}`,
      `used_bytes{kind="logs"} ${105 * mib}`,
      `used_bytes{kind="emptydir"} ${130 * mib}`,
      `used_bytes{kind="emptydir-memory"} ${64 * mib}`,
      `used_bytes{kind="total"} ${340 * mib}`,
      'usage_age_seconds 60',
    ])
      expect([line, await node.hasMetric(`local_storage_${line}`)]).toEqual([line, true]);
  });

  test('has metrics of the 256 pods with the highest total, if they are switched on', async () => {
    const registry = new Registry();
    const lines = async (): Promise<readonly string[]> =>
      (await registry.metrics()).split('\n').filter((line) => line.includes('pod="'));
    const node = new Node({ podMetrics: podStorageMetrics(registry) });
    const many = Array.from({ length: 300 }, (_, i) => storagePod(`p${i}`));
    node.pods = many;
    await node.pass(Object.fromEntries(many.map(({ name }, i) => [name, { total: i }])));
    expect(await lines()).toHaveLength(256);
    const highest = `dustpan_pod_local_storage_used_bytes{namespace="web",pod="p299"} ${299 * mib}`;
    expect(await lines()).toContain(highest);
    node.pods = many.slice(-2);
    await node.pass({ ...node.used, p298: { volumes: { tmp: 1 } } });
    expect(await lines()).toEqual([highest]);
    node.governance = off;
    await node.pass();
    expect(await lines()).toEqual([]);
  });

  test('requests the most excessive first, then by UID', async () => {
    const node = new Node();
    const [pods, equal] = [['b', 'a', 'worst'], { volumes: { tmp: 130 } }];
    for (const names of [pods, pods.toReversed()]) {
      node.pods = names.map((name) => storagePod(name, scratch));
      await node.pass({ a: equal, b: equal, worst: { volumes: { tmp: 131 } } });
      expect(node.requests).toEqual(['worst', 'a', 'b'].map((name) => `${name} emptydirfs.limit`));
    }
  });
});

describe('warnings', () => {
  test('of a static pod have the UID by which kubectl describe searches: that of the static pod, not of its mirror', async () => {
    const node = new Node();
    node.pods = node.pods?.map((pod) => ({ ...pod, configHash: 'hash' }));
    await node.pass(full);
    expect(node.events.map(({ regarding }) => regarding)).toMatchObject([{ name: 'scratch', uid: 'hash' }]);
  });

  test('of a critical pod announce no eviction, and there is none', async () => {
    const node = new Node();
    node.pods = node.pods?.map((pod) => ({ ...pod, priority: 2_000_001_000 }));
    await node.pass(full);
    expect(node.events[0]?.note).toMatch(/It exceeds the limit\.$/);
    expect(node.requests).toEqual([]);
  });
});

describe('usage that is not known', () => {
  test('a failed read is reported and thrown; the last usage is used for two minutes', async () => {
    const node = new Node();
    await node.pass(full);
    node.isDown = true;
    await expect(node.pass()).rejects.toThrow('reading the usage of the pods');
    const message = 'reading the usage of the pods: connect ECONNREFUSED';
    expect(node.last).toMatchObject({ result: 'Failed', message });
    expect(node.requests).toEqual(['scratch emptydirfs.limit']);
    // The pod is deleted meanwhile.
    node.pods = node.pods?.slice(1);
    await expect(node.pass()).rejects.toThrow();
    expect(node.requests).toEqual([]);
    node.clock.advance(2 * 60_000);
    await expect(node.pass()).rejects.toThrow();
    expect(node.inventory).toBeUndefined();
    node.isDown = false;
    await node.pass();
    expect(node.last?.result).toBe('Idle');
    expect(node.events).toHaveLength(1);
    expect(await node.hasMetric('unit_errors_total{unit="localstorage",stage="usage"} 3')).toBe(true);
  });

  test('a usage from the future, after the clock was set back, is not used', async () => {
    const node = new Node();
    await node.pass(full);
    node.isDown = true;
    node.clock.stepWall(-5 * 60_000);
    await expect(node.pass()).rejects.toThrow();
    expect(node.inventory).toBeUndefined();
  });

  test('pods that become unknown during the read: the pass is Unknown and forgets nothing', async () => {
    const node = new Node();
    await node.pass(full);
    const { pods } = node;
    node.duringRead = () => (node.pods = undefined);
    for (let i = 0; i < 2; i += 1) {
      await node.pass();
      expect(node.inventory).toBeUndefined();
      expect(node.last).toMatchObject({ result: 'Unknown', message: 'the pods of the node are not known' });
    }
    // Nothing is read for unknown pods.
    expect(node.reads).toBe(2);
    node.duringRead = () => undefined;
    node.pods = pods;
    await node.pass();
    expect(node.events).toHaveLength(1);
    expect(node.logged(requested)).toBe(1);
  });
});

describe('a policy without a rule for local storage', () => {
  test('reads nothing; after one with a rule it reports once, closes the connection, and forgets all', async () => {
    const node = new Node();
    node.governance = off;
    await node.pass(full);
    expect([node.reads, node.passes, node.events, node.log.lines]).toEqual([0, [], [], []]);
    node.governance = governedBy(storagePolicy());
    await node.pass();
    node.governance = off;
    await node.pass();
    await node.pass();
    expect(node.passes.map(({ result }) => result)).toEqual(['Succeeded', 'Idle']);
    expect(node.inventory).toBeUndefined();
    expect(node.reads).toBe(1);
    expect(node.closed).toBe(1);
    expect(await node.hasMetric(due('Enforce', 0))).toBe(true);
    node.governance = governedBy(storagePolicy());
    await node.pass();
    expect(node.events).toHaveLength(2);
    expect(node.logged(requested)).toBe(2);
    node.governance = off;
    await node.pass();
    node.governance = governedBy(storagePolicy());
    node.isDown = true;
    await expect(node.pass()).rejects.toThrow();
    expect(node.inventory).toBeUndefined();
  });

  test('not known which policy: requests nothing, and remembers the raised levels', async () => {
    const node = new Node();
    await node.pass(full);
    node.governance = unknown;
    await node.pass();
    await node.pass();
    expect(node.passes.map(({ result }) => result)).toEqual(['Succeeded', 'Unknown']);
    expect(node.inventory).toBeUndefined();
    node.governance = governedBy(storagePolicy());
    await node.pass();
    expect(node.requests).toEqual(['scratch emptydirfs.limit']);
    expect(node.events).toHaveLength(1);
    node.governance = unknown;
    await node.pass();
    node.governance = off;
    await node.pass();
    expect(node.last?.result).toBe('Idle');
  });
});
