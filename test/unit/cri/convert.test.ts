import { describe, expect, test } from 'vitest';
import {
  assertReady,
  NotReady,
  toContainer,
  toContainerStatus,
  toFileSystems,
  toImage,
  toLayers,
  toSandbox,
  toSandboxImage,
  toStats,
} from '../../../src/cri/convert.ts';
import { isCut } from '../../../src/runtime/bounds.ts';
import * as wire from '../../../src/cri/gen/cri.ts';

describe('a runtime', () => {
  const response = (...conditions: Partial<wire.RuntimeCondition>[]): wire.StatusResponse =>
    wire.StatusResponse.fromPartial({ status: { conditions } });
  const networkDown = { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady' };

  test('is ready by its condition RuntimeReady alone', () => {
    expect(() => {
      assertReady(response(networkDown, { type: 'RuntimeReady', status: true }));
    }).not.toThrow();
  });

  const notNamed = 'its status has no condition RuntimeReady';
  const reason = { type: 'RuntimeReady', reason: 'Starting' };
  test.each([
    ['its condition is false, with a message', response({ ...reason, message: 'late' }), 'Starting: late'],
    ['its condition is false, without a message', response(reason), 'Starting'],
    ['it has no such condition', response({ type: 'NetworkReady', status: true }), notNamed],
    ['it has no status', wire.StatusResponse.fromPartial({}), notNamed],
  ])('is not ready when %s', (_name, status, message) => {
    expect(() => {
      assertReady(status);
    }).toThrow(new NotReady(message));
  });

  test.each([
    { config: '{"sandboxImage":"registry.k8s.io/pause:3.10"}', image: 'registry.k8s.io/pause:3.10' },
    { config: '{"enableSelinux":false}', image: undefined },
    { config: '{"sandboxImage":""}', image: undefined },
    { config: '{"sandboxImage":3}', image: undefined },
    { config: 'not JSON', image: undefined },
    { config: 'null', image: undefined },
  ])('whose configuration is $config makes sandboxes from $image', ({ config, image }) => {
    expect(toSandboxImage(wire.StatusResponse.fromPartial({ info: { config } }))).toBe(image);
  });
});

test('<none>, which Docker lists in place of a missing tag or digest, is no name', () => {
  const repoTags = ['<none>:<none>', 'app:<none>', 'app:1'];
  const repoDigests = ['<none>@<none>', 'app@<none>', 'app@sha256:1'];
  const image = toImage(wire.Image.fromPartial({ id: 'a', repoTags, repoDigests }));
  expect(image).toMatchObject({ tags: ['app:1'], digests: ['app@sha256:1'] });
});

describe('empty messages', () => {
  test('an image has no names and the default handler', () => {
    const expected = { tags: [], digests: [], sizeBytes: 0, pinned: false, runtimeHandler: '' };
    expect(toImage(wire.Image.fromPartial({ id: 'a' }))).toEqual({ id: 'a', ...expected });
  });

  test('a container and a sandbox have no name', () => {
    const container = { name: '', attempt: 0, createdAtNs: 0n, labels: {} };
    expect(toContainer(wire.Container.fromPartial({ id: 'a' }))).toMatchObject(container);
    const sandbox = { podName: '', podNamespace: '', podUid: '', state: 'Ready' };
    expect(toSandbox(wire.PodSandbox.fromPartial({ id: 'a' }))).toMatchObject(sandbox);
  });

  test('statistics without values are unknown; those without a container are left out', () => {
    expect(toStats(wire.ContainerStats.fromPartial({ attributes: { id: 'a' } }))).toEqual([
      { id: 'a', labels: {}, writableLayerBytes: undefined, writableLayerInodes: undefined },
    ]);
    const anonymous = { writableLayer: { usedBytes: { value: 1n } } };
    expect(toStats(wire.ContainerStats.fromPartial(anonymous))).toEqual([]);
  });

  test('a file system without values counts as empty', () => {
    expect(toFileSystems(wire.ImageFsInfoResponse.fromPartial({ imageFilesystems: [{}] }))).toEqual({
      images: [{ mountpoint: '', usedBytes: 0, inodesUsed: 0 }],
      containers: [],
    });
  });
});

test.each([
  ['/var/lib/containers/storage/overlay-images', 0],
  ['/mnt/split/overlay-containers', 0],
  ['/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs', 4096],
  ['/data/docker-images', 4096],
])('the usage of %s counts as %d: CRI-O measures no layers', (mountpoint, expected) => {
  const measured = { fsId: { mountpoint }, usedBytes: { value: 4096n }, inodesUsed: { value: 4096n } };
  const info = wire.ImageFsInfoResponse.fromPartial({ imageFilesystems: [measured] });
  expect(toFileSystems(info).images).toEqual([{ mountpoint, usedBytes: expected, inodesUsed: expected }]);
});

describe('labels and annotations', () => {
  const labels = {
    'io.kubernetes.container.name': 'main',
    'io.kubernetes.pod.name': 'web',
    'io.kubernetes.pod.namespace': 'shop',
    'io.kubernetes.pod.uid': 'u',
  };
  const annotations = {
    'kubernetes.io/config.source': 'api',
    'io.kubernetes.pod.deletionGracePeriod': '5',
    'io.kubernetes.pod.terminationGracePeriod': '30',
  };
  const others = { app: 'x'.repeat(250_000), 'io.kubernetes.pod.other': 'x', constructor: 'x' };
  const object = { labels: { ...labels, ...others }, annotations: { ...annotations, ...others } };

  test.each([
    { kind: 'container', read: toContainer(wire.Container.fromPartial(object)) },
    { kind: 'sandbox', read: toSandbox(wire.PodSandbox.fromPartial(object)) },
  ])('of a $kind are kept when they are read, and no others', ({ read }) => {
    expect(read).toMatchObject({ labels, annotations });
    expect(Object.keys(read.labels)).toEqual(Object.keys(labels));
    expect(Object.keys(read.annotations).toSorted()).toEqual(Object.keys(annotations).toSorted());
  });

  test('that are read are kept up to a bound', () => {
    const long = { 'io.kubernetes.pod.uid': 'x'.repeat(250_000) };
    const sandbox = toSandbox(wire.PodSandbox.fromPartial({ labels: long }));
    expect(sandbox.labels['io.kubernetes.pod.uid']).toSatisfy(isCut);
    const [stats] = toStats(wire.ContainerStats.fromPartial({ attributes: { id: 'a', labels: long } }));
    expect(JSON.stringify(stats).length).toBeLessThan(3_000);
  });
});

test('reads only mounts of images', () => {
  const mounts = [{}, { image: { image: 'sha256:a' } }, { image: { image: '' } }];
  expect(toContainerStatus(wire.ContainerStatus.fromPartial({ mounts })).mountedImages).toEqual(['sha256:a']);
});

describe('layers of an image', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const info = (text: string) => toLayers(wire.ImageStatusResponse.fromPartial({ info: { info: text } }));
  const config = (layers: unknown): string => JSON.stringify({ imageSpec: { rootfs: { diff_ids: layers } } });

  test.each([
    { name: 'no info', layers: toLayers(wire.ImageStatusResponse.fromPartial({})) },
    { name: 'not JSON', layers: info('json: unsupported type') },
    { name: 'another form', layers: info('[]') },
    { name: 'no configuration', layers: info('{"imageSpec":null}') },
    { name: 'not a list', layers: info(config('sha256')) },
    { name: 'not only digests', layers: info(config([digest, 7])) },
    { name: 'an invalid digest', layers: info(config(['latest'])) },
  ])('are unknown: $name', ({ layers }) => {
    expect(layers).toBeUndefined();
  });
});
