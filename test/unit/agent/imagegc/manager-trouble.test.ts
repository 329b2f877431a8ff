import { beforeEach, describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../../src/cri/runtime.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { nodePod } from './builders.ts';
import { Bed, governed } from './environment.ts';

let bed: Bed;
beforeEach(() => {
  bed = new Bed();
});

const notes = (): string[] => bed.recorder.events.map(({ reason, note }) => `${reason}: ${note}`);

describe('what removing images cannot help', () => {
  beforeEach(async () => {
    bed.runtime.add(
      image('a', { sizeBytes: 500 }),
      image('b', { sizeBytes: 1000 }),
      image('c', { sizeBytes: 100, pinned: true }),
    );
    bed.runtime.add(container('main', { imageId: 'sha256:b' }));
    bed.runtime.stats = [{ id: 'main', labels: {}, writableLayerBytes: 2048, writableLayerInodes: 1 }];
    bed.otherBytes = 6500;
    await bed.settle();
  });

  test('is told in one Event, in upstream’s words, with what the disk is full of', async () => {
    expect(await bed.pass()).toMatchObject({ result: 'Short', removed: 1, freedBytes: 1000 });
    expect(notes()).toEqual([
      "FreeDiskSpaceFailed: Insufficient free disk space on the node's image filesystem (97% of 9.8 KiB used). Failed to free sufficient space by deleting unused images (freed 1000 bytes). Wanted 1700 bytes. Used: 8.50 KiB of 9.77 KiB: images InUse 1000 B (1), images Pinned 100 B (1), writable layers 2.00 KiB, logs 70 B, rest 5.35 KiB.",
    ]);
  });

  test('again and again, and from the second time on as a failure of image GC', async () => {
    await bed.pass();
    await bed.pass();
    expect(bed.recorder.reasons).toEqual([
      'FreeDiskSpaceFailed Node/node-1',
      'FreeDiskSpaceFailed Node/node-1',
      'ImageGCFailed Node/node-1',
    ]);
    bed.otherBytes = 0;
    await bed.pass();
    bed.otherBytes = 7500;
    await bed.pass();
    expect(bed.recorder.reasons.filter((reason) => reason.startsWith('ImageGCFailed'))).toHaveLength(1);
  });

  test('what the runtime does not tell of it is unknown', async () => {
    bed.runtime.fail('containerStats');
    await bed.pass();
    expect(notes()[0]).toContain('writable layers unknown, logs 70 B, rest 7.35 KiB');
  });

  test('in mode DryRun it is no Event', async () => {
    bed.governance = governed({}, { mode: 'DryRun' });
    expect((await bed.pass()).result).toBe('Short');
    expect(bed.recorder.events).toEqual([]);
  });
});

describe('the memory', () => {
  beforeEach(() => {
    bed.fill();
  });

  test('survives a restart: what was used last goes last', async () => {
    bed.runtime.containers = [container('a')];
    await bed.settle();
    bed.runtime.containers = [];
    bed.restart();
    expect(await bed.pass()).toMatchObject({ removed: 1 });
    expect(bed.left).toEqual(['a', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
  });

  test('of before a long time without an agent makes nothing old: what was used meanwhile nobody saw', async () => {
    const day = 24 * 3_600_000;
    bed.otherBytes = -5_000;
    bed.governance = governed({ maximumAgeMs: 30 * day });
    bed.runtime.containers = [container('a')];
    await bed.settle();
    bed.clock.advance(40 * day);
    bed.runtime.containers = [];
    bed.restart();
    expect(await bed.pass()).toMatchObject({ result: 'Idle', removed: 0 });
    expect(bed.left).toHaveLength(9);
    bed.clock.advance(31 * day);
    expect((await bed.pass()).removed).toBe(9);
  });

  test('lost means starting over: nothing is old enough', async () => {
    await bed.settle();
    bed.governance = governed({ minimumAgeMs: 120_000 });
    bed.state.reading = { kind: 'startOver', reason: 'version: is 2, known is 1' };
    bed.restart();
    expect(await bed.pass()).toMatchObject({ result: 'Short', removed: 0 });
    expect(bed.log.lines).toContainEqual({
      level: 'warn',
      logger: '',
      message: 'state file cannot be used, starting over',
      fields: { reason: 'version: is 2, known is 1' },
    });
    expect(await bed.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
  });

  test('that cannot be written is no reason to stop', async () => {
    bed.state.error = new Error('writing state file /x (ENOSPC)');
    await bed.settle();
    expect(await bed.pass()).toMatchObject({
      result: 'Succeeded',
      removed: 1,
      message: 'writing state file /x (ENOSPC)',
    });
    expect(await bed.metric('dustpan_image_gc_errors_total', { stage: 'state' })).toBe(2);
  });

  test('knows an image that came back, over a restart, and doubles its minimum age', async () => {
    bed.governance = governed({ minimumAgeMs: 290_000 });
    await bed.pass();
    await bed.pass();
    expect(bed.left).not.toContain('a');
    bed.runtime.add(image('a', { sizeBytes: 500 }));
    bed.runtime.containers = ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => container(name));
    bed.restart();
    await bed.pass();
    expect(await bed.metric('dustpan_image_repulled_after_gc_total')).toBe(1);
    expect(await bed.metric('dustpan_image_repulled_after_gc_bytes_total')).toBe(500);
    await bed.pass();
    expect(bed.left).toContain('a');
    await bed.pass();
    expect(bed.left).not.toContain('a');
    expect(await bed.metric('dustpan_image_repulled_after_gc_total')).toBe(1);
  });
});

describe('bad input', () => {
  beforeEach(async () => {
    bed.fill();
    await bed.settle();
  });

  test.each(['listImages', 'listContainers'] as const)(
    '%s fails: one line, nothing touched, an Event the second time',
    async (call) => {
      bed.runtime.fail(call, {
        error: new RuntimeError('listing: unknown runtime handler "x"', 'other'),
        times: 2,
      });
      expect(await bed.pass()).toMatchObject({
        result: 'Failed',
        removed: 0,
        message: 'listing: unknown runtime handler "x"',
      });
      expect(bed.inventories.at(-1)).toBeUndefined();
      expect(bed.recorder.events).toEqual([]);
      await bed.pass();
      expect(notes()).toEqual(['ImageGCFailed: listing: unknown runtime handler "x"']);
      expect(bed.runtime.changes).toEqual([]);
      expect(await bed.pass()).toMatchObject({ result: 'Succeeded' });
    },
  );

  test('a runtime that is not ready: the lists are not read, nothing is touched, and it says why', async () => {
    bed.runtime.notReady = 'Starting: recovering';
    bed.runtime.calls.length = 0;
    expect(await bed.pass()).toMatchObject({
      result: 'Failed',
      removed: 0,
      message: 'Status: not ready: Starting: recovering',
    });
    expect(bed.runtime.calls).toEqual(['checkReady']);
    expect(bed.inventories.at(-1)).toBeUndefined();
    bed.runtime.notReady = undefined;
    expect(await bed.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
  });

  test('no capacity', async () => {
    bed.capacityBytes = 0;
    expect(await bed.pass()).toMatchObject({
      result: 'Failed',
      removed: 0,
      message: 'invalid capacity 0 on image filesystem',
    });
    expect(notes()).toEqual(['InvalidDiskCapacity: invalid capacity 0 on image filesystem']);
  });

  test('no disk: what is too old goes all the same', async () => {
    bed.diskError = new Error('measuring /var/lib/containerd: EIO');
    bed.governance = governed({ maximumAgeMs: 1 });
    expect(await bed.pass()).toMatchObject({
      result: 'Failed',
      removed: 9,
      freedBytes: 4500,
      message: 'measuring /var/lib/containerd: EIO',
    });
    expect(await bed.metric('dustpan_image_garbage_collected_total', { reason: 'age' })).toBe(9);
  });

  test('no disk, but no need of one', async () => {
    bed.diskError = new Error('measuring /var/lib/containerd: EIO');
    bed.governance = governed({ highThresholdPercent: 100 });
    expect(await bed.pass()).toMatchObject({ result: 'Idle', message: undefined });
  });

  test('no images at all', async () => {
    bed.runtime.images = [];
    bed.otherBytes = 9000;
    expect(await bed.pass()).toMatchObject({ result: 'Short', removed: 0 });
    expect(bed.inventories.at(-1)?.total).toEqual({ count: 0, bytes: 0 });
  });

  test('pods that are not known', async () => {
    bed.pods = undefined;
    expect(await bed.pass()).toMatchObject({ result: 'Unknown', removed: 0, message: 'PodsUnknown' });
    expect(bed.recorder.events).toEqual([]);
  });

  test('a container whose pod nobody knows is asked for what it has mounted', async () => {
    bed.runtime.add(
      container('stray', { imageId: 'sha256:i' }),
      container('own', { pod: 'p', imageId: 'sha256:i' }),
    );
    bed.pods = [nodePod('p', [])];
    bed.runtime.statuses.set('stray', { mountedImages: ['docker.io/library/a:latest'] });
    await bed.pass();
    expect(bed.left).toContain('a');
    expect(bed.runtime.calls.filter((call) => call.startsWith('containerStatus'))).not.toContain(
      'containerStatus own',
    );
  });
});

test('so is a container that still runs in a pod that has failed', async () => {
  bed.fill();
  await bed.settle();
  bed.runtime.add(container('late', { pod: 'p', imageId: 'sha256:i' }));
  bed.pods = [nodePod('p', ['a', 'i'], { phase: 'Failed' })];
  bed.runtime.statuses.set('late', { mountedImages: ['docker.io/library/a:latest'] });
  await bed.pass();
  expect(bed.left).toContain('a');
});

test('the inventory: one image may be in several groups, the largest are named', async () => {
  bed.otherBytes = 0;
  bed.runtime.add(
    image('a', { sizeBytes: 300, pinned: true }),
    image('b', { sizeBytes: 200 }),
    image('c', { sizeBytes: 100, tags: [] }),
    container('main', { imageId: 'sha256:a' }),
  );
  bed.governance = governed({ keep: ['*/a:*'] });
  bed.pods = [nodePod('p', ['b'])];
  await bed.settle();
  await bed.pass();
  expect(bed.inventories.at(-1)).toMatchObject({
    total: { count: 3, bytes: 600 },
    inUse: { count: 2, bytes: 500 },
    pinned: { count: 1, bytes: 300 },
    kept: { count: 1, bytes: 300 },
    removable: { count: 1, bytes: 100 },
    offenders: [
      { kind: 'Image', id: 'sha256:a', name: 'docker.io/library/a:latest', bytes: 300, reason: 'InUse' },
      { kind: 'Image', id: 'sha256:b', bytes: 200, reason: 'BoundPod' },
      { kind: 'Image', id: 'sha256:c', name: undefined, bytes: 100, reason: 'BelowThreshold' },
    ],
  });
});
