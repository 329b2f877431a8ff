import { expect, test } from 'vitest';
import type { CriEnvironment } from './environment.ts';

/** The names of pulled images that dustpan relies on. */
export function pullSuite(environment: CriEnvironment): void {
  const { runtime, kubelet, target, signal } = environment;
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
    const { containerId } = await environment.pod('moved', { image: 'bed.test/moved:1' });
    const after = await target.push(['bed.test/moved:1']);
    expect(after.id).not.toBe(before.id);
    expect(await kubelet.pull('bed.test/moved:1')).toBe(after.id);
    expect(await names(before.id)).toEqual([`bed.test/moved@${before.digest}`]);
    expect(await names(after.id)).toEqual(['bed.test/moved:1', `bed.test/moved@${after.digest}`]);
    expect(await environment.container(containerId)).toMatchObject(environment.imageOf(before));
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
}
