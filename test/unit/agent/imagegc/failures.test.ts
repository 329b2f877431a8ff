import { beforeEach, describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../../src/cri/runtime.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { nodePod } from './builders.ts';
import { governed, Node } from './environment.ts';

let node: Node;
beforeEach(() => {
  node = new Node();
});

const notes = (): string[] => node.recorder.events.map(({ reason, note }) => `${reason}: ${note}`);

test('a disk that is full of other things is one Event, in the kubelet’s words and with the disk usage, then also a failure', async () => {
  node.runtime.add(
    image('a', { sizeBytes: 500 }),
    image('b', { sizeBytes: 1000 }),
    image('c', { sizeBytes: 100, pinned: true }),
    container('main', { imageId: 'sha256:b' }),
  );
  node.runtime.stats = [{ id: 'main', labels: {}, writableLayerBytes: 2048, writableLayerInodes: 1 }];
  node.otherBytes = 6500;
  await node.observe();
  expect(await node.pass()).toMatchObject({ result: 'Short', removed: 1, freedBytes: 1000 });
  expect(notes()).toEqual([
    "FreeDiskSpaceFailed: Insufficient free disk space on the node's image filesystem (97% of 9.8 KiB used). Failed to free sufficient space by deleting unused images (freed 1000 B). Wanted 1.7 KiB. Used: 8.50 KiB of 9.77 KiB: images InUse 1000 B (1), images Pinned 100 B (1), writable layers 2.00 KiB, logs 70 B, rest 5.35 KiB.",
  ]);
  await node.pass();
  expect(node.recorder.reasons.slice(1)).toEqual([
    'FreeDiskSpaceFailed Node/node-1',
    'ImageGCFailed Node/node-1',
  ]);
});

describe('the state file', () => {
  beforeEach(() => node.fill());

  test('makes no image old by a long time without an agent, in which uses are unknown', async () => {
    const day = 24 * 3_600_000;
    node.otherBytes = -5_000;
    node.governance = governed({ maximumAgeMs: 30 * day });
    node.runtime.containers = [container('a')];
    await node.observe();
    node.clock.advance(40 * day);
    node.runtime.containers = [];
    node.restart();
    expect(await node.pass()).toMatchObject({ result: 'Idle', removed: 0 });
    expect(await node.days(31)).toBe(9);
  });

  test('that is unusable makes every image new', async () => {
    await node.observe();
    node.governance = governed({ minimumAgeMs: 120_000 });
    node.state.reading = { kind: 'startOver', reason: 'version: is 2, this dustpan reads 1' };
    node.restart();
    expect(await node.pass()).toMatchObject({ result: 'Short', removed: 0 });
    expect(node.log.lines).toContainEqual({
      ...{ level: 'warn', logger: '', message: 'state file cannot be used, starting over' },
      fields: { reason: 'version: is 2, this dustpan reads 1' },
    });
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
  });

  test('that cannot be written does not stop image GC', async () => {
    node.state.error = new Error('writing state file /x (ENOSPC)');
    await node.observe();
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Succeeded', removed: 1, message: 'writing state file /x (ENOSPC)' },
    });
    expect(await node.metric('dustpan_unit_errors_total', { stage: 'state' })).toBe(2);
  });

  test('doubles the minimum age of an image that was pulled again, over a restart', async () => {
    node.governance = governed({ minimumAgeMs: 290_000 });
    for (let i = 0; i < 2; i += 1) await node.pass();
    expect(node.left).not.toContain('a');
    node.runtime.add(image('a', { sizeBytes: 500 }));
    node.runtime.containers = 'b c d e f g h i'.split(' ').map((name) => container(name));
    node.restart();
    for (let i = 0; i < 2; i += 1) await node.pass();
    expect(node.left).toContain('a');
    await node.pass();
    expect(node.left).not.toContain('a');
  });
});

describe('a pass with bad input', () => {
  beforeEach(async () => {
    node.fill();
    await node.observe();
  });

  test.each(['sandboxImage', 'listImages', 'listContainers'] as const)(
    'fails and removes nothing when %s fails, the second time with an Event',
    async (call) => {
      const message = 'listing: unknown runtime handler "x"';
      await node.pass();
      const { lastRemoved } = node;
      node.runtime.calls.length = 0;
      node.runtime.fail(call, { error: new RuntimeError(message, 'other'), times: 2 });
      expect(await node.pass()).toMatchObject({ result: 'Failed', removed: 0, message });
      expect(node.inventories.at(-1)).toBeUndefined();
      expect(node.lastRemoved).toEqual(lastRemoved);
      expect(lastRemoved).toHaveLength(1);
      expect(await node.metric('dustpan_unit_errors_total', { stage: 'observe' })).toBe(1);
      expect(await node.metric('dustpan_kept_objects', { reason: 'RuleOff' })).toBe(0);
      expect(node.recorder.events).toEqual([]);
      await node.pass();
      expect(notes()).toEqual([`ImageGCFailed: ${message}`]);
      expect(node.runtime.changes).toEqual([]);
    },
  );
  const broken = 'measuring /var/lib/containerd: EIO';
  const unmeasured = (rule: Parameters<typeof governed>[0]) => (): void => {
    node.diskError = new Error(broken);
    node.governance = governed(rule);
  };
  const noCapacity = 'invalid capacity 0 on image filesystem';
  test.each<[name: string, change: () => unknown, expected: object, notes: readonly string[]]>([
    [
      'fails with an Event when the disk has no capacity',
      () => (node.capacityBytes = 0),
      { result: 'Failed', removed: 0, message: noCapacity },
      [`InvalidDiskCapacity: ${noCapacity}`],
    ],
    [
      'removes images that are too old even if the disk cannot be measured',
      unmeasured({ maximumAgeMs: 1 }),
      { result: 'Failed', removed: 9, freedBytes: 4500, message: broken },
      [],
    ],
  ])('%s', async (_, change, expected, expectedNotes) => {
    change();
    expect(await node.pass()).toMatchObject(expected);
    expect(notes()).toEqual(expectedNotes);
  });

  test.each([
    ['a container whose pod is unknown', [nodePod('p', [])]],
    [
      'a container in a pod that has failed',
      [nodePod('p', []), nodePod('stray', ['a'], { phase: 'Failed' })],
    ],
  ])('keeps an image that %s has mounted', async (_name, pods) => {
    node.runtime.add(
      container('stray', { pod: 'stray', imageId: 'sha256:i' }),
      container('own', { pod: 'p', imageId: 'sha256:i' }),
    );
    node.pods = pods;
    node.runtime.statuses.set('stray', { mountedImages: ['docker.io/library/a:latest'] });
    await node.pass();
    expect(node.left).toContain('a');
  });
});

test('the inventory counts an image in every group it belongs to and names the largest', async () => {
  node.otherBytes = 0;
  node.runtime.add(
    image('a', { sizeBytes: 300, pinned: true }),
    image('b', { sizeBytes: 200 }),
    image('c', { sizeBytes: 100, tags: [] }),
    image('d', { sizeBytes: 50, pinned: true }),
    container('main', { imageId: 'sha256:a' }),
  );
  node.governance = governed({ keep: ['*/a:*'] });
  node.pods = [nodePod('p', ['b'])];
  await node.observe();
  await node.pass();
  expect(node.inventories.at(-1)).toMatchObject({
    total: { count: 4, bytes: 650 },
    inUse: { count: 2, bytes: 500 },
    pinned: { count: 2, bytes: 350 },
    kept: { count: 1, bytes: 300 },
    removable: { count: 1, bytes: 100 },
    collectable: { count: 1, bytes: 100 },
    listed: [
      { id: 'sha256:a', inUse: true, isKept: true },
      { id: 'sha256:b', inUse: true, isKept: false },
      { id: 'sha256:c', inUse: false, isKept: false },
      { id: 'sha256:d', inUse: false, isKept: true },
    ],
    offenders: [
      { kind: 'Image', id: 'sha256:a', name: 'docker.io/library/a:latest', bytes: 300, reason: 'InUse' },
      { kind: 'Image', id: 'sha256:b', bytes: 200, reason: 'BoundPod' },
      { kind: 'Image', id: 'sha256:c', name: undefined, bytes: 100, reason: 'BelowThreshold' },
      { kind: 'Image', id: 'sha256:d', bytes: 50, reason: 'Pinned' },
    ],
  });
});
