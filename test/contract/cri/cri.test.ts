// @bed node
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { criRuntime } from '../../../src/cri/client.ts';
import { servesCri } from '../../../src/cri/probe.ts';
import { RuntimeError, type RuntimeContainer, type RuntimeSandbox } from '../../../src/cri/runtime.ts';
import { isReal, soon } from '../project.ts';
import { startContainerd } from './containerd.ts';
import { KubeletSide, type ContainerChoice } from './kubelet-side.ts';
import { startRuntimeSandbox } from './runtime-sandbox.ts';

/** containerd measures its snapshots every ten seconds. */
const soonMeasured = { timeout: 90_000, interval: 250 };
/** Ids that nothing has. */
const nobody = 'f'.repeat(64);
const noImage = `sha256:${nobody}`;

const target = await (isReal ? startContainerd() : startRuntimeSandbox());
const runtime = criRuntime({ socket: target.socket });
const kubelet = new KubeletSide(target);
/** An image that no test removes. */
const app = await target.image(['bed.test/app:1']);
const { signal } = new AbortController();
afterAll(async () => {
  kubelet.close();
  runtime.close();
  await target.stop();
});

const containerOf = async (id: string): Promise<RuntimeContainer | undefined> =>
  (await runtime.listContainers(signal)).find((one) => one.id === id);
const sandboxOf = async (id: string): Promise<RuntimeSandbox | undefined> =>
  (await runtime.listSandboxes(signal)).find((one) => one.id === id);
const imageIds = async (): Promise<readonly string[]> =>
  (await runtime.listImages(signal)).map(({ id }) => id);

/** The image of a container, as the runtime lists it. */
const imageOf = ({ id }: { readonly id: string }): Pick<RuntimeContainer, 'imageId' | 'imageRef'> => ({
  imageId: target.isContainerd17 === true ? '' : id,
  imageRef: id,
});

/** A sandbox with one container, which does not run yet. Both are removed after the test. */
async function podOf(
  name: string,
  choice: Partial<ContainerChoice> = {},
): Promise<{ sandboxId: string; containerId: string }> {
  const sandboxId = await kubelet.runPod({ name });
  onTestFinished(() => runtime.removeSandbox(sandboxId, signal));
  const wanted = { name: 'main', image: app.id, ...choice };
  return { sandboxId, containerId: await kubelet.create({ name }, sandboxId, wanted) };
}

describe('images', () => {
  test('a runtime reports its name and version', async () => {
    expect(await runtime.version(signal)).toEqual({
      name: 'containerd',
      version: expect.stringMatching(/^v?\d/) as string,
      apiVersion: 'v1',
    });
    expect(await servesCri(target.socket, signal)).toBe(true);
  });

  test('a runtime is ready without a network', async () => {
    await expect(runtime.checkReady(signal)).resolves.toBeUndefined();
  });

  test('containerd pins its sandbox image, and only 1.7 names it', async () => {
    const named = target.isContainerd17 === true ? 'bed.test/pause:1' : undefined;
    expect(await runtime.sandboxImage(signal)).toBe(named);
    const pinned = (await runtime.listImages(signal)).filter((one) => one.pinned);
    expect(pinned.flatMap(({ tags }) => tags)).toContain('bed.test/pause:1');
  });

  test('an imported image is listed once with all its tags and no digest, and found by each of its names', async () => {
    const two = await target.image(['bed.test/two:1', 'bed.test/two:again']);
    const listed = (await runtime.listImages(signal)).filter(({ id }) => id === two.id);
    expect(listed).toHaveLength(1);
    expect([...(listed[0]?.tags ?? [])].sort()).toEqual(['bed.test/two:1', 'bed.test/two:again']);
    expect(listed[0]).toMatchObject({ digests: [], pinned: false, runtimeHandler: '' });
    expect(listed[0]?.sizeBytes).toBeGreaterThan(0);
    for (const name of [two.id, 'bed.test/two:1', 'bed.test/two:again']) {
      expect(await runtime.imageStatus(name, signal)).toEqual(listed[0]);
    }
  });

  test('a removal by id removes all names', async () => {
    const gone = await target.image(['bed.test/gone:1', 'bed.test/gone:2']);
    await runtime.removeImage(gone.id, signal);
    expect(await imageIds()).not.toContain(gone.id);
    for (const name of [gone.id, ...gone.tags]) {
      expect(await runtime.imageStatus(name, signal)).toBeUndefined();
    }
  });

  test('a removal by one tag removes the others too: dustpan removes by id', async () => {
    const gone = await target.image(['bed.test/bytag:1', 'bed.test/bytag:2']);
    await runtime.removeImage('bed.test/bytag:1', signal);
    expect(await imageIds()).not.toContain(gone.id);
  });

  test('a missing image has no status, and its removal succeeds', async () => {
    for (const name of [noImage, 'bed.test/never:1']) {
      expect(await runtime.imageStatus(name, signal)).toBeUndefined();
      await runtime.removeImage(name, signal);
    }
  });

  test('the runtime removes an image that a running container uses: only our own checks protect it', async () => {
    const used = await target.image(['bed.test/used:1']);
    const { containerId } = await podOf('uses', { image: used.id });
    await kubelet.start(containerId);
    await runtime.removeImage(used.id, signal);
    expect(await imageIds()).not.toContain(used.id);
    expect(await containerOf(containerId)).toMatchObject({
      state: 'Running',
      ...imageOf(used),
    });
  });

  test('the image file system has its mount point and the usage of its snapshots, at most ten seconds late', async () => {
    await vi.waitFor(async () => {
      const { images } = await runtime.fileSystems(signal);
      expect(images).toHaveLength(1);
      expect(images[0]?.mountpoint).toMatch(/^\/var\/lib\/containerd\/.*overlayfs$/);
      expect(images[0]?.usedBytes).toBeGreaterThan(0);
      expect(images[0]?.inodesUsed).toBeGreaterThan(0);
    }, soonMeasured);
  });
});

// The sandbox pulls nothing.
describe.runIf(isReal)('the names of pulled images', () => {
  const listed = async (wanted: string) =>
    (await runtime.listImages(signal)).filter(({ id }) => id === wanted);
  const names = async (wanted: string): Promise<readonly string[]> =>
    (await listed(wanted)).flatMap(({ tags, digests }) => [...tags, ...digests]).sort();

  test('an image that is pulled by its tag is listed by its tag and its digest, and found by both', async () => {
    const { id, digest } = await target.push(['bed.test/pulled:1']);
    const byDigest = `bed.test/pulled@${digest}`;
    expect(await runtime.imageStatus(byDigest, signal)).toBeUndefined();
    expect(await kubelet.pull('bed.test/pulled:1')).toBe(id);
    const [image, ...more] = await listed(id);
    expect(image).toMatchObject({ tags: ['bed.test/pulled:1'], digests: [byDigest], pinned: false });
    expect(more).toEqual([]);
    for (const name of [id, 'bed.test/pulled:1', byDigest, `bed.test/pulled:9@${digest}`])
      expect(await runtime.imageStatus(name, signal)).toEqual(image);
  });

  test('an image that is pulled by its digest has no tag, also if the reference has one', async () => {
    const { id, digest } = await target.push(['bed.test/by-digest:1']);
    const byDigest = `bed.test/by-digest@${digest}`;
    expect(await kubelet.pull(byDigest)).toBe(id);
    expect(await kubelet.pull(`bed.test/by-digest:1@${digest}`)).toBe(id);
    expect(await listed(id)).toMatchObject([{ tags: [], digests: [byDigest] }]);
    expect(await runtime.imageStatus('bed.test/by-digest:1', signal)).toBeUndefined();
    expect(await kubelet.pull('bed.test/by-digest:1')).toBe(id);
    expect(await names(id)).toEqual(['bed.test/by-digest:1', byDigest]);
  });

  test('an image that is pulled from an index has the id of its own platform, and the digest of the index', async () => {
    const { id, digest } = await target.push(['bed.test/index:1'], { index: true });
    expect(await kubelet.pull('bed.test/index:1')).toBe(id);
    expect(await names(id)).toEqual(['bed.test/index:1', `bed.test/index@${digest}`]);
  });

  test('a short name is listed with its registry', async () => {
    const { id, digest } = await target.push(['short:1', 'team/short:1']);
    expect([await kubelet.pull('short:1'), await kubelet.pull('team/short:1')]).toEqual([id, id]);
    expect(await names(id)).toEqual([
      'docker.io/library/short:1',
      `docker.io/library/short@${digest}`,
      'docker.io/team/short:1',
      `docker.io/team/short@${digest}`,
    ]);
    expect(await runtime.imageStatus('short:1', signal)).toEqual((await listed(id))[0]);
  });

  test('two tags of one image are listed once, with one digest', async () => {
    const { id, digest } = await target.push(['bed.test/twice:1', 'bed.test/twice:2']);
    for (const tag of ['bed.test/twice:1', 'bed.test/twice:2']) expect(await kubelet.pull(tag)).toBe(id);
    expect(await listed(id)).toHaveLength(1);
    expect(await names(id)).toEqual(['bed.test/twice:1', 'bed.test/twice:2', `bed.test/twice@${digest}`]);
  });

  test('an image whose tag was pulled anew keeps its digest alone', async () => {
    const before = await target.push(['bed.test/moved:1']);
    await kubelet.pull('bed.test/moved:1');
    const { containerId } = await podOf('moved', { image: 'bed.test/moved:1' });
    const after = await target.push(['bed.test/moved:1']);
    expect(after.id).not.toBe(before.id);
    expect(await kubelet.pull('bed.test/moved:1')).toBe(after.id);
    expect(await names(before.id)).toEqual([`bed.test/moved@${before.digest}`]);
    expect(await names(after.id)).toEqual(['bed.test/moved:1', `bed.test/moved@${after.digest}`]);
    expect(await containerOf(containerId)).toMatchObject(imageOf(before));
  });

  test('a removal by id removes tags and digests, and the image can be pulled again', async () => {
    const { id, digest } = await target.push(['bed.test/back:1', 'bed.test/back:2']);
    for (const tag of ['bed.test/back:1', 'bed.test/back:2']) await kubelet.pull(tag);
    await runtime.removeImage(id, signal);
    for (const name of [id, 'bed.test/back:1', 'bed.test/back:2', `bed.test/back@${digest}`])
      expect(await runtime.imageStatus(name, signal)).toBeUndefined();
    expect(await kubelet.pull('bed.test/back:2')).toBe(id);
    expect(await names(id)).toEqual(['bed.test/back:2', `bed.test/back@${digest}`]);
  });
});

describe('containers', () => {
  test('a container changes from Created to Running to Exited, and keeps its creation time to the nanosecond', async () => {
    const before = BigInt(Date.now()) * 1_000_000n;
    const { sandboxId, containerId } = await podOf('life', { script: 'sleep 100000', attempt: 3 });
    const created = await containerOf(containerId);
    expect(created).toMatchObject({
      id: containerId,
      sandboxId,
      name: 'main',
      attempt: 3,
      ...imageOf(app),
      state: 'Created',
    });
    expect(created?.createdAtNs).toBeGreaterThanOrEqual(before);
    expect(created?.createdAtNs).toBeLessThan(BigInt(Date.now() + 1000) * 1_000_000n);
    await kubelet.start(containerId);
    expect((await containerOf(containerId))?.state).toBe('Running');
    expect(await runtime.containerStatus(containerId, signal)).toMatchObject({
      state: 'Running',
      finishedAtNs: 0n,
    });
    await runtime.stopContainer(containerId, 0, signal);
    const status = await runtime.containerStatus(containerId, signal);
    expect(status).toMatchObject({ id: containerId, state: 'Exited', exitCode: 137, mountedImages: [] });
    expect(status?.finishedAtNs).toBeGreaterThan(created?.createdAtNs ?? 0n);
    expect((await containerOf(containerId))?.createdAtNs).toBe(created?.createdAtNs);
    await runtime.removeContainer(containerId, signal);
    expect(await containerOf(containerId)).toBeUndefined();
  });

  test('a finished program leaves its exit code and its log', async () => {
    const { sandboxId, containerId } = await podOf('ends', { script: 'echo hello; exit 3' });
    await kubelet.start(containerId);
    await vi.waitFor(async () => {
      expect((await containerOf(containerId))?.state).toBe('Exited');
    }, soon);
    const status = await runtime.containerStatus(containerId, signal);
    expect(status).toMatchObject({
      exitCode: 3,
      logPath: `${target.logRoot}/default_ends_uid-of-ends/main/0.log`,
    });
    expect(readFileSync(status?.logPath ?? '', 'utf8')).toMatch(/^\S+ stdout F hello\n$/);
    await runtime.removeSandbox(sandboxId, signal);
    expect(existsSync(status?.logPath ?? '')).toBe(true);
  });

  test('known labels and annotations are returned unchanged, others are dropped', async () => {
    const { sandboxId, containerId } = await podOf('labels');
    const container = await containerOf(containerId);
    expect(container).toMatchObject({
      labels: { 'io.kubernetes.container.name': 'main' },
      annotations: { 'io.kubernetes.container.restartCount': '0' },
    });
    expect(container?.labels).not.toHaveProperty('unusual');
    const sandbox = await sandboxOf(sandboxId);
    expect(sandbox).toMatchObject({
      podName: 'labels',
      podNamespace: 'default',
      podUid: 'uid-of-labels',
      attempt: 0,
      labels: { 'io.kubernetes.pod.name': 'labels' },
      annotations: { 'kubernetes.io/config.source': 'api' },
      runtimeHandler: '',
    });
    expect(sandbox?.labels).not.toHaveProperty('unusual');
  });

  test('the runtime removes a running container by force: only our own checks protect it', async () => {
    const { sandboxId, containerId } = await podOf('forced');
    await kubelet.start(containerId);
    await runtime.removeContainer(containerId, signal);
    expect(await containerOf(containerId)).toBeUndefined();
    expect(await sandboxOf(sandboxId)).toMatchObject({ state: 'Ready' });
  });

  test('a missing container has no status, and its stop and removal succeed', async () => {
    expect(await runtime.containerStatus(nobody, signal)).toBeUndefined();
    await runtime.stopContainer(nobody, 0, signal);
    await runtime.removeContainer(nobody, signal);
  });

  test('every container has statistics by id, also an exited one', async () => {
    const { sandboxId, containerId } = await podOf('stats');
    await kubelet.start(containerId);
    await vi.waitFor(async () => {
      const stats = (await runtime.containerStats(signal)).find(({ id }) => id === containerId);
      expect(stats?.labels).toMatchObject({ 'io.kubernetes.container.name': 'main' });
      expect(stats?.writableLayerBytes).toBeTypeOf('number');
    }, soonMeasured);
    const idle = await kubelet.create({ name: 'stats' }, sandboxId, { name: 'idle', image: app.id });
    await runtime.stopContainer(containerId, 0, signal);
    const ids = (await runtime.containerStats(signal)).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([containerId, idle]));
  });
});

describe('sandboxes', () => {
  test('a stop ends the containers and keeps them; a removal removes them', async () => {
    const { sandboxId, containerId } = await podOf('sandbox');
    await kubelet.start(containerId);
    expect(await runtime.sandboxStatus(sandboxId, signal)).toEqual({ id: sandboxId, state: 'Ready' });
    await runtime.stopSandbox(sandboxId, signal);
    expect(await sandboxOf(sandboxId)).toMatchObject({ state: 'NotReady' });
    expect(await runtime.sandboxStatus(sandboxId, signal)).toEqual({ id: sandboxId, state: 'NotReady' });
    expect((await containerOf(containerId))?.state).toBe('Exited');
    await runtime.removeSandbox(sandboxId, signal);
    expect(await sandboxOf(sandboxId)).toBeUndefined();
    expect(await containerOf(containerId)).toBeUndefined();
    expect(await runtime.containerStatus(containerId, signal)).toBeUndefined();
  });

  test('the runtime removes a ready sandbox with its running containers: only our own checks protect it', async () => {
    const { sandboxId, containerId } = await podOf('ready');
    await kubelet.start(containerId);
    await runtime.removeSandbox(sandboxId, signal);
    expect(await sandboxOf(sandboxId)).toBeUndefined();
    expect(await containerOf(containerId)).toBeUndefined();
  });

  test('attempts of one pod coexist; the same attempt twice is refused', async () => {
    const first = await kubelet.runPod({ name: 'attempts' });
    await runtime.stopSandbox(first, signal);
    const second = await kubelet.runPod({ name: 'attempts', attempt: 1 });
    expect(await sandboxOf(first)).toMatchObject({ attempt: 0, state: 'NotReady' });
    expect(await sandboxOf(second)).toMatchObject({ attempt: 1, state: 'Ready' });
    await expect(kubelet.runPod({ name: 'attempts', attempt: 1 })).rejects.toThrow('is reserved for');
    await runtime.removeSandbox(first, signal);
    await runtime.removeSandbox(second, signal);
  });

  test('a missing sandbox has no status, and its stop and removal succeed', async () => {
    expect(await runtime.sandboxStatus(nobody, signal)).toBeUndefined();
    await runtime.stopSandbox(nobody, signal);
    await runtime.removeSandbox(nobody, signal);
  });
});

describe('an unavailable or hanging runtime', () => {
  test('calls to a hanging runtime exceed their deadline, on open and new connections, and succeed once it resumes', async () => {
    const open = criRuntime({ socket: target.socket, deadlineMs: 500, statusDeadlineMs: 300 });
    const fresh = criRuntime({ socket: target.socket, deadlineMs: 500, statusDeadlineMs: 300 });
    await vi.waitFor(() => open.version(signal), soon);
    await target.pause();
    const line = /^ListImages: the container runtime at \S+ did not respond within 0\.5 s$/;
    for (const one of [open, fresh]) {
      const failed = one.listImages(signal);
      await expect(failed).rejects.toThrow(RuntimeError);
      await expect(failed).rejects.toMatchObject({
        failure: 'deadline',
        message: expect.stringMatching(line) as string,
      });
    }
    await expect(fresh.version(signal)).rejects.toMatchObject({ failure: 'deadline' });
    await target.resume();
    for (const one of [open, fresh]) {
      await vi.waitFor(() => one.version(signal), soon);
      one.close();
    }
  });

  test('a killed runtime is unavailable at once; after its restart its containers and our connection are back', async () => {
    const { containerId } = await podOf('survives');
    await kubelet.start(containerId);
    const before = await containerOf(containerId);
    await target.kill();
    for (const attempt of ['first', 'second']) {
      await expect(runtime.listImages(signal), attempt).rejects.toMatchObject({
        failure: 'unavailable',
        message: expect.stringContaining(target.socket) as string,
      });
    }
    await target.start();
    const backAtMs = performance.now();
    await vi.waitFor(() => runtime.version(signal), soon);
    expect(performance.now() - backAtMs).toBeLessThan(10_000);
    expect(await containerOf(containerId)).toEqual(before);
  });
});
