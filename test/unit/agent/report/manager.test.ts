import { describe, expect, test } from 'vitest';
import type { StorageInventory } from '../../../../src/api/local-storage.ts';
import type { ContainerInventory } from '../../../../src/api/report/node-pass.ts';
import { metaTime } from '../../../../src/runtime/text/rfc3339.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { governedBy, storagePolicy } from '../localstorage/builders.ts';
import { containers, disk, evictionRequest, orphanCount, orphanInventory, pass } from './builders.ts';
import { environment } from './environment.ts';

const never = new AbortController().signal;
const degradedIn = ({ stored }: ReturnType<typeof environment>['reports']) =>
  stored?.conditions?.find(({ type }) => type === 'Degraded');

test('without changes the report is written once in five minutes', async () => {
  const { manager, reports, clock, ready } = environment();
  ready();
  for (let i = 0; i < 60; i += 1) {
    await manager.reconcile(never);
    clock.advance(10_000);
  }
  expect(reports.writes).toBe(2);
});

test('unchanged reports of nodes are not written in step: each write draws a new jitter', async () => {
  const jitters = [0, 0.5];
  const { manager, reports, clock, start } = environment({ random: () => jitters.shift() ?? 0 });
  await start();
  clock.advance(320_000);
  await manager.reconcile(never);
  expect(reports.writes).toBe(1);
  clock.advance(10_000);
  await manager.reconcile(never);
  expect(reports.writes).toBe(2);
});

test('the jitter of the first write after a restart is drawn at the start', async () => {
  const first = environment();
  await first.start();
  const second = environment({ random: () => 0.5 });
  second.reports.stored = first.reports.stored;
  second.ready();
  second.clock.advance(320_000);
  await second.manager.reconcile(never);
  expect(second.reports.writes).toBe(0);
});

test('an agent that stops reports its removals of the last minute', async () => {
  const { manager, reports, start } = environment();
  await start();
  manager.observe(pass('containergc', { result: 'Succeeded', removed: 1 }));
  await manager.reconcile(never);
  expect(reports.writes).toBe(1);
  await manager.reconcile(never, true);
  expect(reports.writes).toBe(2);
});

test('the disks are read every 30 s', async () => {
  let reads = 0;
  const imageDisk = () => {
    reads += 1;
    return Promise.resolve(disk(50));
  };
  const { manager, clock, ready } = environment({ imageDisk });
  ready();
  for (const ms of [0, 29_999, 1]) {
    clock.advance(ms);
    await manager.reconcile(never);
  }
  expect(reads).toBe(2);
});

test('an image disk that could not be read is read again for the next report', async () => {
  const answers = [() => Promise.reject(new Error('EIO')), () => Promise.resolve(disk(50))];
  const imageDisk = () => answers.shift()?.() ?? Promise.reject(new Error('read again'));
  const { manager, reports, clock, ready } = environment({ imageDisk });
  ready();
  const reasons: unknown[] = [];
  for (let i = 0; i < 3; i += 1) {
    await manager.reconcile(never);
    reasons.push(degradedIn(reports)?.reason);
    clock.advance(1_000);
  }
  expect(reasons).toEqual(['ImageDiskUnknown', 'AsPlanned', 'AsPlanned']);
});

test.each([
  { code: 'EIO', end: /: EIO$/ },
  { code: 'ENOENT', end: /: ENOENT; the pod of the agent .*set agent\.hostPaths\.runtimeRoot of the chart/ },
])('the message about an image disk that could not be read: $code', async ({ code, end }) => {
  const cause = Object.assign(new Error(code), { code });
  const failure = new Error('reading the file system of /data', { cause });
  const { reports, start } = environment({ imageDisk: () => Promise.reject(failure) });
  await start();
  expect(degradedIn(reports)?.message).toMatch(end);
});

test('a node disk that cannot be read is no trouble', async () => {
  const { reports, start } = environment({ nodeDisk: () => Promise.reject(new Error('EIO')) });
  await start();
  expect(degradedIn(reports)?.status).toBe('False');
});

test.each<[string, (aborting: () => Promise<never>) => Parameters<typeof environment>[0]]>([
  ['the disks are read', (imageDisk) => ({ imageDisk })],
  ['snapshots are searched', (find) => ({ snapshots: { find } })],
])('after an abort while %s nothing is written, and there is no warning', async (_, readingBy) => {
  const stop = new AbortController();
  const aborting = () => {
    stop.abort(new Error('stopping'));
    return Promise.reject(new Error('aborted'));
  };
  const { manager, log, reports, ready } = environment(readingBy(aborting));
  ready();
  await expect(manager.reconcile(stop.signal)).rejects.toThrow('stopping');
  expect(log.lines).toEqual([]);
  expect(reports.writes).toBe(0);
});

test('orphaned resources of the last pass that searched them are reported', async () => {
  let inventory: ContainerInventory | undefined = {
    ...containers,
    orphans: orphanInventory({ podDirectories: orphanCount() }),
  };
  const { manager, reports, clock, start } = environment({ containers: () => inventory });
  await start();
  inventory = containers;
  clock.advance(11 * 60_000);
  await manager.reconcile(never);
  expect(reports.writes).toBe(2);
  expect(reports.stored?.orphans?.podDirectories).toEqual({ count: 4, bytes: 400 });
});

test('the report has the sums of all passes, and a failure at once', async () => {
  const { manager, reports, clock, start } = environment();
  await start();
  manager.observe(pass('imagegc', { result: 'Succeeded', removed: 2, freedBytes: 10 }));
  manager.observe(pass('imagegc', { result: 'Failed', removed: 1, freedBytes: 5, message: 'x' }));
  clock.advance(1_000);
  await manager.reconcile(never);
  expect(reports.stored?.units?.[0]).toMatchObject({
    result: 'Failed',
    removed: 1,
    removedTotal: 3,
    freedBytesTotal: 15,
  });
});

const before = '2025-05-01T00:00:00Z';
const start = metaTime(new FakeClock().now());

test.each([
  {
    name: 'continue those of the agent before',
    counted: { totalsSince: before },
    totals: [6, 26, before, 3],
  },
  { name: 'begin at the start, if it did not say since when', counted: {}, totals: [3, 11, start, 3] },
])('the totals after a restart $name; a unit without a pass is as before', async ({ counted, totals }) => {
  const { manager, reports } = environment();
  const last = { lastPassTime: '2025-06-01T00:00:00Z', result: 'Idle', removedTotal: 3, ...counted } as const;
  reports.stored = {
    units: [
      { name: 'imagegc', ...last, freedBytesTotal: 15 },
      { name: 'nodepressure', ...last },
    ],
  };
  manager.observe(pass('containergc'));
  manager.observe(pass('imagegc', { result: 'Succeeded', removed: 2, freedBytes: 10 }));
  await manager.reconcile(never);
  manager.observe(pass('imagegc', { result: 'Succeeded', removed: 1, freedBytes: 1 }));
  await manager.reconcile(never, true);
  const [images, pressure] = ['imagegc', 'nodepressure'].map((name) =>
    reports.stored?.units?.find((unit) => unit.name === name),
  );
  const { removedTotal, freedBytesTotal, totalsSince } = images ?? {};
  expect([removedTotal, freedBytesTotal, totalsSince, pressure?.removedTotal]).toEqual(totals);
});

test('without a Node object no report is written', async () => {
  const { reports, start } = environment({ node: () => undefined });
  await start();
  expect(reports.writes).toBe(0);
});

test('a Node that was created again gets its report at once', async () => {
  let uid = 'one';
  const { manager, reports, start } = environment({ node: () => ({ name: 'node-1', uid }) });
  await start();
  uid = 'two';
  reports.stored = undefined;
  await manager.reconcile(never);
  expect(reports.owner).toBe('two');
});

test('a failed write is repeated', async () => {
  const { manager, reports, registry, start } = environment();
  await start();
  manager.observe(pass('imagegc', { result: 'Failed' }));
  reports.fails = true;
  await expect(manager.reconcile(never)).rejects.toThrow('server down');
  reports.fails = false;
  await manager.reconcile(never);
  expect(reports.writes).toBe(2);
  const metrics = await registry.metrics();
  expect(metrics).toContain('dustpan_node_degraded 1');
});

test('a missing kind is logged once', async () => {
  const { manager, reports, log } = environment();
  reports.hasKind = false;
  await manager.reconcile(never);
  await manager.reconcile(never);
  expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  reports.hasKind = true;
  await manager.reconcile(never);
  expect(reports.writes).toBe(1);
});

test('snapshots are searched every ten minutes; metrics and report show all kinds', async () => {
  let searches = 0;
  const find = () => {
    searches += 1;
    return Promise.resolve({ count: 7 });
  };
  const { manager, reports, registry, clock, ready } = environment({ snapshots: { find } });
  ready();
  for (let i = 0; i < 61; i += 1) {
    await manager.reconcile(never);
    clock.advance(10_000);
  }
  expect(searches).toBe(2);
  expect(reports.stored?.orphans).toEqual({
    podDirectories: { count: 4, bytes: 400 },
    snapshots: { count: 7 },
  });
  const metrics = await registry.metrics();
  expect(metrics).toContain('dustpan_node_orphans{kind="PodDirectory"} 4');
  expect(metrics).toContain('dustpan_node_orphans{kind="Snapshot"} 7');
});

test('one Event for all orphaned resources, and the next one when there are more', async () => {
  let count = 1;
  const { manager, recorder, start } = environment({
    containers: () => ({ ...containers, orphans: orphanInventory({ podCgroups: orphanCount({ count }) }) }),
  });
  await start();
  await manager.reconcile(never);
  expect(recorder.reasons).toEqual(['OrphanedResources Node/node-1']);
  count = 2;
  await manager.reconcile(never);
  await manager.reconcile(never);
  expect(recorder.reasons).toHaveLength(2);
});

test('snapshots that cannot be counted any more are not reported', async () => {
  let isGone = false;
  const find = () => (isGone ? Promise.reject(new Error('disk hangs')) : Promise.resolve({ count: 7 }));
  const { manager, reports, registry, clock, log, start } = environment({ snapshots: { find } });
  await start();
  isGone = true;
  clock.advance(11 * 60_000);
  await manager.reconcile(never);
  expect(reports.stored?.orphans).toEqual({ podDirectories: { count: 4, bytes: 400 } });
  expect(await registry.metrics()).not.toContain('kind="Snapshot"');
  expect(log.lines.map(({ message }) => message)).toEqual(['searching orphaned snapshots failed']);
});

describe('isAwaited', () => {
  const { policy, ...governed } = governedBy(storagePolicy());
  const inGeneration = (generation = 1) => ({ ...governed, policy: { ...policy, generation } });
  /** Requests for the eviction of these pods by that generation of the policy. */
  const requesting = (generation: number, ...names: readonly string[]): StorageInventory => ({
    ...{ policy: { uid: policy.uid, generation }, warnings: [], offenders: [] },
    evictionRequests: names.map((name) => evictionRequest(name)),
  });

  test('is true from the decision to evict a pod until the report that requests it is written', async () => {
    let storage: StorageInventory | undefined;
    const { manager, reports, ready } = environment({ governance: inGeneration, storage: () => storage });
    ready();
    expect(manager.isAwaited).toBe(false);
    storage = requesting(1, 'a');
    expect(manager.isAwaited).toBe(true);
    reports.fails = true;
    await expect(manager.reconcile(never)).rejects.toThrow('server down');
    expect(manager.isAwaited).toBe(true);
    reports.fails = false;
    await manager.reconcile(never);
    expect(reports.stored?.evictionRequests).toHaveLength(1);
    expect(manager.isAwaited).toBe(false);
    storage = requesting(1, 'a', 'b');
    expect(manager.isAwaited).toBe(true);
    storage = requesting(1);
    expect(manager.isAwaited).toBe(false);
  });

  test('is true only for evictions by the current generation of the policy', async () => {
    let [generation, storage] = [1, requesting(1, 'a')];
    const governance = () => inGeneration(generation);
    const { manager, start } = environment({ governance, storage: () => storage });
    await start();
    generation = 2;
    expect(manager.isAwaited).toBe(false);
    // More than a report lists.
    storage = requesting(2, ...Array.from({ length: 41 }, (_, i) => `p${i}`));
    expect(manager.isAwaited).toBe(true);
    await manager.reconcile(never);
    expect(manager.isAwaited).toBe(false);
  });

  test('is false after a restart once the agent has read a report with the request', async () => {
    const first = environment({ governance: inGeneration, storage: () => requesting(1, 'a') });
    await first.start();
    const second = environment({ governance: inGeneration, storage: () => requesting(1, 'a') });
    second.reports.stored = first.reports.stored;
    expect(second.manager.isAwaited).toBe(true);
    await second.manager.reconcile(never);
    expect(second.manager.isAwaited).toBe(false);
    expect(second.reports.writes).toBe(0);
  });
});
