import { expect, test } from 'vitest';
import {
  containersJson,
  imagesJson,
  infoJson,
  sandboxesJson,
} from '../../../../src/commands/snapshot/crictl.ts';
import { containersOf, imagesOf, sandboxesOf, sandboxImageOf } from '../../../../src/snapshot/crictl.ts';
import { Field } from '../../../../src/snapshot/field.ts';
import { container, image, sandbox } from '../../../fakes/runtime.ts';

const secret = 'hunter2';
const field = (value: object): Field => new Field('x.json', '', JSON.parse(JSON.stringify(value)));

test('images survive writing and reading, with their sizes as strings', () => {
  const images = [
    image('a', { sizeBytes: 2 ** 52, digests: ['docker.io/library/a@sha256:0'] }),
    image('b', { pinned: true, runtimeHandler: 'kata', tags: [] }),
  ];
  const written = imagesJson(images);
  expect(written).toMatchObject({
    images: [{ size: '4503599627370496', repoTags: ['docker.io/library/a:latest'] }, {}],
  });
  expect(imagesOf(field(written))).toEqual(images);
});

test.each(['Created', 'Running', 'Exited', 'Unknown'] as const)(
  'a container in state %s survives writing and reading',
  (state) => {
    const one = container('c', {
      ...{ state, attempt: 3, createdAtNs: 1_768_460_400_123_456_789n, imageId: '' },
      annotations: {
        'io.kubernetes.container.restartCount': '3',
        'io.kubernetes.pod.terminationGracePeriod': '30',
      },
    });
    const written = containersJson([one], new Map());
    expect(written).toMatchObject({
      containers: [{ createdAt: '1768460400123456789', state: `CONTAINER_${state.toUpperCase()}` }],
    });
    expect(containersOf(field(written))).toEqual([one]);
  },
);

test.each(['registry.k8s.io/pause:3.10', undefined])(
  'the sandbox image %s survives writing and reading',
  (name) => {
    expect(sandboxImageOf(field(infoJson(name)))).toBe(name);
  },
);

test('the sandbox image is not known where crictl prints no configuration', () => {
  expect(sandboxImageOf(field({ status: { conditions: [] } }))).toBeUndefined();
});

test.each(['Ready', 'NotReady'] as const)('a sandbox in state %s survives writing and reading', (state) => {
  const one = sandbox('p', { state, attempt: 1, runtimeHandler: 'runc' });
  const written = sandboxesJson([one]);
  expect(written).toMatchObject({ items: [{ state: `SANDBOX_${state.toUpperCase()}` }] });
  expect(sandboxesOf(field(written))).toEqual([one]);
});

test('does not write annotations and labels of users, nor the commands of hooks', () => {
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': secret,
    'example.com/token': secret,
    'io.kubernetes.container.preStopHandler': `{"exec":{"command":["${secret}"]}}`,
    'io.kubernetes.container.restartCount': secret.repeat(100),
    'kubernetes.io/config.source': 'api',
  };
  const labels = { 'example.com/pass': secret };
  const text = JSON.stringify([
    containersJson([container('c', { annotations, labels })], new Map()),
    sandboxesJson([sandbox('p', { annotations, labels })]),
  ]);
  expect(text).not.toContain(secret);
  expect(text).toContain('"kubernetes.io/config.source":"api"');
});

test('writes the mounted images of the containers that were queried', () => {
  const written = containersJson([container('a'), container('b')], new Map([['b', ['sha256:m']]]));
  const [a, b] = (written as { containers: object[] }).containers;
  expect(a).not.toHaveProperty('mountedImages');
  expect(b).toMatchObject({ mountedImages: ['sha256:m'] });
});
