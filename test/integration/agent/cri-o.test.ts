import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import type { SimImage } from '../../sandbox/cri/facts.ts';
import type { ImageSpec } from '../../sandbox/cri/image-store.ts';
import { until } from '../built.ts';
import { AgentEnvironment, nodesPolicy, type RunningAgent } from './environment.ts';

// A runtime that behaves like CRI-O: docs/adr/0078 lists the behaviours.
const repository = 'registry.example.com';

/** Removes each image that has not been used for a second. */
function removingUnused(keep: readonly string[]): ReturnType<typeof nodesPolicy> {
  const ages = { minimumAge: '0s', maximumAge: '1s' };
  return nodesPolicy('Enforce', {
    imageGC: { highThresholdPercent: 100, lowThresholdPercent: 80, ...ages, keep },
  });
}

/** The names of the images that are left, without registry and tag. */
const left = ({ cri }: AgentEnvironment): readonly string[] =>
  cri.runtime.images.all
    .flatMap(({ tags, digests }) => (tags.length > 0 ? tags : digests))
    .map((name) => name.replace(`${repository}/`, '').replace(/[:@].*/, ''))
    .toSorted();

/** Waits until two more passes over images have ended, and returns the removal requests so far. */
async function requestsAfterPasses(
  agent: RunningAgent,
  { cri }: AgentEnvironment,
): Promise<readonly string[]> {
  const enough = agent.timesLogged('planned pass') + 2;
  await until('passes were made', () => agent.timesLogged('planned pass') >= enough);
  return cri.calls
    .filter(({ method }) => method === 'RemoveImage')
    .map(({ request }) => (request as { readonly image: { readonly image: string } }).image.image);
}

test('keeps images in use, mounted, pinned, of the sandboxes and on the keep list, by their names and digests; removes an artifact by its name', async (context) => {
  await using bed = await AgentEnvironment.open(context, {}, { flavour: 'cri-o', streams: true });
  const { runtime } = bed.cri;
  const image = (name: string, spec: ImageSpec = {}): SimImage =>
    runtime.addImage({ tags: [`${repository}/${name}:v1`], ...spec });
  const used = image('used');
  image('finished');
  image('mounted');
  image('waiting');
  image('pinned', { pinned: true });
  image('kept');
  const [keptDigest = ''] = image('kept-digest').digests;
  runtime.addImage({ tags: ['registry.k8s.io/pause:3.10.1'] });
  const unused = image('unused');
  const model = image('model', { isArtifact: true });
  image('mounted-model', { isArtifact: true });
  const { sandbox } = runtime.runPod({
    name: 'web',
    containers: [
      { name: 'main', image: used.digests[0] ?? '' },
      { name: 'once', image: `${repository}/finished:v1`, state: 'Exited' },
    ],
  });
  bed.apiPod('web', { uid: sandbox.uid, image: used.digests[0] ?? '', phase: 'Running' });
  // Its pod is unknown to the API: only the status of the container has the mounted images.
  const mountedImages = ['mounted', 'mounted-model'].map((name) => `${repository}/${name}:v1`);
  runtime.runPod({ name: 'stray', containers: [{ name: 'main', image: used.id, mountedImages }] });
  bed.apiPod('soon', { uid: 'uid-soon', image: `${repository}/waiting:v1`, phase: 'Pending' });
  bed.api.store.apply(removingUnused([`${repository}/kept:*`, keptDigest]));
  const agent = bed.startAgent(['--v=4']);
  await until('the unused ones are removed', () => !/unused|,model/.test(left(bed).join()));
  const removed = [unused.id, ...model.tags].toSorted();
  expect((await requestsAfterPasses(agent, bed)).toSorted()).toEqual(removed);
  expect(unused.id).toMatch(/^[0-9a-f]{64}$/);
  const kept = ['finished', 'kept', 'kept-digest', 'mounted', 'mounted-model', 'pinned'];
  expect(left(bed)).toEqual([...kept, 'registry.k8s.io/pause', 'used', 'waiting']);
  expect(await agent.sample('dustpan_image_garbage_collected_total{reason="age"}')).toBe(2);
  await until('reported', () => bed.condition('Ready') === 'True AsPlanned');
  expect(bed.report()).toMatchObject({
    images: { inUse: { count: 5 }, pinned: { count: 2 }, kept: { count: 2 } },
  });
});

test('an image that CRI-O refuses to remove does not hold up the others', async (context) => {
  await using bed = await AgentEnvironment.open(context, {}, { flavour: 'cri-o', streams: true });
  const [refused] = ['refused', 'other'].map((name) =>
    bed.cri.runtime.addImage({ tags: [`${repository}/${name}:v1`] }),
  );
  // A container that is being created uses the image, and is not listed yet.
  bed.cri.faults.next(
    ({ method, request }) =>
      method === 'RemoveImage' && JSON.stringify(request).includes(String(refused?.id)),
    { kind: 'fail', code: status.UNKNOWN, message: 'delete image: image is in use by a container' },
  );
  bed.api.store.apply(removingUnused([]));
  const agent = bed.startAgent();
  await until('the other is removed', () => left(bed).join() === 'refused');
  await until('the refusal is logged', () => agent.stdout.includes('image is in use by a container'));
});
