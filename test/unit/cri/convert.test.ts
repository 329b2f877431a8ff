import { expect, test } from 'vitest';
import {
  assertReady,
  NotReady,
  toContainer,
  toFileSystems,
  toImage,
  toSandbox,
  toSandboxImage,
  toStats,
} from '../../../src/cri/convert.ts';
import { describeFailure } from '../../../src/cri/failure.ts';
import * as wire from '../../../src/cri/gen/cri.ts';

test('a runtime whose status has no condition RuntimeReady is not ready', () => {
  const status = { conditions: [{ type: 'NetworkReady', status: true }] };
  for (const response of [{ status }, {}])
    expect(() => assertReady(wire.StatusResponse.fromPartial(response))).toThrow(
      new NotReady('its status has no condition RuntimeReady'),
    );
});

test.each(['{"sandboxImage":""}', '{"sandboxImage":3}', 'not JSON'])(
  'a runtime whose configuration is %s does not name its sandbox image',
  (config) => {
    expect(toSandboxImage(wire.StatusResponse.fromPartial({ info: { config } }))).toBeUndefined();
  },
);

test('<none>, which Docker lists in place of a missing tag or digest, is no name', () => {
  const repoTags = ['<none>:<none>', 'app:<none>', 'app:1'];
  const repoDigests = ['<none>@<none>', 'app@<none>', 'app@sha256:1'];
  const image = toImage(wire.Image.fromPartial({ id: 'a', repoTags, repoDigests }));
  expect(image).toMatchObject({ tags: ['app:1'], digests: ['app@sha256:1'] });
});

test('statistics without values are unknown; those without a container are left out', () => {
  expect(toStats(wire.ContainerStats.fromPartial({ attributes: { id: 'a' } }))).toEqual([
    { id: 'a', labels: {}, writableLayerBytes: undefined, writableLayerInodes: undefined },
  ]);
  expect(toStats(wire.ContainerStats.fromPartial({ writableLayer: { usedBytes: { value: 1n } } }))).toEqual(
    [],
  );
});

test.each([
  ['/var/lib/containers/storage/overlay-images', 0],
  ['/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs', 4096],
])('the usage of %s counts as %d: CRI-O measures no layers', (mountpoint, expected) => {
  const measured = { fsId: { mountpoint }, usedBytes: { value: 4096n }, inodesUsed: { value: 4096n } };
  const info = wire.ImageFsInfoResponse.fromPartial({ imageFilesystems: [measured] });
  expect(toFileSystems(info).images).toEqual([{ mountpoint, usedBytes: expected, inodesUsed: expected }]);
});

test('only labels and annotations that are read are kept, among them the grace periods of a stop', () => {
  const labels = { 'io.kubernetes.pod.name': 'web', 'io.kubernetes.pod.uid': 'u' };
  const annotations = {
    'io.kubernetes.pod.deletionGracePeriod': '5',
    'io.kubernetes.pod.terminationGracePeriod': '30',
  };
  const others = { app: 'x'.repeat(250_000), 'io.kubernetes.pod.other': 'x' };
  const object = { labels: { ...labels, ...others }, annotations: { ...annotations, ...others } };
  for (const read of [
    toContainer(wire.Container.fromPartial(object)),
    toSandbox(wire.PodSandbox.fromPartial(object)),
  ])
    expect([read.labels, read.annotations]).toEqual([labels, annotations]);
});

test('a socket that may not be opened is denied', () => {
  const call = { method: 'ListImages', socket: '/run/c.sock', deadlineMs: 120_000 };
  expect(describeFailure(new Error('no connection'), call, 'permission denied')).toMatchObject({
    failure: 'denied',
    message: "ListImages: the container runtime's socket /run/c.sock cannot be opened: permission denied",
  });
});
