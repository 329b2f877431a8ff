// @bed node imageFsMB=768
import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { PlanDocument } from '../../../src/evaluation/plan/document.ts';
import type { Cluster } from '../servers/cluster.ts';
import { runDustpan } from '../servers/command.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import { eventually } from '../servers/waiting.ts';
import type { ImageSpec } from '../node/image.ts';
import { everySecond, onNode, startAgent } from './agent.ts';
import {
  agentEvents,
  applyPolicy,
  condition,
  dueInDryRun,
  imageTags,
  metric,
  readReport,
  reportUnit,
  startNodeWithoutKubelet,
} from './environment.ts';

const imageFs = '/var/lib/containerd';
const inodes = 10_000;
const filesPerImage = 1_500;
const mebi = 1024 * 1024;

/** An image with so many files of a few bytes. */
const withFiles = (ref: string, count: number): ImageSpec => ({
  ref: `bed.test/${ref}`,
  busybox: false,
  files: Array.from({ length: count }, (_, i) => ({ path: `files/${i}`, data: Buffer.from(`${ref} ${i}`) })),
});

/** Much larger than the images with many files, and of a single file. */
const large: ImageSpec = {
  ...{ ref: 'bed.test/large:1', busybox: false },
  fill: { bytes: 24 * mebi, kind: 'random' },
};
const many = ['a', 'b', 'c'].map((name) => withFiles(`many:${name}`, filesPerImage));
const kept = withFiles('kept:1', 10);

const tags = (...images: readonly ImageSpec[]): readonly string[] =>
  ['bed.test/pause:1', ...images.map(({ ref }) => ref)].sort();

let cluster: Cluster;
let agent: DustpanProcess;

const disk = (): {
  readonly usedPercent: number;
  readonly usedInodes: number;
  readonly usedBytesPercent: number;
} => {
  const { files, ffree, blocks, bavail } = statfsSync(imageFs);
  return {
    usedPercent: 100 - Math.floor((ffree * 100) / files),
    usedInodes: files - ffree,
    usedBytesPercent: 100 - Math.floor((bavail * 100) / blocks),
  };
};

const imageGC = (over: object): object => ({
  imageGC: { minimumAge: '2s', keep: ['bed.test/kept:*'], ...over },
});

const importing = async (...images: readonly ImageSpec[]): Promise<void> => {
  await cluster.importImages(images);
  // Older than the minimum age, and known before the next ones.
  await passesOf(agent, 'imagegc', 4);
};

const space = 'dustpan_image_garbage_collected_total{reason="space"}';
/** Removals of `large`, `many:a` and `many:b`: half of the inodes of one image remain to the threshold. */
const low = (): number => Math.round(disk().usedPercent - (150 * filesPerImage) / inodes);

beforeAll(async () => {
  execFileSync('mount', ['-o', `remount,nr_inodes=${inodes}`, imageFs]);
  cluster = await startNodeWithoutKubelet();
  agent = await startAgent(cluster, { args: everySecond });
  await agent.ready();
  await importing(kept, large);
  for (const image of many) await importing(image);
});

test('the images fill the inodes of a disk whose bytes are far from full', () => {
  expect(disk().usedInodes).toBeGreaterThan(many.length * filesPerImage);
  expect(disk().usedPercent).toBeGreaterThan(45);
  expect(disk().usedBytesPercent).toBeLessThan(30);
});

test('without the block for inodes nothing is removed; DryRun with it only reports', async () => {
  await applyPolicy(cluster, 'Enforce', imageGC({}));
  await passesOf(agent, 'imagegc', 3);
  expect(await imageTags(cluster)).toEqual(tags(kept, large, ...many));

  const thresholds = { highThresholdPercent: disk().usedPercent - 2, lowThresholdPercent: low() };
  await applyPolicy(cluster, 'DryRun', imageGC({ inodes: thresholds }));
  await expect.poll(() => dueInDryRun(agent, 'imagegc', 'Space'), eventually).toBeGreaterThan(0);
  expect(await metric(agent, 'dustpan_image_gc_wanted_inodes')).toBeGreaterThan(filesPerImage);
  expect(await metric(agent, 'dustpan_image_gc_wanted_bytes')).toBe(0);
  await passesOf(agent, 'imagegc', 2);
  expect(await imageTags(cluster)).toEqual(tags(kept, large, ...many));
});

test('plan and why on the node, and of its snapshot, say that the inodes are short', async () => {
  const directory = join(cluster.dir, 'snapshot');
  await runDustpan('snapshot', directory, '--force', ...onNode(cluster));
  for (const source of [onNode(cluster), [`--snapshot=${directory}`]]) {
    const plan = JSON.parse(await runDustpan('plan', ...source, '-o', 'json')) as PlanDocument;
    const [summary] = plan.summary;
    expect(summary).toMatchObject({ crossed: ['inodes'], wantedBytes: 0 });
    expect(summary?.usedInodesPercent).toBe(disk().usedPercent);
    expect(summary?.wantedInodes).toBeGreaterThan(filesPerImage);
    const why = await runDustpan('why', 'image', large.ref, ...source, '-o', 'json');
    expect(why).toContain('of its inodes in use, so dustpan frees');
  }
});

test('Enforce removes images in the order of the kubelet until enough inodes are truly free, whatever the estimate was', async () => {
  const before = disk();
  const target = low();
  await applyPolicy(
    cluster,
    'Enforce',
    imageGC({ inodes: { highThresholdPercent: before.usedPercent - 2, lowThresholdPercent: target } }),
  );
  await expect.poll(() => metric(agent, space), eventually).toBe(3);
  await passesOf(agent, 'imagegc', 3);
  expect(await metric(agent, space)).toBe(3);
  expect(await imageTags(cluster)).toEqual(tags(kept, ...many.slice(2)));
  expect(disk().usedPercent).toBeLessThanOrEqual(target);
  expect(disk().usedInodes).toBeLessThan(before.usedInodes - 2 * filesPerImage);
  // The agent writes its report less often than it collects.
  await expect.poll(() => reportUnit(cluster, 'imagegc'), eventually).toMatchObject({ removedTotal: 3 });
  expect(await condition(cluster, 'Degraded')).toBe('False AsPlanned');
  expect((await readReport(cluster))?.imageFileSystem?.inodes).toBe(inodes);
});

test('reports that the inodes are short when no image can be removed', async () => {
  await applyPolicy(
    cluster,
    'Enforce',
    imageGC({ inodes: { highThresholdPercent: 1, lowThresholdPercent: 0 } }),
  );
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('True TargetMissed');
  await expect.poll(() => imageTags(cluster), eventually).toEqual(tags(kept));
  const words = "Insufficient free inodes on the node's image filesystem";
  expect((await reportUnit(cluster, 'imagegc'))?.message).toContain(words);
  const notes = async (): Promise<string> =>
    (await agentEvents(cluster))
      .filter(({ reason }) => reason === 'FreeDiskSpaceFailed')
      .map(({ note }) => note)
      .join('\n');
  await expect
    .poll(notes, eventually)
    .toMatch(
      /^Insufficient free inodes .* \(\d+% of 10000 used\)\. Failed to free sufficient inodes by deleting unused images \(freed \d+ inodes\)\. Wanted \d+ inodes\./,
    );
});
