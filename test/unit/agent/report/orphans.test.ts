import { describe, expect, test } from 'vitest';
import { orphansFound, planOrphanEvent, type OrphanCounts } from '../../../../src/agent/report/events.ts';
import type { OrphanInventory } from '../../../../src/agent/containergc/facts.ts';
import { orphanCount, orphanInventory } from './builders.ts';

const directories = (count: number) => orphanInventory({ podDirectories: orphanCount({ count }) });

test.each<[name: string, announced: OrphanCounts, now: OrphanInventory | undefined, isDue: boolean]>([
  ['the first', {}, directories(1), true],
  ['as many as before', { podDirectories: 2 }, directories(2), false],
  ['one more', { podDirectories: 2 }, directories(3), true],
])('whether an Event about %s is due', (_, announced, now, isDue) => {
  expect(planOrphanEvent(announced, now).isDue).toBe(isDue);
});

test('fewer are remembered, so that the next one is announced; a place that is not searched keeps its count', () => {
  const fewer = planOrphanEvent({ podDirectories: 3, logDirectories: 1 }, directories(1));
  expect(fewer).toEqual({ isDue: false, announced: { podDirectories: 1, logDirectories: 1 } });
  const unsearched = planOrphanEvent(fewer.announced, undefined);
  expect(unsearched.announced).toEqual(fewer.announced);
});

describe('the Event', () => {
  const node = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' };
  const item = (path: string, reason?: string) => ({ path, podUID: 'p', bytes: 1, reason });

  test('names some of each kind with their reasons', () => {
    const orphans = orphanInventory({
      podDirectories: orphanCount({
        ...{ count: 3, bytes: 2048 },
        largest: [
          { ...item('/pods/a', 'Mounted'), holder: '/pods/a/v/mount' },
          item('/pods/b'),
          item('/pods/c'),
        ],
      }),
      podCgroups: orphanCount({ count: 1, bytes: 0, largest: [item('/cgroup/a', 'OrphanedCgroup')] }),
      logDirectories: orphanCount({ count: 0 }),
    });
    expect(orphansFound(node, orphans)).toMatchObject({
      ...{ regarding: node, type: 'Warning', reason: 'OrphanedResources' },
      note: 'No pod or container of Kubernetes uses 3 pod directories of deleted pods, 2.00 KiB (/pods/a Mounted held by v/mount, /pods/b, 1 more); 1 pod control group of deleted pods, 0 B (/cgroup/a OrphanedCgroup). The NodeGCReport of the node lists more of them',
    });
  });

  test.each([
    [1, 'pod directory', 'pod control group', 'log directory'],
    [2, 'pod directories', 'pod control groups', 'log directories'],
  ])('%s of each', (count, ...nouns) => {
    const one = orphanCount({ count });
    const orphans = { podDirectories: one, podCgroups: one, logDirectories: one };
    const { note } = orphansFound(node, orphans);
    for (const noun of nouns) expect(note).toContain(`${count} ${noun} of deleted pods`);
  });
});
