import { beforeEach, describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../../src/cri/runtime.ts';
import { container } from '../../../fakes/runtime.ts';
import { nodePod } from './builders.ts';
import { Bed, governed } from './environment.ts';

let bed: Bed;
beforeEach(() => {
  bed = new Bed();
});

describe('a full disk', () => {
  beforeEach(async () => {
    bed.fill();
    await bed.settle();
  });

  test('is measured after each removal: what the runtime counts is only half', async () => {
    const report = await bed.pass();
    expect(bed.left).toEqual(['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
    expect(report).toMatchObject({
      result: 'Succeeded',
      removed: 1,
      freedBytes: 1000,
      errors: 0,
      message: undefined,
    });
    expect(await bed.metric('dustpan_image_garbage_collected_total', { reason: 'space' })).toBe(1);
    expect(await bed.metric('dustpan_image_garbage_collected_bytes_total')).toBe(1000);
    expect(bed.recorder.events).toEqual([]);
  });

  test('by the runtime’s own count, where it cannot be measured', async () => {
    bed.runtime.before = (call) => {
      if (call === 'removeImage') bed.diskError = new Error('statfs failed');
    };
    const report = await bed.pass();
    expect(bed.left).toHaveLength(7);
    expect(report).toMatchObject({ result: 'Succeeded', removed: 2, freedBytes: 1000 });
  });

  test('in mode DryRun nothing is touched, but told', async () => {
    bed.governance = governed({}, { mode: 'DryRun' });
    expect(await bed.pass()).toMatchObject({ result: 'Succeeded', removed: 0, freedBytes: 0 });
    expect(bed.runtime.changes).toEqual([]);
    expect(await bed.metric('dustpan_image_gc_due_images', { reason: 'Space', mode: 'DryRun' })).toBe(2);
    expect(bed.inventories.at(-1)?.removable).toEqual({ count: 9, bytes: 4500 });
  });

  test.each([
    ['no policy', { kind: 'keep', reason: 'NoPolicy', policy: undefined } as const, 'NoPolicy'],
    ['a policy that says nothing of images', governed(undefined), 'RuleOff'],
  ])('%s: nothing is touched', async (_name, governance, reason) => {
    bed.governance = governance;
    expect(await bed.pass()).toMatchObject({ result: 'Idle', removed: 0 });
    expect(bed.runtime.changes).toEqual([]);
    expect(await bed.metric('dustpan_image_gc_kept_images', { reason })).toBe(9);
    expect(bed.inventories.at(-1)?.removable).toEqual({ count: 0, bytes: 0 });
  });

  test('a container that starts between the plan and the removal protects its image, and the next goes', async () => {
    let lists = 0;
    bed.runtime.before = (call) => {
      if (call === 'listContainers' && ++lists === 2)
        bed.runtime.add(container('c', { imageId: 'sha256:a' }));
    };
    await bed.pass();
    expect(bed.left).toEqual(['a', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
    expect(await bed.metric('dustpan_image_gc_skipped_images_total', { reason: 'InUse' })).toBe(1);
    expect(bed.state.written?.images.get('sha256:a')?.lastUsedMs).toBe(bed.clock.now().getTime());
  });

  test('a container that comes and goes again meanwhile protects it as well', async () => {
    let lists = 0;
    bed.otherBytes = 500;
    bed.runtime.before = (call) => {
      if (call !== 'listContainers') return;
      lists += 1;
      bed.runtime.containers = lists === 2 ? [container('c', { imageId: 'sha256:b' })] : [];
    };
    await bed.pass();
    expect(bed.left).toEqual(['b', 'd', 'e', 'f', 'g', 'h', 'i']);
    expect(await bed.metric('dustpan_image_gc_skipped_images_total', { reason: 'UsedRecently' })).toBe(1);
  });

  test('what was seen before a pause of the agent is looked at again: a container that started in it protects its image', async () => {
    bed.beforeAnswer = () => {
      // The second look of the pass has been answered by the runtime, and waits for the API server.
      if (bed.asked !== 2) return;
      bed.clock.advance(11_000);
      bed.runtime.add(container('c', { imageId: 'sha256:a' }));
    };
    bed.runtime.before = (call) => {
      // So that the API server is asked once more after the runtime.
      if (call === 'listContainers' && bed.asked === 1) bed.clock.advance(5_000);
    };
    expect(await bed.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
    expect(bed.left).toEqual(['a', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
    expect(await bed.metric('dustpan_image_gc_skipped_images_total', { reason: 'InUse' })).toBe(1);
  });

  test('a node that takes too long to look at keeps every image, and the pass says so', async () => {
    bed.runtime.before = (call) => {
      if (call === 'listContainers') bed.clock.advance(5_000);
    };
    expect(await bed.pass()).toMatchObject({
      result: 'Failed',
      removed: 0,
      message:
        're-checking live before a removal takes longer than 5 s: the object may have come into use meanwhile',
    });
    expect(bed.runtime.changes).toEqual([]);
    expect(await bed.metric('dustpan_image_gc_errors_total', { stage: 'observe' })).toBe(1);
  });

  test('a pod that is bound meanwhile protects its image', async () => {
    let lists = 0;
    bed.runtime.before = (call) => {
      if (call === 'listImages' && ++lists === 2) bed.pods = [nodePod('p', ['a'])];
    };
    await bed.pass();
    expect(bed.left).toContain('a');
    expect(await bed.metric('dustpan_image_gc_skipped_images_total', { reason: 'BoundPod' })).toBe(1);
  });

  test('an image that is pinned meanwhile stays', async () => {
    let lists = 0;
    bed.runtime.before = (call) => {
      if (call !== 'listImages' || ++lists !== 2) return;
      bed.runtime.images = bed.runtime.images.map((each) =>
        each.id === 'sha256:a' ? { ...each, pinned: true } : each,
      );
    };
    await bed.pass();
    expect(bed.left).toContain('a');
    expect(bed.left).not.toContain('b');
  });

  test('when the pods are not known any more, nothing goes', async () => {
    let lists = 0;
    bed.runtime.before = (call) => {
      if (call === 'listImages' && ++lists === 2) bed.pods = undefined;
    };
    await bed.pass();
    expect(bed.left).toHaveLength(9);
  });

  test.each([
    ['says DryRun', () => governed({}, { mode: 'DryRun' })],
    ['changes', () => governed({}, { generation: 2 })],
    ['is gone', () => ({ kind: 'keep', reason: 'NoPolicy', policy: undefined }) as const],
    [
      'does not count, for the node is marked',
      () => ({ kind: 'keep', reason: 'KeepMarked', policy: undefined }) as const,
    ],
  ])('when the policy %s, the pass ends', async (_name, made) => {
    bed.otherBytes = 500;
    bed.runtime.before = (call) => {
      if (call === 'removeImage') bed.governance = made();
    };
    const report = await bed.pass();
    expect(report).toMatchObject({ result: 'Short', removed: 1, message: 'policies have changed' });
    expect(bed.recorder.events).toEqual([]);
  });

  test('when the clock jumps, the pass ends', async () => {
    bed.otherBytes = 500;
    bed.runtime.before = (call) => {
      if (call === 'removeImage') bed.clock.stepWall(-3_600_000);
    };
    expect(await bed.pass()).toMatchObject({ removed: 1, message: 'the clock has jumped' });
  });

  test.each([-3_600_000, 3_600_000])(
    'after the clock was set by %d ms a pass removes nothing',
    async (ms) => {
      bed.clock.stepWall(ms);
      expect(await bed.pass()).toMatchObject({ result: 'Unknown', removed: 0, message: 'ClockUnsure' });
      expect(await bed.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
    },
  );

  test('a removal that fails falls through to the next image', async () => {
    bed.runtime.fail('removeImage', { target: 'sha256:a' });
    expect(await bed.pass()).toMatchObject({ result: 'Succeeded', removed: 1, errors: 1 });
    expect(bed.left).toEqual(['a', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
    expect(await bed.metric('dustpan_image_gc_errors_total', { stage: 'remove' })).toBe(1);
  });

  test('when all fail, the pass fails in upstream’s words; from the second on an Event says so', async () => {
    bed.runtime.fail('removeImage', { times: 16 });
    const report = await bed.pass();
    expect(report).toMatchObject({ result: 'Failed', removed: 0, errors: 8 });
    expect(report.message).toBe(
      'wanted to free 1000 bytes, but freed 0 bytes space with errors in image deletion: removeImage: refused by the test',
    );
    expect(bed.recorder.events).toEqual([]);
    await bed.pass();
    expect(bed.recorder.reasons).toEqual(['ImageGCFailed Node/node-1']);
    await bed.pass();
    expect(bed.recorder.events).toHaveLength(1);
  });

  test('a runtime that hangs is not asked nine times', async () => {
    bed.runtime.fail('removeImage', {
      error: new RuntimeError('removing image: deadline', 'deadline'),
      times: 9,
    });
    expect(await bed.pass()).toMatchObject({ result: 'Failed', errors: 1 });
  });

  test('a runtime that goes away in the middle ends the pass, and what was done is told', async () => {
    bed.otherBytes = 500;
    bed.runtime.before = (call) => {
      if (call === 'removeImage')
        bed.runtime.fail('listImages', { error: new RuntimeError('listing images: gone', 'unavailable') });
    };
    expect(await bed.pass()).toMatchObject({ result: 'Failed', removed: 1, message: 'listing images: gone' });
    expect(bed.state.written?.removed).toMatchObject([{ digest: 'sha256:a' }]);
  });

  test('so does one that is not ready any more', async () => {
    bed.otherBytes = 500;
    bed.runtime.before = (call) => {
      if (call === 'removeImage') bed.runtime.notReady = 'Restarting';
    };
    expect(await bed.pass()).toMatchObject({
      result: 'Failed',
      removed: 1,
      message: 'Status: not ready: Restarting',
    });
  });

  test('a shutdown in the middle ends it too, and what was removed is written down', async () => {
    const stop = new AbortController();
    bed.otherBytes = 500;
    bed.runtime.before = (call) => {
      if (call === 'removeImage') stop.abort();
    };
    expect(await bed.pass(stop.signal)).toMatchObject({ removed: 1, message: 'shutting down' });
    expect(bed.state.written?.removed).toMatchObject([{ digest: 'sha256:a' }]);
    expect(bed.left).toHaveLength(8);
  });

  test('when the file system does not show what was removed, not every image is spent on it', async () => {
    bed.runtime.before = (call) => {
      if (call === 'removeImage') bed.otherBytes += 1000;
    };
    expect(await bed.pass()).toMatchObject({
      result: 'Short',
      removed: 2,
      message: 'removed images of the wanted size, but the file system does not show it',
    });
  });

  test('no more than maxImagesPerPass, which is no alarm', async () => {
    bed.otherBytes = 900;
    bed.governance = governed({ maxImagesPerPass: 1 });
    expect(await bed.pass()).toMatchObject({
      result: 'Short',
      removed: 1,
      message: 'maxImagesPerPass: 1 a pass, more are to go',
    });
    expect(bed.recorder.events).toEqual([]);
  });
});
