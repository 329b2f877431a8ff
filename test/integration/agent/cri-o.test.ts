import { expect, test as sequential, type TestContext } from 'vitest';
import type { SimImage } from '../../sandbox/cri/facts.ts';
import type { ImageSpec } from '../../sandbox/cri/image-store.ts';
import { until } from '../built.ts';
import { AgentEnvironment, nodesPolicy, type RunningAgent } from './environment.ts';

// Each on a node of its own, with a runtime that behaves like CRI-O: docs/compatibility.md lists the behaviours.
const test = sequential.concurrent;

const repository = 'registry.example.com';

interface CrioNode extends AsyncDisposable {
  readonly bed: AgentEnvironment;
  readonly image: (name: string, spec?: ImageSpec) => SimImage;
  readonly artifact: (name: string) => SimImage;
  /** Starts an agent that removes every unused image after a second. */
  readonly start: (keep?: readonly string[]) => RunningAgent;
  /** The names of the images that are left, without registry and tag. */
  readonly left: () => readonly string[];
}

async function crioNode(context: Pick<TestContext, 'onTestFailed'>): Promise<CrioNode> {
  const bed = await AgentEnvironment.open(context, {}, { flavour: 'cri-o', streams: true });
  const { runtime } = bed.cri;
  const image = (name: string, spec: ImageSpec = {}): SimImage =>
    runtime.addImage({ tags: [`${repository}/${name}:v1`], ...spec });
  return {
    bed,
    image,
    artifact: (name) => image(name, { isArtifact: true }),
    start: (keep = []) => {
      const ages = { minimumAge: '0s', maximumAge: '1s' };
      const imageGC = { highThresholdPercent: 100, lowThresholdPercent: 80, ...ages, keep };
      bed.api.store.apply(nodesPolicy('Enforce', { imageGC }));
      return bed.startAgent(['--v=4']);
    },
    left: () =>
      runtime.images.all
        .flatMap(({ tags, digests }) => (tags.length > 0 ? tags : digests))
        .map((name) => name.replace(`${repository}/`, '').replace(/[:@].*/, ''))
        .toSorted(),
    [Symbol.asyncDispose]: () => bed.stop(),
  };
}

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

test('keeps images in use, mounted, pinned, of the sandboxes and on the keep list, by their names and digests', async (context) => {
  await using node = await crioNode(context);
  const { bed, image } = node;
  const used = image('used');
  image('finished');
  image('mounted');
  image('waiting');
  image('pinned', { pinned: true });
  image('kept');
  const [keptDigest = ''] = image('kept-digest').digests;
  bed.cri.runtime.addImage({ tags: ['registry.k8s.io/pause:3.10.1'] });
  const unused = image('unused');
  const { sandbox } = bed.cri.runtime.runPod({
    name: 'web',
    containers: [
      { name: 'main', image: used.digests[0] ?? '' },
      { name: 'once', image: `${repository}/finished:v1`, state: 'Exited' },
    ],
  });
  bed.apiPod('web', { uid: sandbox.uid, image: used.digests[0] ?? '', phase: 'Running' });
  // Its pod is unknown to the API: only the status of the container has the mounted image.
  bed.cri.runtime.runPod({
    name: 'stray',
    containers: [{ name: 'main', image: used.id, mountedImages: [`${repository}/mounted:v1`] }],
  });
  bed.apiPod('soon', { uid: 'uid-soon', image: `${repository}/waiting:v1`, phase: 'Pending' });
  const agent = node.start([`${repository}/kept:*`, keptDigest]);
  await until('the unused image is removed', () => !node.left().includes('unused'));
  expect(await requestsAfterPasses(agent, bed)).toEqual([unused.id]);
  expect(unused.id).toMatch(/^[0-9a-f]{64}$/);
  const kept = ['finished', 'kept', 'kept-digest', 'mounted', 'pinned', 'registry.k8s.io/pause'];
  expect(node.left()).toEqual([...kept, 'used', 'waiting']);
  await until('reported', () => bed.condition('Ready') === 'True AsPlanned');
  expect(bed.report()).toMatchObject({
    images: { inUse: { count: 4 }, pinned: { count: 2 }, kept: { count: 2 } },
  });
});

test('an artifact is removed by its name and counted once, unless a container has mounted it', async (context) => {
  await using node = await crioNode(context);
  const { bed } = node;
  const model = node.artifact('model');
  node.artifact('mounted');
  bed.cri.runtime.runPod({
    name: 'stray',
    containers: [
      { name: 'main', image: `${repository}/app:v1`, mountedImages: [`${repository}/mounted:v1`] },
    ],
  });
  const agent = node.start();
  await until('the unused artifact is removed', () => !node.left().includes('model'));
  expect(await requestsAfterPasses(agent, bed)).toEqual(model.tags);
  expect(node.left()).toEqual(['app', 'mounted']);
  expect(await agent.sample('dustpan_image_garbage_collected_total{reason="age"}')).toBe(1);
});
