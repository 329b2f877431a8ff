import { expect, onTestFinished, test } from 'vitest';
import { nodeReportsResource } from '../../../../src/kube/cache/node-report-facts.ts';
import { Reflector } from '../../../../src/kube/cache/reflector.ts';
import { ReportCache } from '../../../../src/kube/cache/on-demand.ts';
import { FakeApi } from '../../../fakes/api.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';

const report = {
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'NodeGCReport',
  metadata: { name: 'node-1' },
  status: {
    usage: { measuredTime: '2026-01-01T00:00:00Z', namespaces: [{ name: 'team-a', pods: 1, bytes: 9 }] },
  },
};

function startCache(api: FakeApi, onRelist: () => void = () => undefined): ReportCache {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const cache = new ReportCache(
    (keepsUsage) =>
      new Reflector({
        ...{ transport: api, clock: new ManualClock(), log: silentLogger, random: () => 0 },
        resource: nodeReportsResource(keepsUsage),
      }),
    onRelist,
  );
  void cache.reflector.run(stop.signal);
  return cache;
}

test('lists the reports again when their usage is needed', async () => {
  const api = new FakeApi();
  await api.server.registry.install('crds');
  api.objects.apply(report);
  let relists = 0;
  const cache = startCache(api, () => (relists += 1));
  const bytes = (): readonly (number | undefined)[] =>
    [...cache.items.values()].map(({ usage }) => usage?.namespaces[0]?.bytes);
  await until(() => cache.synced);
  expect([cache.keepUsage(false), bytes()]).toEqual([true, [undefined]]);

  expect(cache.keepUsage(true)).toBe(false);
  expect([cache.synced, relists]).toEqual([false, 1]);
  await until(() => cache.synced);
  expect([cache.keepUsage(true), bytes()]).toEqual([true, [9]]);

  expect(cache.keepUsage(false)).toBe(true);
  expect([cache.synced, relists]).toEqual([true, 1]);
});

test('is not stale while the kind is not installed: nothing can be in it', async () => {
  const cache = startCache(new FakeApi());
  expect(cache.stale).toMatchObject({ resource: 'nodegcreports' });
  await until(() => cache.reflector.state === 'missing');
  expect([cache.synced, cache.stale]).toEqual([false, undefined]);
});
