import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import type { UsageSource } from '../../../../src/agent/localstorage/manager.ts';
import { full, Node, off, unknown } from './environment.ts';
import { governedBy, mib, storagePolicy } from './builders.ts';

const requested = 'requesting eviction';

/** The line of the metric that counts due pods. */
const due = (mode: Policy['mode'], count: number): string =>
  `due_objects{unit="localstorage",reason="emptydirfs.limit",mode="${mode}"} ${count}`;

describe('a policy with a rule for local storage', () => {
  test('requests the eviction of a pod as long as it exceeds a limit', async () => {
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
    await node.pass({ scratch: { volumes: { tmp: 10 } } });
    expect(node.requests).toEqual([]);
    expect(node.last?.result).toBe('Idle');
  });

  test('logs and counts a request once, and again after it ended', async () => {
    const node = new Node();
    await node.pass(full);
    await node.pass();
    expect(node.logged(requested)).toBe(1);
    await node.pass({});
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

  test('has metrics per pod only if they are switched on', async () => {
    const node = new Node();
    await node.pass(full);
    expect(await node.registry.metrics()).not.toContain('pod="scratch"');
    const switchedOn = new Node({ podMetrics: node.podMetrics });
    await switchedOn.pass(full);
    expect(await node.registry.metrics()).toContain(`{namespace="web",pod="scratch"} ${140 * mib}`);
    switchedOn.governance = off;
    await switchedOn.pass();
    expect(await node.registry.metrics()).not.toContain('pod="scratch"');
  });
});

describe('warnings', () => {
  test('are Events on the pod, one for each level, with growth and time left', async () => {
    const node = new Node();
    for (const tmp of [70, 72, 74, 76, 78, 80, 82, 84]) await node.pass({ scratch: { volumes: { tmp } } });
    expect(node.events).toEqual([
      {
        regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'web', name: 'scratch', uid: 'uid-scratch' },
        ...{ type: 'Warning', reason: 'LocalStorageHigh', action: 'WatchLocalStorage' },
        note: 'Usage of EmptyDir volume "tmp" is 82.0 MiB, 82 % of the limit 100Mi. It grows by 12.0 MiB a minute: about 1m30s are left until it exceeds the limit and the agent requests its eviction.',
        occasion: 'emptydirfs.limit/tmp/80',
      },
    ]);
    await node.pass({ scratch: { volumes: { tmp: 96 } } });
    expect(node.events.map(({ occasion }) => occasion)).toEqual([
      'emptydirfs.limit/tmp/80',
      'emptydirfs.limit/tmp/95',
    ]);
    expect(await node.hasMetric('local_storage_warnings_total{eviction_signal="emptydirfs.limit"} 2')).toBe(
      true,
    );
  });

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

  test('failed reads raise no warning again', async () => {
    const node = new Node();
    await node.pass(full);
    node.isDown = true;
    for (let i = 0; i < 20; i += 1) await expect(node.pass()).rejects.toThrow();
    node.isDown = false;
    await node.pass();
    expect(node.events).toHaveLength(1);
  });

  test.each<{ readonly name: string; readonly lose: (node: Node) => void; readonly reads: number }>([
    { name: 'before the read, which is left out', lose: (node) => (node.pods = undefined), reads: 1 },
    {
      name: 'during the read',
      lose: (node) => {
        node.duringRead = () => (node.pods = undefined);
      },
      reads: 2,
    },
  ])('pods that become unknown $name: the pass is Unknown and forgets nothing', async ({ lose, reads }) => {
    const node = new Node();
    await node.pass(full);
    const { pods } = node;
    lose(node);
    await node.pass();
    expect(node.reads).toBe(reads);
    expect(node.inventory).toBeUndefined();
    expect(node.last).toMatchObject({ result: 'Unknown', message: 'the pods of the node are not known' });
    node.duringRead = () => undefined;
    node.pods = pods;
    await node.pass();
    expect(node.events).toHaveLength(1);
    expect(node.logged(requested)).toBe(1);
  });

  test('an abort is not reported as a failure', async () => {
    const stop = new AbortController();
    const source: UsageSource = {
      usage: () => {
        stop.abort();
        return Promise.reject(new Error('aborted'));
      },
      close: () => undefined,
    };
    const aborted = new Node({ source });
    await expect(aborted.manager.collect(stop.signal)).rejects.toThrow('This operation was aborted');
    expect(aborted.passes).toEqual([]);
  });
});

describe('a policy without a rule for local storage', () => {
  test('reads and reports nothing', async () => {
    const node = new Node();
    node.governance = off;
    await node.pass(full);
    await node.pass();
    expect([node.reads, node.passes, node.events, node.log.lines]).toEqual([0, [], [], []]);
  });

  test('after one with a rule: reports once, and closes the connection', async () => {
    const node = new Node();
    await node.pass(full);
    node.governance = off;
    await node.pass();
    await node.pass();
    expect(node.passes.map(({ result }) => result)).toEqual(['Succeeded', 'Idle']);
    expect(node.inventory).toBeUndefined();
    expect(node.reads).toBe(1);
    expect(node.closed).toBe(1);
    expect(await node.hasMetric(due('Enforce', 0))).toBe(true);
  });

  test('between two with one: usage, warnings and requests are forgotten', async () => {
    const node = new Node();
    await node.pass(full);
    node.governance = off;
    await node.pass();
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
