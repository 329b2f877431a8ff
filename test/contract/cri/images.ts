import { expect, test, vi } from 'vitest';
import { servesCri } from '../../../src/cri/probe.ts';
import { soonMeasured, noImage } from './environment.ts';
import type { CriEnvironment } from './environment.ts';

/** Behaviour of images that dustpan relies on. */
export function imageSuite(environment: CriEnvironment): void {
  const { runtime, kubelet, target, app, signal } = environment;

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

  test('an image has its layers in order, lowest first; a missing image has none', async () => {
    const one = await target.image(['bed.test/layers:1']);
    const [shared, own, ...more] = (await runtime.imageLayers(app.id, signal)) ?? [];
    expect([shared, own]).toEqual([1, 2].map(() => expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string));
    expect(more).toEqual([]);
    const others = await runtime.imageLayers(one.id, signal);
    expect(others).toHaveLength(2);
    expect([others?.[0] === shared, others?.[1] === own]).toEqual([true, false]);
    expect(await runtime.imageLayers(noImage, signal)).toBeUndefined();
  });

  test('a removal by id removes all names', async () => {
    const gone = await target.image(['bed.test/gone:1', 'bed.test/gone:2']);
    await runtime.removeImage(gone.id, signal);
    expect(await environment.imageIds()).not.toContain(gone.id);
    for (const name of [gone.id, ...gone.tags]) {
      expect(await runtime.imageStatus(name, signal)).toBeUndefined();
    }
  });

  test('a removal by one tag removes the others too: dustpan removes by id', async () => {
    const gone = await target.image(['bed.test/bytag:1', 'bed.test/bytag:2']);
    await runtime.removeImage('bed.test/bytag:1', signal);
    expect(await environment.imageIds()).not.toContain(gone.id);
  });

  test('a missing image has no status, and its removal succeeds', async () => {
    for (const name of [noImage, 'bed.test/never:1']) {
      expect(await runtime.imageStatus(name, signal)).toBeUndefined();
      await runtime.removeImage(name, signal);
    }
  });

  test('a pinned image is listed as pinned', async () => {
    const pinned = await target.image(['bed.test/pinned:1'], { pinned: true });
    expect(await runtime.imageStatus(pinned.id, signal)).toMatchObject({ pinned: true });
    expect(await runtime.imageStatus(app.id, signal)).toMatchObject({ pinned: false });
  });

  test('the runtime removes an image that a running container uses: only our own checks protect it', async () => {
    const used = await target.image(['bed.test/used:1']);
    const { containerId } = await environment.pod('uses', { image: used.id });
    await kubelet.start(containerId);
    await runtime.removeImage(used.id, signal);
    expect(await environment.imageIds()).not.toContain(used.id);
    expect(await environment.container(containerId)).toMatchObject({
      state: 'Running',
      ...environment.imageOf(used),
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
}
