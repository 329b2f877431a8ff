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

/** The verdict and reason for every pod and image of the plan, by name. */
async function verdicts(example: string): Promise<Readonly<Record<string, string>>> {
  const plan = await planned([
    `--policy=${join(folder, example)}`,
    `--snapshot=${input.path('snapshot')}`,
    `--now=${now.toISOString()}`,
    '--kept',
  ]);
  expect(plan.decisions.every(({ policy, mode }) => policy === null || mode === 'DryRun')).toBe(true);
  return Object.fromEntries(
    plan.decisions
      .filter(({ unit }) => unit === 'podgc' || unit === 'imagegc')
      .map(({ object, verdict, reason }) => [object.name ?? '', `${verdict} ${reason}`] as const),
  );
}

interface FinishedPod {
  readonly name: string;
  readonly finishedMinutes: number;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly job?: string;
  readonly phase?: 'Succeeded' | 'Failed';
  readonly reason?: string;
}

const finished = ({
  name,
  finishedMinutes,
  namespace = 'jobs',
  labels,
  annotations,
  job,
  ...rest
}: FinishedPod): object => ({
  apiVersion: 'v1',
  metadata: {
    name,
    namespace,
    uid: `uid-${name}`,
    creationTimestamp: rfc3339(finishedMinutes + 5),
    labels,
    annotations,
    ...(job !== undefined && {
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: job, uid: `uid-${job}`, controller: true },
      ],
    }),
  },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example.com/app:v1' }] },
  status: {
    phase: rest.phase ?? 'Succeeded',
    reason: rest.reason,
    containerStatuses: [
      { name: 'main', state: { terminated: { exitCode: 0, finishedAt: rfc3339(finishedMinutes) } } },
    ],
  },
});

const job = (name: string, conditions: readonly object[]): object => ({
  apiVersion: 'batch/v1',
  metadata: { name, namespace: 'jobs', uid: `uid-${name}`, creationTimestamp: rfc3339(3 * days) },
  status: { conditions },
});

const namespace = (name: string, labels: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: 'v1',
  metadata: { name, uid: `uid-${name}`, creationTimestamp: rfc3339(90 * days), labels },
});

const node = (labels: Readonly<Record<string, string>>): object => ({
  apiVersion: 'v1',
  metadata: { name: 'node-1', uid: 'uid-node-1', creationTimestamp: rfc3339(90 * days), labels },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});

function writeCluster(cluster: {
  readonly pods?: readonly object[];
  readonly jobs?: readonly object[];
  readonly namespaces?: readonly object[];
  readonly nodeLabels?: Readonly<Record<string, string>>;
}): void {
  input.write('snapshot/pods.json', list('Pod', cluster.pods ?? []));
  input.write('snapshot/jobs.json', list('Job', cluster.jobs ?? []));
  input.write('snapshot/replicasets.json', list('ReplicaSet', []));
  input.write('snapshot/namespaces.json', list('Namespace', cluster.namespaces ?? [namespace('jobs')]));
  input.write('snapshot/nodes.json', list('Node', [node(cluster.nodeLabels ?? {})]));
}

interface UnusedImage {
  readonly tag: string;
  readonly gib: number;
  readonly unusedMinutes: number;
  /** Default: 90 days. */
  readonly pulledMinutes?: number;
}

/** Writes a node with unused images, whose image file system of 100 GiB is this full. */
function writeImages(usedPercent: number, images: readonly UnusedImage[]): void {
  const idOf = (index: number): string => `sha256:${String(index).padStart(64, '0')}`;
  const capacityBytes = 100 * gib;
  const availableBytes = capacityBytes - usedPercent * gib;
  const imageFs = { time: now.toISOString(), capacityBytes, availableBytes, usedBytes: usedPercent * gib };
  const at = (name: string): string => `snapshot/nodes/node-1/${name}.json`;
  input.write(at('images'), {
    images: images.map(({ tag, gib: size }, index) => ({
      id: idOf(index),
      repoTags: [tag],
      repoDigests: [],
      size: String(size * gib),
      pinned: false,
    })),
  });
  input.write(at('containers'), { containers: [] });
  input.write(at('sandboxes'), { items: [] });
  input.write(at('stats'), { node: { nodeName: 'node-1', fs: imageFs, runtime: { imageFs } }, pods: [] });
  input.write(at('state'), {
    version: 1,
    images: Object.fromEntries(
      images.map(({ unusedMinutes, pulledMinutes = 90 * days }, index) => [
        idOf(index),
        { firstDetected: rfc3339(pulledMinutes), lastUsed: rfc3339(unusedMinutes) },
      ]),
    ),
    removed: [],
  });
}

test('there is one example for each of five typical clusters', () => {
  expect(readdirSync(folder).sort()).toEqual([
    'batch-pods.yaml',
    'ci-runners.yaml',
    'dry-run.yaml',
    'edge-nodes.yaml',
    'gpu-nodes.yaml',
  ]);
});

test('batch-pods: deletes pods after a day, evicted ones after an hour, none of an unfinished Job, only in labelled namespaces', async () => {
  writeCluster({
    namespaces: [namespace('jobs', { workload: 'batch' }), namespace('web')],
    jobs: [job('done', [{ type: 'Complete', status: 'True' }]), job('running', [])],
    pods: [
      finished({ name: 'old', finishedMinutes: 25 * hours, job: 'done' }),
      finished({ name: 'young', finishedMinutes: 23 * hours, job: 'done' }),
      finished({ name: 'evicted', finishedMinutes: 2 * hours, phase: 'Failed', reason: 'Evicted' }),
      finished({ name: 'failed', finishedMinutes: 2 * hours, phase: 'Failed' }),
      finished({ name: 'first-try', finishedMinutes: 2 * days, job: 'running', phase: 'Failed' }),
      finished({ name: 'elsewhere', finishedMinutes: 9 * days, namespace: 'web' }),
    ],
  });
  expect(await verdicts('batch-pods.yaml')).toEqual({
    old: 'Delete Expired',
    young: 'Keep TooYoung',
    evicted: 'Delete Expired',
    failed: 'Keep TooYoung',
    'first-try': 'Keep JobUnfinished',
    elsewhere: 'Keep NoPolicy',
  });
});

describe('ci-runners', () => {
  test('deletes successful runners after an hour or their own shorter time, failed ones after a working day, other pods never', async () => {
    const own = (value: string) => ({ annotations: { 'gc.dustpan.dev/ttl-after-finished': value } });
    const labels = { 'app.kubernetes.io/component': 'runner' };
    writeCluster({
      pods: [
        finished({ name: 'done', finishedMinutes: 2 * hours, labels }),
        finished({ name: 'just-done', finishedMinutes: 30, labels }),
        finished({ name: 'hasty', finishedMinutes: 30, labels, ...own('5m') }),
        finished({ name: 'lazy', finishedMinutes: 2 * hours, labels, ...own('48h') }),
        finished({ name: 'failed', finishedMinutes: 2 * hours, labels, phase: 'Failed' }),
        finished({ name: 'failed-yesterday', finishedMinutes: days, labels, phase: 'Failed' }),
        finished({ name: 'other', finishedMinutes: 9 * days }),
      ],
    });
    expect(await verdicts('ci-runners.yaml')).toEqual({
      done: 'Delete Expired',
      'just-done': 'Keep TooYoung',
      hasty: 'Delete Expired',
      lazy: 'Delete Expired',
      failed: 'Keep TooYoung',
      'failed-yesterday': 'Delete Expired',
      other: 'Keep NoPolicy',
    });
  });

  test('removes images unused for three days, those of builds after one; keeps base images and new ones', async () => {
    writeCluster({ nodeLabels: { 'node.example.com/role': 'ci' } });
    writeImages(78, [
      { tag: 'registry.example.com/base/golang:1', gib: 2, unusedMinutes: 30 * days },
      { tag: 'registry.example.com/app:build-1', gib: 2, unusedMinutes: 4 * days },
      { tag: 'registry.example.com/ci/app:1', gib: 1, unusedMinutes: 1.5 * days },
      { tag: 'registry.example.com/ci/app:2', gib: 1, unusedMinutes: hours / 2 },
      { tag: 'registry.example.com/app:build-2', gib: 20, unusedMinutes: 2 * days },
      { tag: 'registry.example.com/app:build-3', gib: 2, unusedMinutes: hours },
      { tag: 'registry.example.com/app:build-4', gib: 2, unusedMinutes: 5, pulledMinutes: 5 },
    ]);
    expect(await verdicts('ci-runners.yaml')).toEqual({
      'registry.example.com/base/golang:1': 'Keep KeepListed',
      'registry.example.com/app:build-1': 'Remove Age',
      'registry.example.com/ci/app:1': 'Remove Age',
      'registry.example.com/ci/app:2': 'Keep TargetMet',
      'registry.example.com/app:build-2': 'Remove Space',
      'registry.example.com/app:build-3': 'Keep TargetMet',
      'registry.example.com/app:build-4': 'Keep TooYoung',
    });
  });
});

describe('gpu-nodes', () => {
  const gpu = { 'nvidia.com/gpu.present': 'true' };
  const images: readonly UnusedImage[] = [
    { tag: 'nvcr.io/nvidia/pytorch:25.01', gib: 20, unusedMinutes: 60 * days },
    { tag: 'registry.example.com:5000/base/cuda:12', gib: 10, unusedMinutes: 60 * days },
    { tag: 'registry.example.com/serving/llm:3', gib: 15, unusedMinutes: 60 * days },
    { tag: 'registry.example.com/train:a', gib: 5, unusedMinutes: 5 * days },
    { tag: 'registry.example.com/train:b', gib: 5, unusedMinutes: 4 * days },
    { tag: 'registry.example.com/train:c', gib: 5, unusedMinutes: 3 * days },
    { tag: 'registry.example.com/train:retry', gib: 5, unusedMinutes: 5 * hours, pulledMinutes: 5 * hours },
  ];

  test('over 80 %: removes the longest unused first, two per pass; keeps base images, servers and images of today', async () => {
    writeCluster({ nodeLabels: gpu });
    writeImages(82, images);
    expect(await verdicts('gpu-nodes.yaml')).toEqual({
      'nvcr.io/nvidia/pytorch:25.01': 'Keep KeepListed',
      'registry.example.com:5000/base/cuda:12': 'Keep KeepListed',
      'registry.example.com/serving/llm:3': 'Keep KeepListed',
      'registry.example.com/train:a': 'Remove Space',
      'registry.example.com/train:b': 'Remove Space',
      'registry.example.com/train:c': 'Keep PacingLimit',
      'registry.example.com/train:retry': 'Keep TooYoung',
    });
  });

  test('below 80 %: removes only images unused for two weeks, and none on other nodes', async () => {
    const old = { tag: 'registry.example.com/train:old', gib: 5, unusedMinutes: 15 * days };
    writeImages(60, [old, { ...old, tag: 'registry.example.com/train:used', unusedMinutes: 13 * days }]);
    writeCluster({ nodeLabels: gpu });
    expect(await verdicts('gpu-nodes.yaml')).toEqual({
      'registry.example.com/train:old': 'Remove Age',
      'registry.example.com/train:used': 'Keep BelowThreshold',
    });
    writeCluster({ nodeLabels: {} });
    expect(Object.values(await verdicts('gpu-nodes.yaml'))).not.toContain('Remove Age');
  });
});

test('edge-nodes: removes images from 70 % down to 55 %, never those of the site’s core, and none by age', async () => {
  writeCluster({ nodeLabels: { 'node.example.com/site': 'north' } });
  const images = [
    { tag: 'registry.example.com/site-core/broker:1', gib: 5, unusedMinutes: 60 * days },
    { tag: 'registry.example.com/app:v1', gib: 20, unusedMinutes: 60 * days },
    { tag: 'registry.example.com/app:v2', gib: 5, unusedMinutes: 2 * days },
  ];
  writeImages(69, images);
  expect(Object.values(await verdicts('edge-nodes.yaml')).filter((one) => one.startsWith('Remove'))).toEqual(
    [],
  );
  writeImages(71, images);
  expect(await verdicts('edge-nodes.yaml')).toEqual({
    'registry.example.com/site-core/broker:1': 'Keep KeepListed',
    'registry.example.com/app:v1': 'Remove Space',
    'registry.example.com/app:v2': 'Keep TargetMet',
  });
});

test('dry-run: plans pods and images, everywhere', async () => {
  writeCluster({
    pods: [
      finished({ name: 'old', finishedMinutes: 25 * hours }),
      finished({ name: 'young', finishedMinutes: 23 * hours }),
    ],
  });
  writeImages(60, [
    { tag: 'registry.example.com/app:v1', gib: 5, unusedMinutes: 31 * days },
    { tag: 'registry.example.com/app:v2', gib: 5, unusedMinutes: 29 * days },
  ]);
  expect(await verdicts('dry-run.yaml')).toEqual({
    old: 'Delete Expired',
    young: 'Keep TooYoung',
    'registry.example.com/app:v1': 'Remove Age',
    'registry.example.com/app:v2': 'Keep BelowThreshold',
  });
});
