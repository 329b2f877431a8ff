import { agentRights } from '../../../../src/api/policy/needs.ts';
import { describe, expect, test } from 'vitest';
import type { ContainerInventory } from '../../../../src/agent/containergc/facts.ts';
import { metaTime } from '../../../../src/runtime/text/rfc3339.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { governedBy, storagePolicy } from '../localstorage/builders.ts';
import { containers, disk, evictionRequest, orphanCount, orphanInventory, pass } from './builders.ts';
import { environment } from './environment.ts';
import type { StorageInventory } from '../../../../src/agent/localstorage/facts.ts';

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

test('an agent that stops reports its removals of the last minute', async () => {
  const { manager, reports, start } = environment();
  await start();
  manager.observe(pass('containergc', { result: 'Succeeded', removed: 1 }));
  await manager.reconcile(never);
  expect(reports.writes).toBe(1);
  await manager.reconcile(never, true);
  expect(reports.writes).toBe(2);
});

test('an image disk that could not be read has a hint about the chart, and is read again for the next report', async () => {
  const cause = Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
  const failure = new Error('reading the file system of /data', { cause });
  const answers = [() => Promise.reject(failure), () => Promise.resolve(disk(50))];
  const imageDisk = () => answers.shift()?.() ?? Promise.reject(new Error('read again'));
  const { manager, reports, clock, start } = environment({ imageDisk });
  await start();
  expect(degradedIn(reports)).toMatchObject({
    reason: 'ImageDiskUnknown',
    message: expect.stringMatching(/: ENOENT; .*set agent\.hostPaths\.runtimeRoot of the chart/) as string,
  });
  for (let i = 0; i < 2; i += 1) {
    clock.advance(1_000);
    await manager.reconcile(never);
    expect(degradedIn(reports)?.reason).toBe('AsPlanned');
  }
});

test.each([
  [false, 'RuntimeUnavailable'],
  [true, 'NotKubeletsRuntime'],
])('a runtime that is not used, foreign: %j, is %s', async (isForeign, reason) => {
  const { reports, start } = environment({ runtimeTrouble: () => ({ message: 'why', isForeign }) });
  await start();
  expect(degradedIn(reports)).toMatchObject({ status: 'True', reason, message: 'why' });
});

test('orphaned resources of the last pass that searched them are reported', async () => {
  let inventory: ContainerInventory | undefined = {
    ...containers,
    orphans: orphanInventory({ podDirectories: orphanCount() }),
  };
  const { manager, reports, clock, start } = environment({}, () => ({ containers: inventory }));
  await start();
  inventory = containers;
  clock.advance(11 * 60_000);
  await manager.reconcile(never);
  expect(reports.writes).toBe(2);
  expect(reports.stored?.orphans?.podDirectories).toEqual({ count: 4, bytes: 400 });
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

test('a Node that is found late, or created again, gets its report at once', async () => {
  let uid: string | undefined;
  const node = () => (uid === undefined ? undefined : { name: 'node-1', uid });
  const { manager, reports, start } = environment({ node });
  await start();
  expect(reports.writes).toBe(0);
  for (uid of ['one', 'two']) {
    reports.stored = undefined;
    await manager.reconcile(never);
    expect(reports.owner).toBe(uid);
  }
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

test('metrics and report show orphaned resources of all kinds that can be counted', async () => {
  const { manager, reports, registry, ready } = environment();
  ready();
  await manager.reconcile(never);
  expect(reports.stored?.orphans).toEqual({ podDirectories: { count: 4, bytes: 400 } });
  expect(await registry.metrics()).toContain('dustpan_node_orphans{kind="PodDirectory"} 4');
});

test('one Event for all orphaned resources, and the next one when there are more', async () => {
  let count = 1;
  const { manager, recorder, start } = environment({}, () => ({
    containers: { ...containers, orphans: orphanInventory({ podCgroups: orphanCount({ count }) }) },
  }));
  await start();
  await manager.reconcile(never);
  expect(recorder.reasons).toEqual(['OrphanedResources Node/node-1']);
  count = 2;
  await manager.reconcile(never);
  await manager.reconcile(never);
  expect(recorder.reasons).toHaveLength(2);
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
    const { manager, reports, ready } = environment({}, () => ({ governance: inGeneration(), storage }));
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
    const { manager, start } = environment({}, () => ({ governance: inGeneration(generation), storage }));
    await start();
    generation = 2;
    expect(manager.isAwaited).toBe(false);
    // More than a report lists.
    storage = requesting(2, ...Array.from({ length: 41 }, (_, i) => `p${i}`));
    expect(manager.isAwaited).toBe(true);
    await manager.reconcile(never);
    expect(manager.isAwaited).toBe(false);
  });
});

test.each([
  {
    name: 'a list that is not current',
    over: { staleCaches: () => [{ resource: 'pods', sinceMs: 0, error: 'too many requests' }] },
    expected: {
      reason: 'CacheStale',
      message: expect.stringContaining('pods (too many requests)') as string,
    },
  },
  {
    name: 'a missing right, which is the cause',
    over: {
      staleCaches: () => [{ resource: 'pods', sinceMs: 0, error: undefined }],
      missingRights: () => [{ verb: 'list', group: '', resource: 'pods' }],
    },
    expected: { reason: 'MissingRights', message: expect.stringContaining('may not list pods') as string },
  },
  {
    name: 'a right that a value of the chart grants',
    over: { missingRights: () => agentRights(true).filter(({ resource }) => resource === 'configmaps') },
    expected: {
      reason: 'MissingRights',
      message:
        'The ServiceAccount of the agent may not get configmaps. Set rbac.wantedImages=true in the values of the chart',
    },
  },
])('the report names $name', async ({ over, expected }) => {
  const { reports, start } = environment(over);
  await start();
  expect(degradedIn(reports)).toMatchObject({ status: 'True', ...expected });
});
