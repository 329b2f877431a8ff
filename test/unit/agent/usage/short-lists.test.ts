import { expect, test } from 'vitest';
import { reportLists } from '../../../../src/agent/usage/plan.ts';
import type { UsageDeps } from '../../../../src/agent/usage/manager.ts';
import { container, emptyDir, storagePod, usage } from '../localstorage/builders.ts';
import { disk, gib, images } from '../report/builders.ts';
import { node } from './environment.ts';

test('short lists while no disk is nearly full: the largest three of each, and the first to be evicted; the others are counted', async () => {
  const many = Array.from({ length: 30 }, (_, i) =>
    storagePod(
      `service-${i}-7d9f8b6c5d-x2x4z`,
      { emptyDirs: [emptyDir('data', '10Gi')], containers: [container('main', '8Gi')] },
      {
        namespace: `team-${i}`,
        workload: { kind: 'Deployment', name: `service-${i}` },
        priority: i === 0 ? -1 : 0,
      },
    ),
  );
  const sizes = many.map(({ name }, i) => {
    const volumes = { data: 1_000 + i };
    return [name, { volumes, containers: { main: { layer: 100, logs: 0 } } }] as const;
  });
  const listed = Array.from({ length: 64 }, (_, i) => {
    const digest = `sha256:${String(i).padStart(4, '0').repeat(16)}`;
    const name = `registry.example.com/platform/service-${i}:2026.11.${i}`;
    return { id: digest, name, bytes: 64 - i, inUse: true, isKept: false, unusedSince: undefined };
  });
  const of = (lists: ReturnType<UsageDeps['lists']>, usedGib: number, inodes = {}) =>
    node({
      lists: () => lists,
      pods: () => many,
      kubelet: () => Promise.resolve(usage(Object.fromEntries(sizes))),
      nodeDisk: () => Promise.resolve(disk(usedGib, { usedBytes: usedGib * gib, ...inodes })),
      imageDisk: () => Promise.resolve(disk(usedGib, { usedBytes: usedGib * gib })),
      images: () => images({ listed, unlisted: { count: 2, bytes: 5 } }),
    }).measure();
  const [full, short, nearlyFull] = [await of('full', 79), await of('short', 79), await of('short', 80)];
  expect(nearlyFull).toEqual(await of('full', 80));
  expect(await of('short', 79, { inodesFree: 200 })).toEqual(full);
  expect(await of('short', 79, { inodes: undefined, inodesFree: undefined })).toEqual(short);
  const budgeted = await of('shortWithBudgets', 79);
  expect([budgeted.namespaces, budgeted.otherNamespaces]).toEqual([full.namespaces, undefined]);
  expect(budgeted.workloads).toEqual(short.workloads);
  expect(short.pods?.map(({ namespace }) => namespace)).toEqual(['team-29', 'team-28', 'team-0']);
  expect([short.podCount, short.volumeCount]).toEqual([full.podCount, full.volumeCount]);
  const lengths = [short.namespaces, short.workloads, short.volumes, short.images].map(
    (list) => list?.length,
  );
  expect(lengths).toEqual([3, 3, 3, 3]);
  expect(short.images).toEqual(full.images?.slice(0, 3));
  const others = [short.otherNamespaces, short.otherWorkloads, short.otherVolumes, short.otherImages];
  const rest = full.namespaces?.slice(3).reduce((sum, { bytes }) => sum + bytes, 0);
  const highest = full.workloads?.[3]?.highestBytes;
  expect(others).toMatchObject([
    { count: 27, bytes: rest },
    { count: 27, highestBytes: highest },
    { count: 27, highestPercent: 11 },
    { count: 63, bytes: 5 + (61 * 62) / 2 },
  ]);
  const bytes = [full, short].map((one) => JSON.stringify(one).length);
  expect(bytes[0]).toBeGreaterThan(25_000);
  expect(bytes[1]).toBeLessThan(4_500);
});

test.each([
  ['auto', 2_000, false, 'full'],
  ['auto', 2_001, false, 'short'],
  ['auto', 2_001, true, 'shortWithBudgets'],
  ['short', 0, false, 'short'],
  ['full', 100_000, true, 'full'],
] as const)(
  '%s with %i governed nodes, budgets: %s → %s',
  (setting, governedNodes, mayHaveBudgets, lists) => {
    expect(reportLists(setting, { governedNodes, mayHaveBudgets })).toBe(lists);
  },
);
