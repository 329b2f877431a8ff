import { beforeEach, describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../../src/cri/runtime.ts';
import { changeAt, container, image } from '../../../fakes/runtime.ts';
import { governed, keptBy, Node } from './environment.ts';

let node: Node;
beforeEach(async () => {
  node = new Node();
  node.fill();
  await node.observe();
});

const skipped = (reason: string): Promise<number | undefined> =>
  node.metric('dustpan_skipped_objects_total', { reason });

describe('a full disk', () => {
  test('is measured after each removal, because image sizes by the runtime are only half of it', async () => {
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Succeeded', removed: 1, freedBytes: 1000, errors: 0, message: undefined },
    });
    expect(node.left).toBe('b c d e f g h i');
    expect(await node.metric('dustpan_image_garbage_collected_total', { reason: 'space' })).toBe(1);
    expect(await node.metric('dustpan_image_garbage_collected_bytes_total')).toBe(1000);
    expect(node.recorder.events).toEqual([]);
  });

  test('costs at least one image, even if rounding shows nothing to free', async () => {
    node.otherBytes = -499;
    node.governance = governed({ highThresholdPercent: 86, lowThresholdPercent: 86 });
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
  });

  test('costs more images than the wanted size while the file system shows freed space', async () => {
    node.runtime.before = (call) => {
      if (call === 'removeImage') node.otherBytes += 900;
    };
    expect((await node.pass()).removed).toBe(9);
  });

  test('logs each removed image, which is progress', async () => {
    await node.pass();
    expect(node.progress).toBe(1);
    expect(node.log.lines).toContainEqual(
      expect.objectContaining({ level: 'info', message: 'removed image' }),
    );
  });

  test('counts image sizes if it cannot be measured', async () => {
    node.runtime.before = (call) => {
      if (call === 'removeImage') node.diskError = new Error('statfs failed');
    };
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 2, freedBytes: 1000 });
    expect(node.left).toBe('c d e f g h i');
  });

  test('removes nothing in mode DryRun, but counts what is due', async () => {
    node.governance = governed({}, { mode: 'DryRun' });
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 0, freedBytes: 0 });
    expect(node.runtime.changes).toEqual([]);
    expect(await node.metric('dustpan_due_objects', { reason: 'Space', mode: 'DryRun' })).toBe(2);
    expect(node.inventories.at(-1)?.removable).toEqual({ count: 9, bytes: 4500 });
  });

  test.each([
    ['NoPolicy', keptBy('NoPolicy')],
    ['RuleOff', governed(undefined)],
  ])('removes nothing: %s', async (reason, governance) => {
    node.governance = governance;
    expect(await node.pass()).toMatchObject({ result: 'Idle', removed: 0 });
    expect(node.runtime.changes).toEqual([]);
    expect(await node.metric('dustpan_kept_objects', { reason })).toBe(9);
    expect(node.inventories.at(-1)?.removable).toEqual({ count: 0, bytes: 0 });
  });

  test('stops at maxImagesPerPass without an Event', async () => {
    node.otherBytes = 900;
    node.governance = governed({ maxImagesPerPass: 1 });
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Short', removed: 1, message: 'maxImagesPerPass is 1: more images are due' },
    });
    expect(node.recorder.events).toEqual([]);
  });

  test('does not cost every image when the file system does not show the freed space', async () => {
    node.runtime.before = (call) => {
      if (call === 'removeImage') node.otherBytes += 1000;
    };
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Short', removed: 2 },
      message:
        'removed images of the planned size, but the usage of the file system did not fall accordingly',
    });
  });
});

test('images are listed before containers, and containers before the pods are read: newer ones protect', async () => {
  const calls: string[] = [];
  node.runtime.before = (call) => {
    calls.push(call);
  };
  const pods = node.pods;
  Object.defineProperty(node, 'pods', {
    get: () => {
      calls.push('pods');
      return pods;
    },
  });
  await node.pass();
  const order = ['listImages', 'listContainers'].map((call) => calls.indexOf(call));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(calls.indexOf('pods')).toBeGreaterThan(Math.max(...order));
});

test('a jump of the wall clock makes no image old', async () => {
  const day = 24 * 3_600_000;
  node.otherBytes = -5_000;
  node.governance = governed({ maximumAgeMs: 30 * day });
  await node.pass();
  node.clock.stepWall(40 * day);
  await node.pass();
  expect(await node.pass()).toMatchObject({ removed: 0 });
});

describe('between plan and removal', () => {
  test('a container that starts protects its image, and the pass removes the next image', async () => {
    changeAt(node.runtime, 'listContainers', 2, () => {
      node.runtime.add(container('c', { imageId: 'sha256:a' }));
    });
    await node.pass();
    expect(node.left).toBe('a c d e f g h i');
    expect(await skipped('InUse')).toBe(1);
    expect(node.state.written?.images.get('sha256:a')?.lastUsedMs).toBe(node.clock.now().getTime());
  });

  test('a container that starts and is removed again protects its image as well', async () => {
    let lists = 0;
    node.otherBytes = 500;
    node.runtime.before = (call) => {
      if (call !== 'listContainers') return;
      lists += 1;
      node.runtime.containers = lists === 2 ? [container('c', { imageId: 'sha256:b' })] : [];
    };
    await node.pass();
    expect(node.left).toBe('b d e f g h i');
    expect(await skipped('UsedRecently')).toBe(1);
  });

  test('an image that gets pinned is kept', async () => {
    changeAt(node.runtime, 'listImages', 2, () => {
      node.runtime.images = node.runtime.images.map((one) => ({ ...one, pinned: one.id === 'sha256:a' }));
    });
    await node.pass();
    expect(node.left).toBe('a c d e f g h i');
  });

  test('pods that become unknown keep every image', async () => {
    changeAt(node.runtime, 'listImages', 2, () => {
      node.pods = undefined;
    });
    await node.pass();
    expect(node.runtime.changes).toEqual([]);
  });
});

describe('the pass ends early', () => {
  beforeEach(() => {
    node.otherBytes = 500;
  });

  test.each([
    ['is a dry run', governed({}, { mode: 'DryRun' })],
    ['is deleted', keptBy('NoPolicy')],
  ])('when the policy %s', async (_name, governance) => {
    changeAt(node.runtime, 'removeImage', 1, () => {
      node.governance = governance;
    });
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Short', removed: 1, message: 'policies have changed' },
    });
    expect(node.recorder.events).toEqual([]);
  });

  test('when the clock jumps', async () => {
    changeAt(node.runtime, 'removeImage', 1, () => {
      node.clock.stepWall(-3_600_000);
    });
    expect(await node.pass()).toMatchObject({ removed: 1, message: 'the clock has jumped' });
  });

  test('when the runtime is no longer ready, and records the removals', async () => {
    changeAt(node.runtime, 'removeImage', 1, () => {
      node.runtime.notReady = 'Restarting';
    });
    const message = 'Status: not ready: Restarting';
    expect(await node.pass()).toMatchObject({ result: 'Failed', removed: 1, message });
    expect(node.state.written?.removed).toMatchObject([{ digest: 'sha256:a' }]);
  });

  test('at a shutdown, and records the removals', async () => {
    const stop = new AbortController();
    changeAt(node.runtime, 'removeImage', 1, () => {
      stop.abort();
    });
    expect(await node.pass(stop.signal)).toMatchObject({ removed: 1, message: 'shutting down' });
    expect(node.state.written?.removed).toMatchObject([{ digest: 'sha256:a' }]);
    expect(node.left).toBe('b c d e f g h i');
  });
});

test.each([-3_600_000, 3_600_000])('a pass removes nothing after the clock was set by %d ms', async (ms) => {
  node.clock.stepWall(ms);
  expect(await node.pass()).toMatchObject({ result: 'Unknown', removed: 0, message: 'ClockUnsure' });
  expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
});

describe('eight images that the runtime refuses to remove', () => {
  const images = 'a b c d e f g h'.split(' ').map((name) => `sha256:${name}`);
  const refused = 100;
  beforeEach(() => {
    for (const target of images) node.runtime.fail('removeImage', { target, times: refused });
  });

  test('do not stop the removal of the ninth', async () => {
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1, errors: 8 });
    expect(node.left).toBe('a b c d e f g h');
  });

  test('are tried after all others, each after a pause that doubles', async () => {
    await node.pass();
    node.otherBytes = 1_000;
    const requests: number[] = [];
    for (let i = 0; i < 12; i += 1) {
      const before = node.runtime.changes.length;
      expect(await node.pass()).toMatchObject({ result: 'Failed', removed: 0 });
      requests.push(node.runtime.changes.length - before);
    }
    // Passes are 5 minutes apart; the pause is 20 s at first, and 15 minutes at most.
    expect(requests).toEqual([8, 8, 8, 8, 0, 8, 0, 0, 8, 0, 0, 8]);
    node.runtime.add(image('new', { sizeBytes: 500 }));
    expect(await node.pass()).toMatchObject({ removed: 1 });
    expect(node.left).toBe('a b c d e f g h');
  });

  test('fail every pass that needs their space, tried or not', async () => {
    node.otherBytes = 1_000;
    for (let i = 0; i < 5; i += 1) await node.pass();
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Failed', errors: 0 },
      message: 'the runtime refuses to remove 8 images; dustpan tries again after a pause',
    });
  });

  test('fail every pass in which they are too old, tried or not', async () => {
    node.otherBytes = -5_000;
    node.governance = governed({ maximumAgeMs: 1 });
    for (let i = 0; i < 5; i += 1) await node.pass();
    expect(await node.pass()).toMatchObject({
      result: 'Failed',
      message: 'the runtime refuses to remove 8 images; dustpan tries again after a pause',
    });
  });

  test('fail no pass that does not need their space', async () => {
    for (let i = 0; i < 5; i += 1) await node.pass();
    node.otherBytes = -5_000;
    expect(await node.pass()).toMatchObject({ result: 'Idle', errors: 0, message: undefined });
  });
});

describe('a removal that fails', () => {
  test('makes the pass remove the next image', async () => {
    node.runtime.fail('removeImage', { target: 'sha256:a' });
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1, errors: 1 });
    expect(node.left).toBe('a c d e f g h i');
    expect(await node.metric('dustpan_failed_objects_total', { reason: 'Space' })).toBe(1);
  });

  test('for every image fails the pass in the kubelet’s words; from the second failed pass on with an Event', async () => {
    node.runtime.fail('removeImage', { times: 18 });
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Failed', removed: 0, errors: 9 },
      message:
        'wanted to free 1000 bytes, but freed 0 bytes space with errors in image deletion: removeImage: refused by the test',
    });
    expect(node.recorder.events).toEqual([]);
    await node.pass();
    expect(node.recorder.reasons).toEqual(['ImageGCFailed Node/node-1']);
    await node.pass();
    expect(node.recorder.events).toHaveLength(1);
  });

  test('makes its image the last one, also after a deadline', async () => {
    node.runtime.fail('removeImage', {
      ...{ target: 'sha256:a', times: 2 },
      error: new RuntimeError('removing image: deadline', 'deadline'),
    });
    await node.pass();
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1, errors: 0 });
    expect(node.left).toBe('a c d e f g h i');
    expect(node.runtime.changes).toEqual(['removeImage sha256:a', 'removeImage sha256:b']);
  });

  test('does not change the order if the runtime is not available', async () => {
    node.runtime.fail('removeImage', { error: new RuntimeError('no socket', 'unavailable') });
    await node.pass();
    await node.pass();
    expect(node.left).toBe('b c d e f g h i');
  });
});
