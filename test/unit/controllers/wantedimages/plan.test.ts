import { describe, expect, test } from 'vitest';
import { isWanting, needsWrite, planWanted } from '../../../../src/controllers/wantedimages/plan.ts';
import type { Workload } from '../../../../src/kube/cache/workloads.ts';
import { workload } from './builders.ts';

describe('which workloads need their images without a pod', () => {
  test.each<[name: string, kind: Workload['kind'], over: Partial<Workload>, isWanted: boolean]>([
    ['a DaemonSet', 'DaemonSet', {}, true],
    ['a CronJob', 'CronJob', {}, true],
    ['a suspended CronJob', 'CronJob', { isSuspended: true }, true],
    ['a Job', 'Job', {}, false],
    ['a suspended Job', 'Job', { isSuspended: true }, true],
    ['a Deployment with replicas', 'Deployment', { replicas: 1 }, false],
    ['a Deployment without replicas', 'Deployment', { replicas: 0 }, true],
    [
      'a Deployment without replicas that an operator owns',
      'Deployment',
      { replicas: 0, isOwned: true },
      true,
    ],
    ['a StatefulSet with replicas', 'StatefulSet', { replicas: 3 }, false],
    ['a StatefulSet without replicas', 'StatefulSet', { replicas: 0 }, true],
    ['a StatefulSet whose replicas are not known', 'StatefulSet', {}, false],
    ['a ReplicaSet without replicas', 'ReplicaSet', { replicas: 0 }, true],
    ['a ReplicaSet with replicas', 'ReplicaSet', { replicas: 1 }, false],
    ['a former ReplicaSet of a Deployment', 'ReplicaSet', { replicas: 0, isOwned: true }, false],
  ])('%s', (_, kind, over, isWanted) => {
    const one = workload(kind, over);
    expect(isWanting(one)).toBe(isWanted);
    expect(planWanted([one]).images).toHaveLength(isWanted ? 1 : 0);
  });
});

describe('the list', () => {
  const gpu = { gpu: 'yes' };

  test('has each image with the first workload that wants it', () => {
    const made = planWanted([
      workload('DaemonSet', { name: 'first', images: ['a', 'b'] }),
      workload('CronJob', { name: 'second', images: ['b', 'c'] }),
    ]);
    expect(made).toEqual({
      images: [
        { image: 'a', workload: 'DaemonSet batch/first', nodeSelector: {} },
        { image: 'b', workload: 'DaemonSet batch/first', nodeSelector: {} },
        { image: 'c', workload: 'CronJob batch/second', nodeSelector: {} },
      ],
      omitted: 0,
    });
  });

  test('has an image once for each selector of nodes, unless it counts for all nodes', () => {
    const made = planWanted([
      workload('DaemonSet', { images: ['a', 'b'], nodeSelector: gpu }),
      workload('DaemonSet', { images: ['a'], nodeSelector: gpu }),
      workload('DaemonSet', { images: ['a'], nodeSelector: { gpu: 'no' } }),
      workload('CronJob', { images: ['b'] }),
    ]);
    expect(made.images.map(({ image, nodeSelector }) => [image, nodeSelector])).toEqual([
      ['a', gpu],
      ['a', { gpu: 'no' }],
      ['b', {}],
    ]);
  });

  const named = (count: number, length = 8): readonly string[] =>
    Array.from({ length: count }, (_, i) => String(i).padStart(length, '0'));

  test.each([
    { name: '500 images', images: named(500), listed: 500, omitted: 0 },
    { name: 'one more', images: named(501), listed: 500, omitted: 1 },
    { name: '400 with long names', images: named(400, 1000), listed: 246, omitted: 154 },
  ])(
    'has room for 500 images and 256 KiB, and says how many it lacks: $name',
    ({ images, listed, omitted }) => {
      const made = planWanted([workload('CronJob', { images })]);
      expect(made.images.map(({ image }) => image)).toEqual(images.slice(0, listed));
      expect(made.omitted).toBe(omitted);
      expect(Buffer.byteLength(JSON.stringify(made.images))).toBeLessThan(257 * 1024);
    },
  );
});

describe('the stored list is replaced', () => {
  const list = (minutes: number, images: readonly string[] = ['a'], omitted = 0) => ({
    listedAtMs: minutes * 60_000,
    images: images.map((image) => ({ image, workload: 'CronJob a/b', nodeSelector: {} })),
    omitted,
  });

  test.each<[name: string, stored: Parameters<typeof needsWrite>[0], isReplaced: boolean]>([
    ['if there is none', 'the controller has not written it', true],
    ['not if it is the same', list(46), false],
    ['if it has other images', list(46, ['b']), true],
    ['if it lacks another number', list(46, ['a'], 1), true],
    ['if it is 15 minutes old', list(45), true],
    ['if it is of a clock that was ahead', list(76), true],
  ])('%s', (_, stored, isReplaced) => {
    expect(needsWrite(stored, list(60))).toBe(isReplaced);
  });
});
