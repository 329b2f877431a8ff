// @bed node
import { readdirSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { PlanDocument } from '../../../src/evaluation/plan/document.ts';
import type { ExplanationDocument } from '../../../src/evaluation/why/explain.ts';
import { everySecond, onNode, startAgent } from './agent.ts';
import { applyPolicy, dueInDryRun, metric, runningPods, startQuietNode, untilPhases } from './environment.ts';
import { formOf, host, imageNames, pullAll, type PulledImages } from './pulled-images.ts';
import { crictl } from '../node/crictl.ts';
import { busyboxImage, type BuiltImage, type ImageSpec } from '../node/image.ts';
import { push } from '../node/push.ts';
import { pullFrom } from '../node/registry.ts';
import { RegistryGate } from '../node/registry-gate.ts';
import { isContainerd17 } from '../programs/parts.ts';
import type { Cluster } from '../servers/cluster.ts';
import { runDustpan } from '../servers/command.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import { create, kubectl } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';

const shell = 'busybox:1';
/** containerd 1.7 has no image volumes. */
const mountsImages = !isContainerd17();

let cluster: Cluster;
let agent: DustpanProcess;
/** Images that only the spec of the pod `starting` names, and images that nothing needs. */
let bound: PulledImages;
let unused: PulledImages;
let keep: readonly string[];
/** Names by id of the images that stay to the end: those of sandboxes and of busybox, and those on the keep list. */
let staying: Readonly<Record<string, readonly string[]>>;

/** Removes images that were unused for two seconds, and the dead containers of deleted pods, which use images too. */
const policy = (): object => ({
  imageGC: { highThresholdPercent: 100, lowThresholdPercent: 80, minimumAge: '1s', maximumAge: '2s', keep },
  containerGC: {},
});

interface Pod {
  /** By the name of the container. */
  readonly images: Readonly<Record<string, string>>;
  readonly pullPolicy?: 'Always' | 'Never' | 'IfNotPresent';
  readonly script?: string;
  readonly restartPolicy?: 'Always' | 'Never';
  readonly initContainers?: readonly object[];
  readonly imagePullSecrets?: readonly object[];
  /** An image volume at /image. */
  readonly volume?: object;
}

async function createPod(name: string, pod: Pod): Promise<void> {
  const { images, pullPolicy = 'IfNotPresent', script = 'sleep 3600', volume, ...rest } = pod;
  const containers = Object.entries(images).map(([container, image]) => ({
    ...{ name: container, image, imagePullPolicy: pullPolicy, command: ['sh', '-c', script] },
    volumeMounts: volume ? [{ name: 'image', mountPath: '/image' }] : [],
  }));
  const volumes = volume ? [{ name: 'image', image: volume }] : [];
  await create(cluster, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { terminationGracePeriodSeconds: 1, containers, volumes, ...restOf(rest) },
  });
}

const restOf = ({
  restartPolicy = 'Always',
  initContainers = [],
  imagePullSecrets = [],
}: Partial<Pod>): object => ({
  restartPolicy,
  initContainers,
  imagePullSecrets,
});

const deletePod = (name: string): Promise<string> => kubectl(cluster, ['delete', 'pod', name]);

/** Pushes an image with this text in the file `hello`. */
async function pushImage(ref: string, hello: string, more: Partial<ImageSpec> = {}): Promise<BuiltImage> {
  const files = [{ path: 'hello', data: Buffer.from(hello) }];
  return await push(cluster.registryUrl, { ref, files, ...more });
}

/** The names of the images besides those that stay to the end. */
async function others(): Promise<readonly string[]> {
  const all = await imageNames(cluster);
  expect(all).toMatchObject(staying);
  return Object.entries(all)
    .flatMap(([id, names]) => (id in staying ? [] : names))
    .sort();
}

const namesOf = (images: PulledImages): readonly string[] =>
  Object.values(images).flatMap(({ names }) => names);

/** Polls until these are the images; two more passes remove none of them. */
async function untilOthers(names: readonly string[]): Promise<void> {
  const wanted = [...names].sort();
  await expect.poll(others, eventually).toEqual(wanted);
  if (names.length === 0) return;
  await passesOf(agent, 'imagegc', 2);
  expect(await others()).toEqual(wanted);
}

beforeAll(async () => {
  cluster = await startQuietNode({ parts: ['registry'] });
  await push(cluster.registryUrl, { ref: shell });
  const kept = `${host}/kept`;
  const built = await Promise.all(
    ['tag:1', 'digest:1', 'exact:1'].map((name) => pushImage(`${kept}-${name}`, name)),
  );
  const [, byDigest = '', exact = ''] = built.map(({ digest }) => digest);
  const pulls = [shell, `${kept}-tag:1`, `${kept}-digest@${byDigest}`, `${kept}-exact@${exact}`];
  for (const ref of pulls) await crictl(cluster, 'pull', ref);
  keep = ['busybox:*', `${kept}-tag:*`, `${kept}-digest@*`, `${kept}-exact:1@${exact}`];
  staying = await imageNames(cluster);
  expect(Object.keys(staying)).toHaveLength(5);

  bound = await pullAll(cluster, 'bound');
  unused = await pullAll(cluster, 'unused');
  const references = Object.entries(bound).map(([name, { reference }]) => [name, reference]);
  const { 'short-digest': reference = '', ...images } = Object.fromEntries(references) as Record<
    string,
    string
  >;
  const first = {
    name: 'first',
    image: shell,
    command: ['sh', '-c', 'until [ -e /open ]; do sleep 1; done'],
  };
  await createPod('starting', {
    images: mountsImages ? images : { ...images, unmounted: reference },
    ...{ pullPolicy: 'Never', initContainers: [first] },
    ...(mountsImages && { volume: { reference, pullPolicy: 'Never' } }),
  });
  await waitUntil('the init container', async () => {
    const path = 'jsonpath={.status.initContainerStatuses[0].started}';
    return (await kubectl(cluster, ['get', 'pod', 'starting', '-o', path])) === 'true';
  });
});

test('the runtime lists a pulled image by its tags and its digest, that of the index if there is one', async () => {
  const listed = await imageNames(cluster);
  for (const [form, { id, names }] of [...Object.entries(bound), ...Object.entries(unused)])
    expect(listed[id], form).toEqual(names);
});

async function why(image: string): Promise<readonly object[]> {
  const text = await runDustpan('why', 'image', image, ...onNode(cluster), '-o', 'json');
  return (JSON.parse(text) as ExplanationDocument).explanations;
}

test('plan and why name images as users wrote them: by tag or by digest', async () => {
  await applyPolicy(cluster, 'DryRun', policy());
  agent = await startAgent(cluster, { args: everySecond });
  await expect.poll(() => dueInDryRun(agent, 'imagegc', 'Age'), eventually).toBe(Object.keys(unused).length);

  const plan = await runDustpan('plan', '--kept', ...onNode(cluster), '-o', 'json');
  const { decisions } = JSON.parse(plan) as PlanDocument;
  const images = decisions.filter(({ object }) => object.kind === 'Image');
  const verdicts = (ids: readonly string[]) =>
    images
      .filter(({ object }) => 'id' in object && ids.includes(object.id ?? ''))
      .map(({ object, verdict, reason }) => `${object.name ?? ''} ${verdict} ${reason}`)
      .sort();
  const wanted = (all: PulledImages, verdict: string): readonly string[] =>
    Object.values(all)
      .map(({ names }) => `${names[0] ?? ''} ${verdict}`)
      .sort();
  expect(verdicts(Object.values(bound).map(({ id }) => id))).toEqual(wanted(bound, 'Keep BoundPod'));
  expect(verdicts(Object.values(unused).map(({ id }) => id))).toEqual(wanted(unused, 'Remove Age'));
  expect(verdicts(Object.keys(staying)).filter((one) => one.endsWith('KeepListed'))).toHaveLength(3);

  for (const form of ['both', 'index-by-digest', 'platform', 'short', 'two-tags']) {
    const { id, reference, names } = formOf(bound, form);
    const detail = `Pod default/starting, bound to this node, refers to it as ${reference}.`;
    const object = { kind: 'Image', id, node: cluster.node.name, name: names[0] };
    expect(await why(reference), form).toMatchObject([{ object, verdict: 'Keep', detail }]);
  }
  const { id, reference } = formOf(unused, 'tag-by-digest');
  expect(await why(reference)).toMatchObject([{ verdict: 'Remove', reason: 'Age', object: { id } }]);
});

test('removes unused images however they are named, and keeps those that a starting pod names: it starts without a pull', async () => {
  await applyPolicy(cluster, 'Enforce', policy());
  await untilOthers(namesOf(bound));
  await kubectl(cluster, ['exec', 'starting', '-c', 'first', '--', 'touch', '/open']);
  await untilPhases(cluster, { starting: 'Running' });
  const running = await runningPods(cluster);
  const containers = Object.keys(bound).length - (mountsImages ? 1 : 0);
  expect(running['starting']).toHaveLength(containers);
  await expect
    .poll(
      async () => (await runningPods(cluster))['starting']?.filter((one) => one.endsWith('0 running')),
      eventually,
    )
    .toHaveLength(containers);
  await untilOthers(namesOf(bound));

  await deletePod('starting');
  await untilOthers([]);
});

test('keeps an image whose tag was pushed and pulled anew, until its last container is gone', async () => {
  const ref = `${host}/moved:1`;
  const before = await pushImage(ref, 'before');
  await createPod('before', { images: { main: ref }, pullPolicy: 'Always' });
  await untilPhases(cluster, { before: 'Running' });
  const after = await pushImage(ref, 'after');
  await createPod('after', { images: { main: ref }, pullPolicy: 'Always' });
  await untilPhases(cluster, { before: 'Running', after: 'Running' });
  const digests = [before, after].map(({ digest }) => `${host}/moved@${digest}`) as [string, string];
  await untilOthers([ref, ...digests]);
  expect(await why(digests[0])).toMatchObject([
    { reason: 'InUse', object: { id: before.id, name: digests[0] } },
  ]);
  expect(await why(ref)).toMatchObject([{ reason: 'InUse', object: { id: after.id, name: ref } }]);

  await deletePod('before');
  await untilOthers([ref, digests[1]]);
  await deletePod('after');
  await untilOthers([]);
});

test('an image that was removed while unused is pulled again by a pod with imagePullPolicy Always', async () => {
  const ref = `${host}/again:1`;
  const { digest } = await pushImage(ref, 'again');
  const repulled = 'dustpan_image_repulled_after_gc_total';
  for (const pulledAgain of [0, 1]) {
    await createPod('again', { images: { main: ref }, pullPolicy: 'Always' });
    await untilPhases(cluster, { again: 'Running' });
    await untilOthers([ref, `${host}/again@${digest}`]);
    expect(await metric(agent, repulled)).toBe(pulledAgain);
    await deletePod('again');
    await untilOthers([]);
  }
});

/** The parts of pulls that are not complete: name and size. */
async function partialContent(): Promise<readonly string[]> {
  const { stdout } = await cluster.run('ctr', ['-n', 'k8s.io', 'content', 'active']);
  const [, ...lines] = stdout.trim().split('\n');
  return lines.map((line) => line.trim().split(/\s+/).slice(0, 2).join(' '));
}

test('removals during a pull do not harm it, even of an image that shares a layer with it', async () => {
  await using gate = new RegistryGate(cluster.registryUrl);
  pullFrom(await gate.listen(), { dir: cluster.dir, host: 'slow.test' });
  const base = [{ path: 'base', data: Buffer.alloc(1024 * 1024, 'shared by two images') }];
  const sharing = `${host}/sharing:1`;
  await pushImage(sharing, 'sharing', { base });
  const large = { bytes: 8 * 1024 * 1024, kind: 'random' } as const;
  const { digest } = await pushImage('slow.test/large:1', 'large', { base, fill: large });
  await applyPolicy(cluster, 'DryRun', policy());
  await crictl(cluster, 'pull', sharing);

  gate.hold(large.bytes);
  await createPod('pulling', { images: { main: 'slow.test/large:1' } });
  await expect.poll(() => gate.held, eventually).toHaveLength(1);
  await expect
    .poll(partialContent, eventually)
    .toEqual([expect.stringMatching(/^layer-sha256:\S+ 4\.\d+MB$/)]);
  const partial = await partialContent();
  expect(await others()).toContain(sharing);
  await applyPolicy(cluster, 'Enforce', policy());
  await untilOthers([]);
  expect(await partialContent()).toEqual(partial);
  await untilPhases(cluster, { pulling: 'Pending' });

  gate.release();
  await untilPhases(cluster, { pulling: 'Running' });
  await untilOthers(['slow.test/large:1', `slow.test/large@${digest}`]);
  expect(gate.held).toHaveLength(1);
  const content = await kubectl(cluster, ['exec', 'pulling', '--', 'cat', '/base']);
  expect(content.slice(0, 20)).toBe('shared by two images');
  await deletePod('pulling');
  await untilOthers([]);
});

test.runIf(mountsImages)(
  'an image that is only used as a volume stays as long as its pod, and then is removed',
  async () => {
    const ref = `${host}/volume:1`;
    const { digest } = await pushImage(ref, 'from the volume', { busybox: false });
    const names = [ref, `${host}/volume@${digest}`];
    await createPod('mounting', {
      images: { main: shell },
      volume: { reference: ref, pullPolicy: 'Always' },
    });
    await untilPhases(cluster, { mounting: 'Running' });
    await untilOthers(names);
    expect(await kubectl(cluster, ['exec', 'mounting', '--', 'cat', '/image/hello'])).toBe('from the volume');
    const detail = 'A container has mounted it.';
    expect(await why(`${host}/volume@${digest}`)).toMatchObject([{ reason: 'InUse', detail }]);
    await deletePod('mounting');
    await untilOthers([]);
  },
);

const login = 'user:password';
/** Pulled with credentials, and imported without any. */
const pulled: ImageSpec = { ...busyboxImage, ref: 'private.test/pulled:1', tags: [] };
const imported: ImageSpec = { ...busyboxImage, ref: 'private.test/imported:1', tags: [], files: [] };

/** Since 1.35 the kubelet records with which credentials it pulled an image (KEP-2535). */
const records = (): readonly string[] => readdirSync('/var/lib/kubelet/image_manager/pulled');

async function createLogin(): Promise<void> {
  const auths = { 'private.test': { auth: Buffer.from(login).toString('base64') } };
  await create(cluster, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'login', namespace: 'default' },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths }) },
  });
}

/** Why the container of the pod waits. */
const waiting = (name: string): Promise<string> => {
  const path = 'jsonpath={.status.containerStatuses[0].state.waiting.reason}';
  return kubectl(cluster, ['get', 'pod', name, '-o', path]);
};

// Only the kubelet's own removal for space deletes a record: docs/deviations.md says what follows after a removal by dustpan.
test('an image that is imported again after a removal needs the credentials of its first pull', async () => {
  await using gate = new RegistryGate(cluster.registryUrl, login);
  pullFrom(await gate.listen(), { dir: cluster.dir, host: 'private.test' });
  await push(cluster.registryUrl, pulled);
  await createLogin();
  const ends = { script: 'exit 0', restartPolicy: 'Never' } as const;
  const owned = { images: { main: pulled.ref }, imagePullSecrets: [{ name: 'login' }], ...ends };
  const before = new Set(records());
  await createPod('owner', owned);
  await untilPhases(cluster, { owner: 'Succeeded' });
  const record = records().filter((name) => !before.has(name));
  expect(record).toHaveLength(1);

  await deletePod('owner');
  await untilOthers([]);
  await agent.stop();
  // Neither dustpan nor the kubelet has deleted it.
  expect(records()).toEqual(expect.arrayContaining(record));

  for (const spec of [pulled, imported]) {
    await cluster.importImages([spec]);
  }
  await createPod('stranger', { images: { main: pulled.ref }, ...ends });
  await createPod('control', { images: { main: imported.ref }, ...ends });
  await createPod('again', owned);
  // An imported image without a record is free for all, as the kubelet's default policy for credentials says.
  await untilPhases(cluster, { control: 'Succeeded', again: 'Succeeded', stranger: 'Pending' });
  await expect.poll(() => waiting('stranger'), eventually).toMatch(/^(ErrImagePull|ImagePullBackOff)$/);
});
