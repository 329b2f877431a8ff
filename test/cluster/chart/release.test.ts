import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { render, template, workload, type RenderOptions } from './chart.ts';
import { repositoryRoot } from '../repository.ts';

const out = mkdtempSync(join(tmpdir(), 'dustpan-chart-release-'));
const chart = join(out, 'chart/dustpan');
const released = `sha256:${'a'.repeat(64)}`;
const other = `sha256:${'b'.repeat(64)}`;

beforeAll(() => {
  // The same as release.yml.
  const args = ['scripts/manifests.ts', `--out=${out}`, `--image=r.example.com/o/dustpan@${released}`];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: repositoryRoot(), encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
});

const imagesOf = async (options: RenderOptions): Promise<readonly string[]> => {
  const manifests = await render({ ...options, chart });
  return (['Deployment', 'DaemonSet'] as const).map(
    (kind) => workload(manifests, kind).spec.template.spec.containers[0].image,
  );
};

test.each([
  { name: 'as it comes', set: {}, image: `r.example.com/o/dustpan@${released}` },
  {
    name: 'of a mirror',
    set: { 'global.imageRegistry': 'm.example.com' },
    image: `m.example.com/o/dustpan@${released}`,
  },
  { name: 'with a tag', set: { 'image.tag': '9.9.9' }, image: 'r.example.com/o/dustpan:9.9.9' },
  { name: 'with another digest', set: { 'image.digest': other }, image: `r.example.com/o/dustpan@${other}` },
])('the image of a released chart $name is $image', async ({ set, image }) => {
  expect(await imagesOf({ set })).toEqual([image, image]);
});

test('a released chart refuses a tag with a digest', async () => {
  const { code, stderr } = await template({ chart, set: { 'image.tag': '9.9.9', 'image.digest': other } });
  expect(code).toBe(1);
  expect(stderr).toContain('image.tag and image.digest: only one of them can say which image');
});
