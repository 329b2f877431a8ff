import { beforeEach, describe, expect, test } from 'vitest';
import type { WantedImages } from '../../../../src/api/wanted-images.ts';
import { RuntimeError } from '../../../../src/cri/runtime.ts';
import { changeAt, container, image } from '../../../fakes/runtime.ts';
import { governedNode } from '../builders.ts';
import { pressurePolicy } from '../nodepressure/builders.ts';
import { imageRule, nodePod } from './builders.ts';
import { governed, Node } from './environment.ts';
import { fieldsOfLine } from '../../docs/pages.ts';

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
    const line = node.log.lines.find(({ message }) => message === 'removed image');
    expect(line?.level).toBe('info');
    const { written, promised } = fieldsOfLine(line);
    expect(written).toEqual(promised);
    expect(node.progress).toBe(1);
  });

  test('counts image sizes if it cannot be measured', async () => {
    node.runtime.before = (call) => {
      if (call === 'removeImage') node.diskError = new Error('statfs failed');
    };
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 2, freedBytes: 1000 });
    expect(node.left).toBe('c d e f g h i');
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

describe('an image on the remove list', () => {
  beforeEach(() => {
    node.otherBytes = -5_000;
    node.governance = governed({ remove: [{ image: 'c', untilMs: Number.MAX_SAFE_INTEGER }] });
  });
  const listOf = () => node.inventories.at(-1)?.removeList;

  test('is kept while the clock of the node, which decides about the end of the entry, is wrong', async () => {
    node.live = { clockSkewMs: 61_000 };
    expect(await node.pass()).toMatchObject({ result: 'Unknown', removed: 0 });
    expect(listOf()).toEqual([{ image: 'c', matched: true, inUse: 0, kept: 1, untagged: 0 }]);
  });

  test('has matched also in the passes after its removal', async () => {
    for (let i = 0; i < 2; i++) {
      await node.pass();
      expect(listOf()).toEqual([{ image: 'c', matched: true, inUse: 0, kept: 0, untagged: 0 }]);
    }
  });

  test('is kept if it gets another name right before the removal', async () => {
    changeAt(node.runtime, 'listImages', 2, () => {
      node.runtime.images = node.runtime.images.map((one) =>
        one.id === 'sha256:c' ? { ...one, tags: [...one.tags, 'other:1'] } : one,
      );
    });
    expect(await node.pass()).toMatchObject({ removed: 0 });
    expect(await skipped('NotSelected')).toBe(1);
  });
});

test('a pass compares the patterns of the policy that governs the node with its images', async () => {
  node.governance = governed({ keep: ['a', 'ngnix'] });
  await node.pass();
  const policy = { uid: 'uid-default', generation: 1 };
  expect(node.inventories.at(-1)?.unmatched).toMatchObject({ keep: [1], policy });
});

test('a pass reads once which images workloads want, only if the policy needs them, and removes others', async () => {
  node.wanted = {
    images: [{ image: 'a', workload: 'CronJob batch/report', nodeSelector: {} }],
    elsewhere: [],
    unknownBecause: 'no room for all',
  };
  node.governance = governed({ pinWanted: true });
  await node.pass();
  expect(node.left).toBe('a c d e f g h i');
  expect(node.wantedReads).toBe(1);
  expect(node.inventories.at(-1)?.wantedUnknown).toBe('no room for all');
  node.governance = governed({});
  node.otherBytes = 1000;
  await node.pass();
  expect(node.left).toBe('c d e f g h i');
  expect(node.wantedReads).toBe(1);
});

/** Only nodes with another label want an image. */
const ofGpuNodes: WantedImages = {
  images: [],
  elsewhere: [{ image: 'gpu', workload: 'DaemonSet batch/gpu', nodeSelector: { gpu: 'yes' } }],
  unknownBecause: undefined,
};

test('live labels that select no other workload change nothing', async () => {
  node.governance = governed({ pinWanted: true });
  node.wanted = ofGpuNodes;
  node.live = { labels: { zone: 'b' } };
  expect((await node.pass()).removed).toBe(1);
});

test('while the first list of wanted images is awaited, no image is removed, and no eviction follows', async () => {
  const imageGC = imageRule({ pinWanted: true, minimumAgeMs: 0 });
  node.governance = governedNode({ imageGC, nodePressure: pressurePolicy() });
  node.wanted = { images: [], elsewhere: [], unknownBecause: 'no list', awaitedForMs: 60_000 };
  expect(await node.pass()).toMatchObject({
    result: 'Unknown',
    message: 'WantedUnknown (no list)',
    removed: 0,
  });
  expect(await node.relieve(1000)).toBe('MoreLeft');
  expect(await node.relieve(1000, { kubeletInMs: 60_001 })).toBe('MoreLeft');
  expect(node.left).toBe('a b c d e f g h i');
  // The kubelet would remove every unused image.
  expect(await node.relieve(1000, { kubeletInMs: 60_000 })).toBe('Enough');
});

test.each([
  { pinWanted: true, removed: 0 },
  { pinWanted: false, removed: 1 },
])('live labels other than those of the plan end a pass: pinWanted $pinWanted', async (given) => {
  node.governance = governed({ pinWanted: given.pinWanted });
  node.wanted = ofGpuNodes;
  node.live = { labels: { gpu: 'yes' } };
  const { removed, result, message } = await node.pass();
  expect(removed).toBe(given.removed);
  if (given.pinWanted) expect([result, message]).toContainEqual(expect.stringContaining('labels'));
});

test('images are listed before containers, and containers before the pods are read: newer ones protect', async () => {
  const calls: string[] = [];
  node.runtime.before = (call) => calls.push(call);
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

describe('between plan and removal', () => {
  test('a container that starts protects its image, and the pass removes the next image', async () => {
    changeAt(node.runtime, 'listContainers', 2, () =>
      node.runtime.add(container('c', { imageId: 'sha256:a' })),
    );
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

  test('pods that become unknown keep every image', async () => {
    changeAt(node.runtime, 'listImages', 2, () => {
      node.pods = undefined;
    });
    await node.pass();
    expect(node.runtime.changes).toEqual([]);
  });
});

test('the pass ends early when the runtime is not ready, and records the removals', async () => {
  node.otherBytes = 500;
  changeAt(node.runtime, 'removeImage', 1, () => (node.runtime.notReady = 'Down'));
  expect(await node.pass()).toMatchObject({
    ...{ result: 'Failed', removed: 1, message: 'Status: not ready: Down' },
  });
  expect(node.state.written?.removed).toMatchObject([{ digest: 'sha256:a' }]);
  expect(node.recorder.events).toEqual([]);
});

test.each([-3_600_000, 3_600_000])('a pass removes nothing after the clock was set by %d ms', async (ms) => {
  node.clock.stepWall(ms);
  expect(await node.pass()).toMatchObject({ result: 'Unknown', removed: 0, message: 'ClockUnsure' });
  expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
});

test.each([2, -2])(
  'a hold lasts as long as without a jump of the clock by %d h while the images are listed',
  async (hours) => {
    await node.pass();
    const began = node.state.written?.inForce?.since.getTime() ?? Number.NaN;
    changeAt(node.runtime, 'listContainers', 1, () => node.clock.stepWall(hours * 3_600_000));
    await node.pass();
    await node.pass();
    expect(node.state.written?.inForce?.since.getTime()).toBe(began + hours * 3_600_000);
  },
);

test('no image becomes older by a jump of the clock before the first listing', async () => {
  await node.pass();
  const oldest = (): number =>
    Math.min(...[...(node.state.written?.images.values() ?? [])].map((one) => one.firstDetectedMs));
  const before = oldest();
  node.restart();
  changeAt(node.runtime, 'listContainers', 1, () => node.clock.stepWall(3_600_000));
  await node.pass();
  expect(oldest()).toBe(before + 3_600_000);
});

describe('uses of images that a pass sees only in the runtime', () => {
  const day = 24 * 3_600_000;
  beforeEach(() => {
    node.otherBytes = -5_000;
    node.governance = governed({ maximumAgeMs: 14 * day });
    node.runtime.statuses.set('job', { mountedImages: ['sha256:a'] });
  });

  test.each(['Running', 'Exited'] as const)(
    'an image volume of a %s container is in use, whatever its pod is, and ages from then on',
    async (state) => {
      let removed = 0;
      for (let passed = 0; passed < 20; passed++) {
        node.runtime.containers = [container('job', { state, imageId: 'sha256:b' })];
        node.pods = [nodePod('pod', ['docker.io/library/a:latest'], { phase: 'Running' })];
        removed += (await node.pass()).removed;
        expect(node.state.written?.images.get('sha256:a')?.lastUsedMs).toBe(node.clock.now().getTime());
        node.runtime.containers = [];
        node.pods = [nodePod('pod', [], { phase: 'Succeeded' })];
        removed += await node.days(1);
      }
      expect(removed).toBe(7);
      expect(node.left).toBe('a b');
      expect(node.runtime.calls.filter((call) => call === 'containerStatus job')).toHaveLength(20);
      expect(await node.days(14)).toBe(2);
    },
  );

  test('no image ages while the containers cannot be listed', async () => {
    node.runtime.containers = [container('a')];
    await node.pass();
    node.runtime.fail('listContainers', { times: 15 });
    for (let failed = 0; failed < 15; failed++) {
      node.clock.advance(day);
      expect(await node.pass()).toMatchObject({ result: 'Failed' });
    }
    node.runtime.containers = [];
    expect(await node.pass()).toMatchObject({ result: 'Idle', removed: 0 });
  });
});

describe('a removal that fails', () => {
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

  test('by its deadline, and is repeated, is recorded once', async () => {
    const late = { target: 'sha256:a', error: new RuntimeError('removing image: deadline', 'deadline') };
    node.runtime.fail('removeImage', late);
    await node.pass();
    node.governance = governed({ maximumAgeMs: 1 });
    await node.pass();
    await node.pass();
    expect(node.lastRemoved.filter(({ id }) => id === 'sha256:a')).toHaveLength(1);
  });

  test('also if the runtime reports success and still has the image, as CRI-O in a read-only store', async () => {
    const [first] = node.runtime.images;
    changeAt(node.runtime, 'imageStatus', 1, () => node.runtime.add(first ?? image('a')));
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1, errors: 1 });
    expect(node.left).toBe('c d e f g h i a');
  });
});

describe('while the caches are stale', () => {
  test('a pod that only the API server has protects its image, and the pass removes the next image', async () => {
    node.live = { pods: [nodePod('new', ['a'])] };
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
    expect(node.left).toBe('a c d e f g h i');
    expect(await node.metric('dustpan_skipped_objects_total', { reason: 'BoundPod' })).toBe(1);
  });

  test('a pod that only the cache has protects its image as well', async () => {
    changeAt(node.runtime, 'listImages', 2, () => {
      node.pods = [nodePod('old', ['a'])];
    });
    node.live = { pods: [] };
    await node.pass();
    expect(node.left).toBe('a c d e f g h i');
  });
});

describe('a clock that differs from the API server’s', () => {
  test.each([61_000, -61_000])('by %d ms keeps images that are only too old', async (clockSkewMs) => {
    node.otherBytes = -5_000;
    node.governance = governed({ maximumAgeMs: 1 });
    node.live = { clockSkewMs };
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Unknown', removed: 0 },
      message: `the clock of this node is 61 s ${clockSkewMs > 0 ? 'ahead of' : 'behind'} the API server's`,
    });
    expect(await node.metric('dustpan_skipped_objects_total', { reason: 'ClockUnsure' })).toBe(9);
  });
});
