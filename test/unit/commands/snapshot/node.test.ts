import { beforeEach, describe, expect, test } from 'vitest';
import { findLeftovers } from '../../../../src/agent/leftovers/find.ts';
import { imageSpace } from '../../../../src/agent/imagegc/space.ts';
import { NodeSnapshot, type NodePartDeps } from '../../../../src/commands/snapshot/node.ts';
import type { FoundOrphan, OrphansFound } from '../../../../src/node/storage/orphans-finder.ts';
import { nodeFolderIn } from '../../../../src/snapshot/node-folder.ts';
import { Field } from '../../../../src/snapshot/field.ts';
import type { NodePodFacts } from '../../../../src/kube/cache/node-pods.ts';
import type { CheckpointListing } from '../../../../src/node/storage/checkpoints.ts';
import type { LogListing } from '../../../../src/node/logs/list.ts';
import { boundPod } from '../facts.ts';
import { container, FakeRuntime, image, sandbox } from '../../../fakes/runtime.ts';
import { blob, lease, nothing } from '../../agent/stored.ts';

const never = new AbortController().signal;
const at = Date.parse('2026-01-15T12:00:00Z');
const seen = { firstDetectedMs: at, lastUsedMs: undefined };
const state = { images: new Map([['sha256:a', seen]]), removed: [] };
const disk = { capacityBytes: 1000, availableBytes: 400, inodes: 10, inodesFree: 5 };

const secret = 'hunter2';
const usage = { time: '2026-01-15T11:59:00Z', usedBytes: 7, inodesUsed: 2 };
const memory = { time: usage.time, availableBytes: 5, workingSetBytes: 6 };
/** A kubelet's summary: older values of the disk, and fields that a snapshot must not contain. */
const summary = {
  node: {
    nodeName: 'node-1',
    systemContainers: [{ name: secret }],
    fs: { ...disk, capacityBytes: 5000 },
    memory: { ...memory, rssBytes: 1 },
    runtime: { imageFs: { ...disk, availableBytes: 1, time: usage.time }, containerFs: { ...disk } },
  },
  pods: [
    {
      podRef: { name: 'web', namespace: 'default', uid: 'uid-web' },
      network: { name: secret },
      memory: { ...memory, pageFaults: 1 },
      'ephemeral-storage': usage,
      volume: [
        { name: 'tmp', ...usage, inodes: 1 },
        { name: 'claim', ...usage, pvcRef: { name: secret, namespace: 'default' } },
      ],
      containers: [{ name: 'main', rootfs: usage, logs: usage, userDefinedMetrics: [{ name: secret }] }],
    },
  ],
};

const answer = (content: unknown): Pick<NodePartDeps, 'readSummary'> => ({
  readSummary: () => Promise.resolve(Buffer.from(JSON.stringify(content))),
});
/** Logs of these entries and directories. */
const logsOf = (over: Partial<LogListing>): Pick<NodePartDeps, 'logs'> => ({
  logs: {
    list: () =>
      Promise.resolve({
        roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
        ...{ entries: [], directories: [], complete: true },
        ...over,
      }),
  },
});
const checkpoints: CheckpointListing = {
  files: [
    { path: '/kubelet/checkpoints/a.tar', isFile: true, bytes: 4096, writtenMs: at },
    { path: '/kubelet/checkpoints/link', isFile: false, bytes: 0, writtenMs: at },
  ],
  ...{ complete: true, isReadOnly: true, isApart: false },
};
/** What pods that the runtime does not know have left. */
const orphansOf = (found: Partial<OrphansFound>): NodePartDeps['orphans'] => ({
  list: () => Promise.resolve({ podDirectories: [], logDirectories: [], podCgroups: undefined }),
  inspect: (_, { sandboxes }) => {
    expect(sandboxes).toEqual(runtime.sandboxes);
    const nothing = { podDirectories: undefined, logDirectories: undefined, podCgroups: undefined };
    return Promise.resolve({ ...nothing, ...found });
  },
});
const noKubelet = { readSummary: () => Promise.reject(new Error('cannot reach the kubelet')) };
let runtime: FakeRuntime;
let warnings: string[];
beforeEach(() => {
  runtime = new FakeRuntime();
  runtime.filesystems = {
    images: [{ mountpoint: '/images', usedBytes: 300, inodesUsed: 3 }],
    containers: [],
  };
  runtime.pauseImage = 'registry.k8s.io/pause:3.10';
  runtime.add(image('a'), container('a', { pod: 'web' }), sandbox('web'));
  warnings = [];
});

/** The files of a snapshot. */
async function taken(over: Partial<NodePartDeps> = {}): Promise<Record<string, unknown>> {
  const node = new NodeSnapshot({
    ...{ name: 'node-1', runtime, kubeletRoot: '/kubelet' },
    statFs: (path) => Promise.resolve(path === '/images' ? disk : { ...disk, capacityBytes: 5000 }),
    containerd: { read: () => Promise.resolve(undefined), measure: () => Promise.resolve(new Map()) },
    ...logsOf({}),
    orphans: orphansOf({}),
    checkpoints: { list: () => Promise.resolve(checkpoints) },
    readState: () => Promise.resolve({ kind: 'read', state }),
    ...answer(summary),
    warn: (line) => warnings.push(line),
    ...over,
  });
  await node.read(never);
  const files: Record<string, unknown> = {};
  const write = (file: string, content: string): Promise<void> => {
    files[file.replace('nodes/node-1/', '')] = JSON.parse(content);
    return Promise.resolve();
  };
  await node.write(write);
  return files;
}

test('writes all files of a node', async () => {
  const mtimeMs = at + 0.25;
  const files = await taken(
    logsOf({
      roots: { pods: '/p', containers: '/c' },
      entries: [
        { path: '/p/a/main/0.log', bytes: 5, mtimeMs },
        { path: '/c/a.log', bytes: 0, mtimeMs: at, target: '/p/a/main/0.log' },
      ],
      directories: ['/p/a', '/p/empty'],
    }),
  );
  const written = Object.keys(files)
    .toSorted()
    .map((file) => `# ${file}\n\n${JSON.stringify(files[file], undefined, 2)}\n`);
  await expect(written.join('\n')).toMatchFileSnapshot('./__snapshots__/node.txt');
  expect(written.join('')).not.toContain(secret);
  expect(warnings).toEqual([]);
});

const unreadable = new Error('listing logs', { cause: new Error('EACCES') });
const stateOf = (read: Awaited<ReturnType<NodePartDeps['readState']>>): Partial<NodePartDeps> => ({
  readState: () => Promise.resolve(read),
});
const hangs = { statFs: () => Promise.reject(new Error('reading the file system of /images')) };

test.each<readonly [string, Partial<NodePartDeps>, missing: readonly string[], warnings: readonly string[]]>([
  [
    'too many logs',
    logsOf({ complete: false }),
    ['logs.json'],
    ['not all logs could be listed; logs.json is left out'],
  ],
  [
    'logs that cannot be read',
    { logs: { list: () => Promise.reject(unreadable) } },
    ['logs.json', 'loglisting.json'],
    ['listing logs: EACCES; logs.json is left out'],
  ],
  ['no state file', stateOf({ kind: 'missing' }), ['state.json'], []],
  [
    'a broken state file',
    stateOf({ kind: 'startOver', reason: 'is not a JSON object' }),
    ['state.json'],
    ["the agent's state file is not a JSON object; state.json is left out"],
  ],
  [
    'a disk that hangs',
    hangs,
    [],
    ["reading the file system of /images; stats.json has the kubelet's values of the image file system"],
  ],
])('%s: writes the other files, with a warning', async (_, over, missing, expected) => {
  const files = await taken(over);
  expect(Object.keys(files)).toHaveLength(11 - missing.length);
  for (const file of missing) expect(files).not.toHaveProperty([file]);
  expect(warnings).toEqual(expected.map((warning) => `node node-1: ${warning}`));
});

test('writes which bytes the images share, as its reader reads them', async () => {
  const labels = { 'io.cri-containerd.pinned': 'pinned', 'gc.dustpan.dev/pinned': 'nodes' };
  const name = { name: 'sha256:a', target: 'blob', labels };
  const kind = { 'io.cri-containerd.kind': 'sandbox' };
  const pause = { id: 's', snapshotter: 'overlayfs', snapshotKey: 's', image: 'sha256:a', labels: kind };
  const containers = [pause];
  const stored = { images: [name], snapshots: [], leases: [], containers, sandboxes: [], ingests: [] };
  const source = { 'containerd.io/distribution.source.registry.test': 'big' };
  const pulled = { sizeBytes: 1, createdAtSeconds: 0, labels: source };
  const blobs = [
    { digest: 'blob', sizeBytes: 1, createdAtSeconds: 0, labels: {} },
    { ...pulled, digest: 'manifest', layers: [{ digest: 'layer', sizeBytes: 7 }] },
  ];
  const store = new Map([
    ['k8s.io', { ...stored, blobs }],
    ['moby', { ...stored, blobs }],
  ]);
  runtime.add(image('b'));
  const files = await taken({
    containerd: { read: () => Promise.resolve(store), measure: () => Promise.resolve(new Map()) },
  });
  const folder = { name: 'node-1', pods: [], needsUsage: false };
  const content = new Field('a.json', '', { imagespace: files['imagespace.json'] });
  const { images, shares, pulls, ...marks } = imageSpace(store, runtime.images, new Date());
  expect(marks).toMatchObject({
    ownPins: new Map([['sha256:a', 'nodes']]),
    sandboxImages: new Set(['sha256:a']),
  });
  const { ownPins, sandboxImages } = marks;
  const written = shares.map((share) => ({ ...share, packedBytes: undefined }));
  expect(pulls).toMatchObject([{ repositories: ['registry.test/big'], totalBytes: 7 }]);
  expect(nodeFolderIn(content, folder).part.space).toEqual({
    pulls: pulls?.map((pull) => ({ ...pull, leaseIds: undefined })),
    images,
    ownPins,
    sandboxImages,
    shares: written,
  });
  const wrong = new Field('a.json', '', { imagespace: { images: [], shares: [{ images: [0], bytes: 1 }] } });
  expect(() => nodeFolderIn(wrong, folder)).toThrow(/must be the place of one of 0 images, is 0/);
});

test('writes what containerd keeps for nobody, as its reader reads it', async () => {
  const undated = { ...lease('undated', 'content', 'b'), createdAtSeconds: 0 };
  const leases = [lease('left', 'content', 'b'), lease('f'.repeat(64), 'content', 'b'), undated];
  const stored = { ...nothing, leases, blobs: [blob('b', 20)] };
  const read = () => Promise.resolve(new Map([['k8s.io', stored]]));
  const files = await taken({ containerd: { read, measure: () => Promise.resolve(new Map()) } });
  const source = { name: 'node-1', pods: [], needsUsage: false };
  const readBack = (leftovers: unknown) =>
    nodeFolderIn(new Field('a.json', '', { leftovers }), source).part.leftovers;
  const { leftovers } = findLeftovers(await read(), { owners: new Set(), now: new Date() });
  expect(leftovers.map(({ obstacle }) => obstacle)).toEqual([undefined, 'SandboxUnknown', undefined]);
  expect(leftovers.map(({ sinceMs }) => sinceMs)).toEqual([1000, 1000, undefined]);
  expect(readBack(files['leftovers.json'])).toEqual(leftovers);
  expect(() => readBack([{ ...leftovers[0], obstacle: 'Later' }])).toThrow(/must be one of HeldByOther/);
});

test('writes the devices of the file systems, so that two of one size are two', async () => {
  const numbers: Readonly<Record<string, number>> = { '/kubelet': 1, '/images': 2 };
  const statFs: NodePartDeps['statFs'] = (path) => Promise.resolve({ ...disk, device: numbers[path] });
  const files = await taken({ statFs });
  expect(files['devices.json']).toEqual({ kubeletRoot: 1, imageFs: 2, containerFs: 2 });
});

test.each([
  ['a kubelet that does not answer', noKubelet, 'cannot reach the kubelet'],
  [
    'a response that is not JSON',
    { readSummary: () => Promise.resolve(Buffer.from('<html>')) },
    'is not a stats summary',
  ],
])('%s: writes the disks, without pods', async (_, over, warning) => {
  const files = await taken(over);
  const fs = { ...disk, capacityBytes: 5000 };
  expect(files['stats.json']).toEqual({
    node: { nodeName: 'node-1', fs, runtime: { imageFs: { ...disk, usedBytes: 300, inodesUsed: 3 } } },
  });
  expect(warnings).toEqual([expect.stringMatching(`${warning}.*; stats.json lacks the usage of pods$`)]);
});

test.each(['listImages', 'listContainers', 'listSandboxes'] as const)(
  'rejects when the runtime fails at %s',
  async (call) => {
    runtime.fail(call);
    await expect(taken()).rejects.toThrow(call);
  },
);

test('lists images, then containers, then sandboxes', async () => {
  await taken();
  expect(runtime.calls.filter((call) => call.startsWith('list'))).toEqual([
    ...['listImages', 'listContainers', 'listSandboxes'],
  ]);
});

test('writes the images that containers have mounted, of exited ones too', async () => {
  runtime.add(container('b', { pod: 'done', state: 'Exited' }));
  for (const id of ['a', 'b']) runtime.statuses.set(id, { mountedImages: [`sha256:model-${id}`] });
  const files = await taken();
  const { containers } = files['containers.json'] as { containers: Record<string, unknown>[] };
  expect(containers.map(({ mountedImages }) => mountedImages)).toEqual([
    ['sha256:model-a'],
    ['sha256:model-b'],
  ]);
});

const read = (files: Record<string, unknown>, pods: readonly NodePodFacts[] | undefined = []) => {
  const content = Object.fromEntries(
    Object.entries(files).map(([file, value]) => [file.replace('.json', ''), value]),
  );
  const source = { name: 'node-1', pods, needsUsage: false };
  return nodeFolderIn(new Field('pod', '', content), source).part;
};

test('checkpoints are read again as they were found; those that cannot be read are unknown', async () => {
  expect(read(await taken()).checkpoints).toEqual(checkpoints);
  const failing = { list: () => Promise.reject(new Error('a disk hangs')) };
  expect(read(await taken({ checkpoints: failing })).checkpoints).toBeUndefined();
  expect(warnings).toEqual(['node node-1: a disk hangs; checkpoints.json is left out']);
});

describe('orphaned resources', () => {
  const left = (podUid: string, over: Partial<FoundOrphan> = {}): FoundOrphan => ({
    ...{ path: `/var/lib/kubelet/pods/${podUid}`, podUid, sinceMs: at, bytes: 7, obstacle: undefined },
    ...{ holders: [], volumeDataMs: undefined },
    ...over,
  });
  const found: OrphansFound = {
    podDirectories: [
      left('gone'),
      left('mounted', {
        obstacle: 'Mounted',
        holders: ['/var/lib/kubelet/pods/mounted/v'],
        sinceMs: undefined,
      }),
      left('here', { volumeDataMs: at }),
    ],
    logDirectories: [left('gone', { path: '/var/log/pods/a_b_gone' })],
    podCgroups: undefined,
  };

  test('are read again as they were found, without those of pods that the API server lists', async () => {
    const files = await taken({ orphans: orphansOf(found) });
    const { orphans } = read(files, [{ ...boundPod('here'), uid: 'here' }]);
    expect(orphans).toEqual({
      ...found,
      podDirectories: found.podDirectories?.slice(0, 2),
      logDirectories: undefined,
    });
    expect(read(files, undefined).orphans?.podDirectories).toHaveLength(3);
  });

  test.each(['list', 'inspect'])('are left out with a warning when they cannot be read: %s', async (call) => {
    const failing = { ...orphansOf(found), [call]: () => Promise.reject(new Error('a disk hangs')) };
    const files = await taken({ orphans: failing });
    expect(read(files).orphans).toBeUndefined();
    expect(warnings).toEqual(['node node-1: a disk hangs; orphans.json is left out']);
  });

  test.each<[name: string, one: object, problem: string]>([
    ['an obstacle that this version does not know', { obstacle: 'Frozen' }, 'must be one of Mounted, '],
    ['a relative path', { path: 'pods/x' }, 'must be an absolute path'],
    ['no UID', { podUid: '' }, 'must not be empty'],
    ['a time that is none', { since: 'once' }, 'must be an RFC 3339 time'],
  ])('with %s are bad input', (_, over, problem) => {
    const one = { path: '/pods/x', podUid: 'x', bytes: 1, ...over };
    expect(() => read({ 'orphans.json': { podDirectories: [one] } })).toThrow(problem);
  });
});
