import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { minutesAgo, now } from '../../builders.ts';
import { list, planned, inputOfEachTest } from './plan/fixture.ts';

/** Checks the description of each file in examples/ with a small snapshot. */
const folder = join(process.cwd(), 'examples');
const hours = 60;
const days = 24 * hours;
const gib = 1024 ** 3;

const input = inputOfEachTest();

const rfc3339 = (minutes: number): string => new Date(minutesAgo(minutes)).toISOString().replace('.000', '');

/** Expects the verdicts and reasons of these pods and images, and of no others, in the plan. */
async function expectVerdicts(example: string, ...rows: readonly (Pod | UnusedImage)[]): Promise<void> {
  const expected = Object.fromEntries(rows.map(([verdict, name]) => [name, verdict]));
  expect(await verdicts(example)).toEqual(expected);
}

async function verdicts(example: string): Promise<Readonly<Record<string, string>>> {
  const files = [`--policy=${join(folder, example)}`, `--snapshot=${input.path('snapshot')}`];
  const plan = await planned([...files, `--now=${now.toISOString()}`, '--kept']);
  expect(plan.decisions.every(({ policy, mode }) => policy === null || mode === 'DryRun')).toBe(true);
  return Object.fromEntries(
    plan.decisions
      .filter(({ unit }) => unit === 'podgc' || unit === 'imagegc')
      .map(({ object, verdict, reason }) => [object.name ?? '', `${verdict} ${reason}`] as const),
  );
}

interface FinishedPod {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly job?: string;
  readonly phase?: 'Succeeded' | 'Failed';
  readonly reason?: string;
}

/** The verdict, its name, and how many minutes ago it finished: in namespace jobs, unless it says otherwise. */
type Pod = readonly [verdict: string, name: string, minutes: number, given?: FinishedPod];

function finished([, name, minutes, given = {}]: Pod): object {
  const { namespace = 'jobs', labels, annotations, job, phase = 'Succeeded', reason } = given;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: job, uid: `uid-${job ?? ''}`, controller: true };
  const terminated = { exitCode: 0, finishedAt: rfc3339(minutes) };
  return {
    ...object(name, minutes + 5, { namespace, labels, annotations, ownerReferences: job ? [owner] : [] }),
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example.com/app:v1' }] },
    status: { phase, reason, containerStatuses: [{ name: 'main', state: { terminated } }] },
  };
}

const object = (name: string, minutes: number, metadata: object) => ({
  metadata: { name, uid: `uid-${name}`, creationTimestamp: rfc3339(minutes), ...metadata },
});
const job = (name: string, conditions: readonly object[]): object => ({
  ...object(name, 3 * days, { namespace: 'jobs' }),
  status: { conditions },
});
const namespace = (name: string, labels: object = {}): object => object(name, 90 * days, { labels });

function writeCluster(cluster: {
  readonly pods?: readonly Pod[];
  readonly jobs?: readonly object[];
  readonly namespaces?: readonly object[];
  readonly nodeLabels?: object;
}): void {
  const node = object('node-1', 90 * days, { labels: cluster.nodeLabels });
  input.write('snapshot/pods.json', list('Pod', (cluster.pods ?? []).map(finished)));
  input.write('snapshot/jobs.json', list('Job', cluster.jobs ?? []));
  input.write('snapshot/replicasets.json', list('ReplicaSet', []));
  input.write('snapshot/namespaces.json', list('Namespace', cluster.namespaces ?? [namespace('jobs')]));
  input.write('snapshot/nodes.json', list('Node', [node]));
}

/** The verdict, its name, its size in GiB, the minutes without use, and since it was pulled: by default 90 days. */
type UnusedImage = readonly [verdict: string, tag: string, gib: number, unused: number, pulled?: number];

/** Writes a node with unused images, whose image file system of 100 GiB is this full. */
function writeImages(usedPercent: number, images: readonly UnusedImage[]): void {
  const idOf = (index: number): string => `sha256:${String(index).padStart(64, '0')}`;
  const sizes = { capacityBytes: 100 * gib, availableBytes: (100 - usedPercent) * gib };
  const imageFs = { time: now.toISOString(), ...sizes, usedBytes: usedPercent * gib };
  const write = (name: string, content: object): void => {
    input.write(`snapshot/nodes/node-1/${name}.json`, content);
  };
  write('images', {
    images: images.map(([, tag, size], index) => ({
      ...{ id: idOf(index), repoTags: [tag], repoDigests: [], size: String(size * gib), pinned: false },
    })),
  });
  write('containers', { containers: [] });
  write('sandboxes', { items: [] });
  write('stats', { node: { nodeName: 'node-1', fs: imageFs, runtime: { imageFs } }, pods: [] });
  const seen = images.map(([, , , unused, pulled = 90 * days], index) => {
    return [idOf(index), { firstDetected: rfc3339(pulled), lastUsed: rfc3339(unused) }] as const;
  });
  write('state', { version: 1, images: Object.fromEntries(seen), removed: [] });
}

test('there is one example for each of five typical clusters', () => {
  const names = ['batch-pods', 'ci-runners', 'dry-run', 'edge-nodes', 'gpu-nodes'];
  expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.yaml`));
});

test('batch-pods: deletes pods after a day, evicted ones after an hour, none of an unfinished Job, only in labelled namespaces', async () => {
  const pods: readonly Pod[] = [
    ['Delete Expired', 'old', 25 * hours, { job: 'done' }],
    ['Keep TooYoung', 'young', 23 * hours, { job: 'done' }],
    ['Delete Expired', 'evicted', 2 * hours, { phase: 'Failed', reason: 'Evicted' }],
    ['Keep TooYoung', 'failed', 2 * hours, { phase: 'Failed' }],
    ['Keep JobUnfinished', 'first-try', 2 * days, { job: 'running', phase: 'Failed' }],
    ['Keep NoPolicy', 'elsewhere', 9 * days, { namespace: 'web' }],
  ];
  const namespaces = [namespace('jobs', { workload: 'batch' }), namespace('web')];
  const jobs = [job('done', [{ type: 'Complete', status: 'True' }]), job('running', [])];
  writeCluster({ namespaces, jobs, pods });
  await expectVerdicts('batch-pods.yaml', ...pods);
});

test('ci-runners: deletes successful runners after an hour or their own shorter time, failed ones after a working day, other pods never', async () => {
  const own = (value: string) => ({ annotations: { 'gc.dustpan.dev/ttl-after-finished': value } });
  const labels = { 'app.kubernetes.io/component': 'runner' };
  const pods: readonly Pod[] = [
    ['Delete Expired', 'done', 2 * hours, { labels }],
    ['Keep TooYoung', 'just-done', 30, { labels }],
    ['Delete Expired', 'hasty', 30, { labels, ...own('5m') }],
    ['Delete Expired', 'lazy', 2 * hours, { labels, ...own('48h') }],
    ['Keep TooYoung', 'failed', 2 * hours, { labels, phase: 'Failed' }],
    ['Delete Expired', 'failed-yesterday', days, { labels, phase: 'Failed' }],
    ['Keep NoPolicy', 'other', 9 * days],
  ];
  writeCluster({ pods });
  await expectVerdicts('ci-runners.yaml', ...pods);
});

test('ci-runners: removes images unused for three days, those of builds after one; keeps base images and new ones', async () => {
  const images: readonly UnusedImage[] = [
    ['Keep KeepListed', 'registry.example.com/base/golang:1', 2, 30 * days],
    ['Remove Age', 'registry.example.com/app:build-1', 2, 4 * days],
    ['Remove Age', 'registry.example.com/ci/app:1', 1, 1.5 * days],
    ['Keep TargetMet', 'registry.example.com/ci/app:2', 1, hours / 2],
    ['Remove Space', 'registry.example.com/app:build-2', 20, 2 * days],
    ['Keep TargetMet', 'registry.example.com/app:build-3', 2, hours],
    ['Keep TooYoung', 'registry.example.com/app:build-4', 2, 5, 5],
  ];
  writeCluster({ nodeLabels: { 'node.example.com/role': 'ci' } });
  writeImages(78, images);
  await expectVerdicts('ci-runners.yaml', ...images);
});

describe('gpu-nodes', () => {
  const nodeLabels = { 'nvidia.com/gpu.present': 'true' };

  test('over 80 %: removes the longest unused first, two per pass; keeps base images, servers and images of today', async () => {
    const images: readonly UnusedImage[] = [
      ['Keep KeepListed', 'nvcr.io/nvidia/pytorch:25.01', 20, 60 * days],
      ['Keep KeepListed', 'registry.example.com:5000/base/cuda:12', 10, 60 * days],
      ['Keep KeepListed', 'registry.example.com/serving/llm:3', 15, 60 * days],
      ['Remove Space', 'registry.example.com/train:a', 5, 5 * days],
      ['Remove Space', 'registry.example.com/train:b', 5, 4 * days],
      ['Keep PacingLimit', 'registry.example.com/train:c', 5, 3 * days],
      ['Keep TooYoung', 'registry.example.com/train:retry', 5, 5 * hours, 5 * hours],
    ];
    writeCluster({ nodeLabels });
    writeImages(82, images);
    await expectVerdicts('gpu-nodes.yaml', ...images);
  });

  test('below 80 %: removes only images unused for two weeks, and none on other nodes', async () => {
    const images: readonly UnusedImage[] = [
      ['Remove Age', 'registry.example.com/train:old', 5, 15 * days],
      ['Keep BelowThreshold', 'registry.example.com/train:used', 5, 13 * days],
    ];
    writeImages(60, images);
    writeCluster({ nodeLabels });
    await expectVerdicts('gpu-nodes.yaml', ...images);
    writeCluster({});
    expect(Object.values(await verdicts('gpu-nodes.yaml'))).not.toContain('Remove Age');
  });
});

test('edge-nodes: removes images from 70 % down to 55 %, never those of the site’s core, and none by age', async () => {
  writeCluster({ nodeLabels: { 'node.example.com/site': 'north' } });
  const images: readonly UnusedImage[] = [
    ['Keep KeepListed', 'registry.example.com/site-core/broker:1', 5, 60 * days],
    ['Remove Space', 'registry.example.com/app:v1', 20, 60 * days],
    ['Keep TargetMet', 'registry.example.com/app:v2', 5, 2 * days],
  ];
  writeImages(69, images);
  const below = Object.values(await verdicts('edge-nodes.yaml'));
  expect(below.filter((one) => one.startsWith('Remove'))).toEqual([]);
  writeImages(71, images);
  await expectVerdicts('edge-nodes.yaml', ...images);
});

test('dry-run: plans pods and images, everywhere', async () => {
  const pods: readonly Pod[] = [
    ['Delete Expired', 'old', 25 * hours],
    ['Keep TooYoung', 'young', 23 * hours],
  ];
  const images: readonly UnusedImage[] = [
    ['Remove Age', 'registry.example.com/app:v1', 5, 31 * days],
    ['Keep BelowThreshold', 'registry.example.com/app:v2', 5, 29 * days],
  ];
  writeCluster({ pods });
  writeImages(60, images);
  await expectVerdicts('dry-run.yaml', ...pods, ...images);
});
