import { expect, test } from 'vitest';
import { toContainer, toSandbox } from '../../../src/cri/convert.ts';
import { Container, PodSandbox } from '../../../src/cri/gen/cri.ts';
import {
  containersJson,
  containersOf,
  imagesJson,
  imagesOf,
  infoJson,
  sandboxesJson,
  sandboxesOf,
  sandboxImageOf,
} from '../../../src/snapshot/crictl.ts';
import { Field } from '../../../src/snapshot/field.ts';
import { container, image, sandbox } from '../../fakes/runtime.ts';

const secret = 'hunter2';
const field = (value: object): Field => new Field('x.json', '', JSON.parse(JSON.stringify(value)));

test('images, containers and sandboxes survive writing and reading, in the form of crictl', () => {
  const images = [
    image('a', { sizeBytes: 2 ** 52, digests: ['docker.io/library/a@sha256:0'] }),
    image('b', { pinned: true, runtimeHandler: 'kata', tags: [] }),
  ];
  const writtenImages = imagesJson(images);
  expect(writtenImages).toMatchObject({
    images: [{ size: '4503599627370496', repoTags: ['docker.io/library/a:latest'] }, {}],
  });
  expect(imagesOf(field(writtenImages))).toEqual(images);

  const ends = { 'io.kubernetes.pod.terminationGracePeriod': '30' };
  const containers = (['Created', 'Running', 'Exited', 'Unknown'] as const).map((state) => {
    const over = { state, attempt: 3, createdAtNs: 1_768_460_400_123_456_789n, imageId: '' };
    return container(state, { ...over, annotations: ends });
  });
  const writtenContainers = containersJson(containers, new Map());
  expect(writtenContainers).toHaveProperty('containers.0.state', 'CONTAINER_CREATED');
  expect(writtenContainers).toHaveProperty('containers.0.createdAt', '1768460400123456789');
  expect(containersOf(field(writtenContainers))).toEqual(containers);

  const sandboxes = (['Ready', 'NotReady'] as const).map((state) => sandbox(state, { state, attempt: 1 }));
  const writtenSandboxes = sandboxesJson(sandboxes);
  expect(writtenSandboxes).toMatchObject({ items: [{ state: 'SANDBOX_READY' }, {}] });
  expect(sandboxesOf(field(writtenSandboxes))).toEqual(sandboxes);
});

test('the sandbox image survives writing and reading; it is not known where crictl prints none', () => {
  expect(sandboxImageOf(field(infoJson('registry.k8s.io/pause:3.10')))).toBe('registry.k8s.io/pause:3.10');
  expect(sandboxImageOf(field(infoJson(undefined)))).toBeUndefined();
  expect(sandboxImageOf(field({ status: { conditions: [] } }))).toBeUndefined();
});

test('does not write annotations and labels of users, nor the commands of hooks', () => {
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': secret,
    'example.com/token': secret,
    'io.kubernetes.container.preStopHandler': `{"exec":{"command":["${secret}"]}}`,
    'kubernetes.io/config.source': 'api',
  };
  const labels = { 'example.com/pass': secret };
  const text = JSON.stringify([
    containersJson([toContainer(Container.fromPartial({ annotations, labels }))], new Map()),
    sandboxesJson([toSandbox(PodSandbox.fromPartial({ annotations, labels }))]),
  ]);
  expect(text).not.toContain(secret);
  expect(text).toContain('"kubernetes.io/config.source":"api"');
});
