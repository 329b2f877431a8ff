import { expect, test } from 'vitest';
import { parsePolicy } from '../../../../src/api/policy/policy-spec.ts';
import { planUnits } from '../../../../src/evaluation/plan/units.ts';
import type { JobFacts, PodFacts } from '../../../../src/kube/cache/objects.ts';
import { minutesAgo, node, now, owner } from '../../../builders.ts';
import { image } from '../../../fakes/runtime.ts';
import { yamlObject } from '../../api/crd.ts';
import { aged } from '../../controllers/podgc/rows.ts';
import { byUid, factsOf, namespaceOf, type Facts } from '../facts.ts';

/** Checks the description of each file in examples/ with a small cluster. */
const hours = 60;
const days = 24 * hours;
const gib = 1024 ** 3;

interface World extends Facts {
  readonly labelledNamespaces?: readonly ReturnType<typeof namespaceOf>[];
}

/** The verdicts and reasons of pods and images, by name. */
function verdicts(
  example: string,
  { labelledNamespaces, ...facts }: World,
): Readonly<Record<string, string>> {
  const policy = parsePolicy(yamlObject(`examples/${example}.yaml`));
  const seen = factsOf({ policies: [policy], ...facts });
  const namespaces = labelledNamespaces === undefined ? seen.namespaces : byUid(labelledNamespaces);
  const { decisions } = planUnits({ ...seen, namespaces }, { now, kept: true, assumeElapsed: false });
  expect(decisions.every(({ policy: by, mode }) => by === null || mode === 'DryRun')).toBe(true);
  return Object.fromEntries(
    decisions
      .filter(({ unit }) => unit === 'podgc' || unit === 'imagegc')
      .map(({ object, verdict, reason }) => [object.name ?? '', `${verdict} ${reason}`] as const),
  );
}

const named = (rows: readonly (Pod | UnusedImage)[]): Readonly<Record<string, string>> =>
  Object.fromEntries(rows.map(([verdict, name]) => [name, verdict]));

/** The verdict, its name, and how many minutes ago it finished: in namespace jobs, unless it says otherwise. */
type Pod = readonly [verdict: string, name: string, minutes: number, over?: Partial<PodFacts>];

const finished = (pods: readonly Pod[]): readonly PodFacts[] =>
  pods.map(([, name, minutes, over]) => aged(`${over?.namespace ?? 'jobs'}/${name}`, minutes, over));

const job = (name: string, isFinished: boolean): JobFacts => ({
  ...{ uid: `uid-Job-${name}`, name, namespace: 'jobs', resourceVersion: '1' },
  ...{ controller: undefined, finished: isFinished },
});

/** The verdict, its name, its size in GiB, the minutes without use, and since it was pulled: by default 90 days. */
type UnusedImage = readonly [verdict: string, tag: string, gib: number, unused: number, pulled?: number];

/** A node with unused images, whose image file system of 100 GiB is this full. */
const withImages = (usedPercent: number, images: readonly UnusedImage[]): NonNullable<Facts['part']> => ({
  images: images.map(([, tag, size]) => image(tag, { tags: [tag], sizeBytes: size * gib })),
  disk: { capacityBytes: 100 * gib, availableBytes: (100 - usedPercent) * gib },
  state: {
    images: new Map(
      images.map(([, tag, , unused, pulled = 90 * days]) => [
        `sha256:${tag}`,
        { firstDetectedMs: minutesAgo(pulled), lastUsedMs: minutesAgo(unused) },
      ]),
    ),
    removed: [],
  },
});

const labelledNode = (key: string, value: string): Pick<Facts, 'nodes'> => ({
  nodes: [node('node-1', { labels: { [key]: value } })],
});

test('batch-pods: deletes pods after a day, evicted ones after an hour, none of an unfinished Job, only in labelled namespaces', () => {
  const pods: readonly Pod[] = [
    ['Delete Expired', 'old', 25 * hours, { controller: owner('Job', 'done') }],
    ['Keep TooYoung', 'young', 23 * hours, { controller: owner('Job', 'done') }],
    ['Delete Expired', 'evicted', 2 * hours, { phase: 'Failed', reason: 'Evicted' }],
    ['Keep TooYoung', 'failed', 2 * hours, { phase: 'Failed' }],
    ['Keep JobUnfinished', 'first-try', 2 * days, { controller: owner('Job', 'running'), phase: 'Failed' }],
    ['Keep NoPolicy', 'elsewhere', 9 * days, { namespace: 'web' }],
  ];
  const labelledNamespaces = [namespaceOf('jobs', { workload: 'batch' }), namespaceOf('web')];
  const jobs = [job('done', true), job('running', false)];
  expect(verdicts('batch-pods', { pods: finished(pods), jobs, labelledNamespaces })).toEqual(named(pods));
});

test('ci-runners: deletes successful runners after an hour or their own shorter time, failed ones after a working day, other pods never', () => {
  const labels = { 'app.kubernetes.io/component': 'runner' };
  const pods: readonly Pod[] = [
    ['Delete Expired', 'done', 2 * hours, { labels }],
    ['Keep TooYoung', 'just-done', 30, { labels }],
    ['Delete Expired', 'hasty', 30, { labels, ttlAnnotation: '5m' }],
    ['Delete Expired', 'lazy', 2 * hours, { labels, ttlAnnotation: '48h' }],
    ['Keep TooYoung', 'failed', 2 * hours, { labels, phase: 'Failed' }],
    ['Delete Expired', 'failed-yesterday', days, { labels, phase: 'Failed' }],
    ['Keep NoPolicy', 'other', 9 * days],
  ];
  expect(verdicts('ci-runners', { pods: finished(pods) })).toEqual(named(pods));
});

test('ci-runners: removes images unused for three days, those of builds after one; keeps base images and new ones', () => {
  const images: readonly UnusedImage[] = [
    ['Keep KeepListed', 'registry.example.com/base/golang:1', 2, 30 * days],
    ['Remove Age', 'registry.example.com/app:build-1', 2, 4 * days],
    ['Remove Age', 'registry.example.com/ci/app:1', 1, 1.5 * days],
    ['Keep TargetMet', 'registry.example.com/ci/app:2', 1, hours / 2],
    ['Remove Space', 'registry.example.com/app:build-2', 20, 2 * days],
    ['Keep TargetMet', 'registry.example.com/app:build-3', 2, hours],
    ['Keep TooYoung', 'registry.example.com/app:build-4', 2, 5, 5],
  ];
  const given = { ...labelledNode('node.example.com/role', 'ci'), part: withImages(78, images) };
  expect(verdicts('ci-runners', given)).toEqual(named(images));
});

test('gpu-nodes: over 80 %: removes the longest unused first, two per pass; keeps base images, servers and images of today', () => {
  const gpuNode = labelledNode('nvidia.com/gpu.present', 'true');
  const images: readonly UnusedImage[] = [
    ['Keep KeepListed', 'nvcr.io/nvidia/pytorch:25.01', 20, 60 * days],
    ['Keep KeepListed', 'registry.example.com:5000/base/cuda:12', 10, 60 * days],
    ['Keep KeepListed', 'registry.example.com/serving/llm:3', 15, 60 * days],
    ['Remove Space', 'registry.example.com/train:a', 5, 5 * days],
    ['Remove Space', 'registry.example.com/train:b', 5, 4 * days],
    ['Keep PacingLimit', 'registry.example.com/train:c', 5, 3 * days],
    ['Keep TooYoung', 'registry.example.com/train:retry', 5, 5 * hours, 5 * hours],
  ];
  expect(verdicts('gpu-nodes', { ...gpuNode, part: withImages(82, images) })).toEqual(named(images));
});

test('edge-nodes: removes images from 70 % down to 55 %, never those of the site’s core, and none by age', () => {
  const north = labelledNode('node.example.com/site', 'north');
  const images: readonly UnusedImage[] = [
    ['Keep KeepListed', 'registry.example.com/site-core/broker:1', 5, 60 * days],
    ['Remove Space', 'registry.example.com/app:v1', 20, 60 * days],
    ['Keep TargetMet', 'registry.example.com/app:v2', 5, 2 * days],
  ];
  const below = Object.values(verdicts('edge-nodes', { ...north, part: withImages(69, images) }));
  expect(below.filter((one) => one.startsWith('Remove'))).toEqual([]);
  expect(verdicts('edge-nodes', { ...north, part: withImages(71, images) })).toEqual(named(images));
});
