import { describe, expect, test } from 'vitest';
import type { UsageSource } from '../../../../src/agent/localstorage/manager.ts';
import { full, Node, off, unknown } from './environment.ts';
import { governedBy, mib, storagePolicy } from './builders.ts';

describe('a policy that asks for it', () => {
  test('asks for the eviction of who exceeds a limit, as long as it does', async () => {
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

  test('puts the most excessive first', async () => {
    const node = new Node();
    await node.pass({ scratch: { volumes: { tmp: 130 } }, logger: { total: 900 } });
    expect(node.requests).toEqual(['logger ephemeralpodfs.limit', 'scratch emptydirfs.limit']);
  });

  test('tells of a request once, and again after it was over', async () => {
    const node = new Node();
    await node.pass(full);
    await node.pass();
    expect(node.told.filter((line) => line === 'requesting eviction')).toHaveLength(1);
    await node.pass({});
    await node.pass(full);
    expect(node.told.filter((line) => line === 'requesting eviction')).toHaveLength(2);
    expect(await node.registry.metrics()).toContain(
      'dustpan_local_storage_eviction_requests_total{eviction_signal="emptydirfs.limit",mode="Enforce"} 2',
    );
  });

  test('in mode DryRun warns, counts, and asks for nothing', async () => {
    const node = new Node();
    node.governance = governedBy(storagePolicy(), 'DryRun');
    await node.pass(full);
    expect(node.requests).toEqual([]);
    expect(node.inventory?.warnings).toHaveLength(1);
    expect(node.events.map(({ note }) => note)).toEqual([
      'Usage of EmptyDir volume "tmp" is 130 MiB, 130 % of the limit 100Mi. It exceeds the limit.',
    ]);
    expect(node.told).toContain('would request eviction');
    const metrics = await node.registry.metrics();
    expect(metrics).toContain(
      'dustpan_local_storage_due_pods{eviction_signal="emptydirfs.limit",mode="DryRun"} 1',
    );
    expect(metrics).toContain(
      'dustpan_local_storage_eviction_requests_total{eviction_signal="emptydirfs.limit",mode="DryRun"} 1',
    );
    node.governance = governedBy(storagePolicy());
    await node.pass();
    expect(node.requests).toEqual(['scratch emptydirfs.limit']);
    expect(node.told).toContain('requesting eviction');
  });

  test('shows each pod only to who asks for it', async () => {
    const node = new Node();
    await node.pass(full);
    expect(await node.registry.metrics()).not.toContain('pod="scratch"');
    const asked = new Node({ podMetrics: node.podMetrics });
    await asked.pass(full);
    expect(await node.registry.metrics()).toContain(`{namespace="web",pod="scratch"} ${140 * mib}`);
    asked.governance = off;
    await asked.pass();
    expect(await node.registry.metrics()).not.toContain('pod="scratch"');
  });
});

describe('warnings', () => {
  test('are Events on the pod, one for each level, with how fast and how long', async () => {
    const node = new Node();
    for (const tmp of [70, 72, 74, 76, 78, 80, 82, 84]) await node.pass({ scratch: { volumes: { tmp } } });
    expect(node.events).toEqual([
      {
        regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'web', name: 'scratch', uid: 'uid-scratch' },
        ...{ type: 'Warning', reason: 'LocalStorageHigh', action: 'WatchLocalStorage' },
        note: 'Usage of EmptyDir volume "tmp" is 82.0 MiB, 82 % of the limit 100Mi. It grows by 12.0 MiB a minute: about 1m30s are left until it exceeds the limit, and its eviction is requested.',
        occasion: 'emptydirfs.limit/tmp/80',
      },
    ]);
    await node.pass({ scratch: { volumes: { tmp: 96 } } });
    expect(node.events.map(({ occasion }) => occasion)).toEqual([
      'emptydirfs.limit/tmp/80',
      'emptydirfs.limit/tmp/95',
    ]);
    expect(await node.registry.metrics()).toContain(
      'dustpan_local_storage_warnings_total{eviction_signal="emptydirfs.limit"} 2',
    );
  });

  test.each([
    {
      name: 'before growth is known',
      over: {},
      tmp: 85,
      ends: 'No growth is seen so far; its eviction is requested when it exceeds the limit.',
    },
    {
      name: 'of a part of the limit',
      over: { evictAtPercent: 90 },
      tmp: 91,
      ends: 'It exceeds 90 % of the limit: its eviction is requested.',
    },
  ])('$name', async ({ over, tmp, ends }) => {
    const node = new Node();
    node.governance = governedBy(storagePolicy(over));
    await node.pass({ scratch: { volumes: { tmp } } });
    expect(node.events[0]?.note.split('Mi. ')[1]).toBe(ends);
  });

  test('of a critical pod announce no eviction, and there is none', async () => {
    const node = new Node();
    node.pods = node.pods?.map((pod) => ({ ...pod, priority: 2_000_001_000 }));
    await node.pass(full);
    expect(node.events[0]?.note).toMatch(/It exceeds the limit\.$/);
    expect(node.requests).toEqual([]);
  });
});

describe('what is not known', () => {
  test('a failed read is told and thrown; the last look lasts for two minutes', async () => {
    const node = new Node();
    await node.pass(full);
    node.isDown = true;
    await expect(node.pass()).rejects.toThrow('reading the usage of the pods');
    expect(node.last).toMatchObject({
      result: 'Failed',
      message: 'reading the usage of the pods: connect ECONNREFUSED',
    });
    expect(node.requests).toEqual(['scratch emptydirfs.limit']);
    // A pod that is gone meanwhile is asked for no more.
    node.pods = node.pods?.slice(1);
    await expect(node.pass()).rejects.toThrow();
    expect(node.requests).toEqual([]);
    node.clock.advance(2 * 60_000);
    await expect(node.pass()).rejects.toThrow();
    expect(node.inventory).toBeUndefined();
    node.isDown = false;
    await node.pass();
    expect(node.last?.result).toBe('Idle');
    expect(await node.registry.metrics()).toContain('dustpan_local_storage_usage_errors_total 3');
  });

  test('warnings are not told anew because of it', async () => {
    const node = new Node();
    await node.pass(full);
    node.isDown = true;
    for (let i = 0; i < 20; i += 1) await expect(node.pass()).rejects.toThrow();
    node.isDown = false;
    await node.pass();
    expect(node.events).toHaveLength(1);
  });

  test('without the pods nothing is read or asked for', async () => {
    const node = new Node();
    await node.pass(full);
    const pods = node.pods;
    node.pods = undefined;
    await node.pass();
    expect(node.reads).toBe(1);
    expect(node.inventory).toBeUndefined();
    expect(node.last).toMatchObject({ result: 'Unknown', message: 'the pods of the node are not known' });
    node.pods = pods;
    await node.pass();
    expect(node.events).toHaveLength(1);
  });

  test('a shutdown is no failure', async () => {
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

describe('a policy that does not ask for it', () => {
  test('costs nothing and is told nothing', async () => {
    const node = new Node();
    node.governance = off;
    await node.pass(full);
    await node.pass();
    expect([node.reads, node.passes, node.events, node.log.lines]).toEqual([0, [], [], []]);
  });

  test('ends what was: told once, and all is let go', async () => {
    const node = new Node();
    await node.pass(full);
    node.governance = off;
    await node.pass();
    await node.pass();
    expect(node.passes.map(({ result }) => result)).toEqual(['Succeeded', 'Idle']);
    expect(node.inventory).toBeUndefined();
    expect(node.reads).toBe(1);
    expect(node.closed).toBe(1);
    expect(await node.registry.metrics()).toContain(
      'dustpan_local_storage_due_pods{eviction_signal="emptydirfs.limit",mode="Enforce"} 0',
    );
  });

  test('not known whether it does: requests are taken back, and levels are remembered', async () => {
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
