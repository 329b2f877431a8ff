// @bed node
import { existsSync, mkdirSync, readdirSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import type { Decision, PlanDocument } from '../../../src/evaluation/plan/document.ts';
import type { Unit } from '../../../src/gc/decision.ts';
import { everySecond, onNode, startAgent, stateFileOf } from '../agent/agent.ts';
import {
  applyPolicy,
  createPods,
  dataVolume,
  imageVolume,
  leavePhantom,
  listContainers,
  measuring,
  podManifest,
  quickRestarts,
  startQuietNode,
  uidOf,
  untilPhases,
  withStaticPods,
  writeStaticPod,
} from '../agent/environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { etcdClient } from '../servers/etcd.ts';
import { busyboxImage, tinyImages } from '../node/image.ts';
import { Plans, verdictsOf } from './plan-equality.ts';
import { kubectl, create } from '../servers/kubectl.ts';
import { waitUntil } from '../servers/waiting.ts';

const podLogs = '/var/log/pods';
const image = busyboxImage.ref;
const sleep = 'sleep 3600';
/** Fails twice, then runs. */
const crashing = `n=$(cat /data/n || echo 0); echo $((n+1)) >/data/n; [ $n -ge 2 ] && ${sleep}; exit 1`;

const volumeImage = { ref: 'bed.test/volume:1', fill: { bytes: 8e6, kind: 'random' } } as const;
const strayImage = { ref: 'bed.test/stray:1', fill: { bytes: 8e6, kind: 'random' } } as const;
const fat = { ref: 'bed.test/fat:1', fill: { bytes: 120e6, kind: 'random' } } as const;

const secret = 'hunter2';
const emptyDirectory = `${podLogs}/default_empty_9f1d7a52-1c0e-4a70-8f4e-0d2f4c1b7a11`;
/** Rules of which each has something to remove. */
const rules = {
  imageGC: { highThresholdPercent: 2, lowThresholdPercent: 1, keep: ['bed.test/fat:*'] },
  containerGC: { maxPerPodContainer: 1, logs: { maxRotatedPerContainer: 1 } },
};

/** So that some pods are over the limit, and some are not: the crashing one writes next to nothing. */
const storage = { localStorageEviction: { defaultLimits: { pod: '1Mi' }, warnAtPercent: [50] } };

/** So that all that can be removed is removed, and is not enough: no disk is so empty. */
const pressure = {
  imageGC: { highThresholdPercent: 100, lowThresholdPercent: 99, minimumAge: '0s', keep: ['bed.test/fat:*'] },
  containerGC: { maxPerPodContainer: 5 },
  nodePressure: { thresholds: { 'imagefs.available': '99%' }, evictPods: true },
};

let cluster: Cluster;
let plans: Plans;

interface Both {
  readonly live: readonly Decision[];
  readonly offline: readonly Decision[];
}
/** Both plans of local storage and of node pressure, made while the kubelet runs. */
let storagePlans: Both;
let pressurePlans: Both;
/** What an agent in mode DryRun counts as due for node pressure. */
let dueByAgent: Readonly<Record<string, number>>;

beforeAll(async () => {
  cluster = await startQuietNode({
    images: [busyboxImage, volumeImage, strayImage, fat, ...tinyImages(20)],
    config: { ...withStaticPods, ...measuring, ...quickRestarts },
  });
  await fill();
  await remember();
  const now = new Date(Date.now() + 48 * 3_600_000).toISOString().replace(/\.\d+/, '');
  plans = new Plans({
    cluster,
    source: onNode(cluster),
    planArgs: [`--now=${now}`, '--kept', '-o', 'json'],
  });
  storagePlans = await planned('localstorage', storage);
  pressurePlans = await planned('nodepressure', pressure);
  dueByAgent = await dueForPressure();
  await applyPolicy(cluster, 'DryRun', rules);
  await freeze();
});

/** Creates pods in every relevant state, and remains of pods. */
async function fill(): Promise<void> {
  await createPods(cluster, {
    crash: { image, script: crashing, ...dataVolume },
    volume: { image, script: sleep, ...imageVolume(volumeImage.ref) },
    writes: { image, script: `dd if=/dev/zero of=/data/x bs=1048576 count=3; ${sleep}`, ...dataVolume },
    stray: { image, script: sleep, ...imageVolume(strayImage.ref) },
    done: { image, script: 'echo done', restartPolicy: 'Never' },
    gone: { image, script: 'echo gone', restartPolicy: 'Never' },
    // With secrets that a snapshot must not contain.
    discreet: {
      ...{ image, script: sleep },
      annotations: { 'example.com/data': `${secret}-annotation`.repeat(20) },
      env: [{ name: 'TOKEN', value: `${secret}-env` }],
    },
  });
  const still = podManifest('still', { image, script: 'echo static', restartPolicy: 'OnFailure' });
  writeStaticPod('still', still);
  const wanted = {
    ...{ crash: 'Running', discreet: 'Running', done: 'Succeeded', gone: 'Succeeded' },
    ...{ stray: 'Running', 'still-node-a': 'Succeeded', volume: 'Running', writes: 'Running' },
  };
  await untilPhases(cluster, wanted);
  await waitUntil('the third attempt', async () =>
    (await listContainers(cluster)).some(({ name }) => name === 'crash/main/2'),
  );
}

/** Runs an agent until it has written its state file, and creates the report of another node. */
async function remember(): Promise<void> {
  await applyPolicy(cluster, 'DryRun', rules);
  const agent = await startAgent(cluster, { args: everySecond });
  await waitUntil('the state file', () => Promise.resolve(existsSync(stateFileOf(cluster))));
  await agent.stop();
  const report = {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'NodeGCReport',
    metadata: { name: 'node-b' },
  };
  const status = { reportTime: new Date().toISOString(), images: { removable: { count: 3, bytes: 4e6 } } };
  await create(cluster, report);
  const patch = ['patch', 'nodegcreport', 'node-b', '--subresource=status', '--type=merge', '-p'];
  await kubectl(cluster, [...patch, JSON.stringify({ status })]);
}

/** Repeats both plans of a unit until the kubelet responds and has not measured in between. */
async function planned(unit: Unit, nodes: object): Promise<Both> {
  const policy = join(cluster.dir, `${unit}.json`);
  const metadata = { name: unit };
  const spec = { mode: 'Enforce', nodes };
  writeFileSync(
    policy,
    JSON.stringify({ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'GCPolicy', metadata, spec }),
  );
  const of = ({ decisions }: PlanDocument): readonly Decision[] =>
    decisions.filter((one) => one.unit === unit);
  for (let attempt = 0; ; attempt += 1) {
    const only = ['--replace-policies', `--policy=${policy}`];
    const plan = await plans.live(...only);
    await plans.snapshot();
    const seen = { live: of(plan), offline: of(await plans.offline(...only)) };
    const notes = plan.notes.filter((note) => note.includes('kubelet'));
    const isMeasured = notes.length === 0 && seen.live.every(({ reason }) => reason !== 'UsageUnknown');
    if ((isMeasured && isDeepStrictEqual(seen.live, seen.offline)) || attempt === 20) {
      expect(notes).toEqual([]);
      return seen;
    }
  }
}

/** Runs an agent in mode DryRun until it has planned to remove containers and images for node pressure. */
async function dueForPressure(): Promise<typeof dueByAgent> {
  await applyPolicy(cluster, 'DryRun', pressure);
  const long = ['--image-gc-period=1h', '--container-gc-period=1h'];
  await using agent = await startAgent(cluster, { args: ['--local-storage-period=1s', ...long] });
  const due = async (unit: string): Promise<number> =>
    (await agent.sample(`dustpan_due_objects{unit="${unit}",reason="imagefs.available",mode="DryRun"}`)) ?? 0;
  const counts = async () => ({
    Container: await due('containergc'),
    Image: await due('imagegc'),
  });
  let found = await counts();
  await waitUntil('containers and images are due', async () => {
    found = await counts();
    return found.Container > 0 && found.Image > 0;
  });
  return found;
}

/** Stops all controllers; the containers keep running without a kubelet. */
async function freeze(): Promise<void> {
  for (const part of ['kubelet', 'kcm', 'sched'] as const) await cluster.kill(part);
  // While it starts, a running kubelet would end it, as it does not know it.
  await leavePhantom(cluster, image);
  const gone = await uidOf(cluster, 'gone');
  // Like a force delete: their containers still exist, one of them runs.
  for (const name of ['gone', 'stray'])
    await etcdClient(cluster.etcdUrl).remove(`/registry/pods/default/${name}`);
  mkdirSync(emptyDirectory);
  symlinkSync(`${podLogs}/default_lost_1/main/0.log`, '/var/log/containers/lost_default_main-0123456789.log');
  const logs = join(podLogs, `default_done_${await uidOf(cluster, 'done')}`, 'main');
  for (const day of [1, 2, 3]) writeFileSync(join(logs, `0.log.2026010${day}-000000`), 'rotated');
  expect(readdirSync(podLogs)).toContain(`default_gone_${gone}`);
}

const available = (): number => statfsSync('/var/lib/containerd').bavail;

/** Both plans of one moment: while the runtime writes to its disk, they are made again. */
async function both(...args: readonly string[]): Promise<{ live: PlanDocument; offline: PlanDocument }> {
  for (let attempt = 0; ; attempt += 1) {
    const before = available();
    const live = await plans.live(...args);
    await plans.snapshot();
    const isStill = available() === before;
    if (!isStill && attempt < 10) continue;
    expect(isStill, 'the disk does not come to rest').toBe(true);
    return { live, offline: await plans.offline(...args) };
  }
}

test('a plan on the node equals that of its snapshot, to the byte', async () => {
  const first = await both();
  expect(first.offline).toEqual(first.live);
  const { live, offline } = await both('--assume-quarantine-elapsed');
  expect(offline).toEqual(live);

  expect(verdictsOf(live)).toEqual(
    expect.arrayContaining([
      ...['Container Keep NewestAttempt', 'Container Keep Running', 'Container Keep StaticPod'],
      ...['Container Remove DeadContainer', 'Container Remove PodGone'],
      ...['Image Keep InUse', 'Image Keep KeepListed', 'Image Keep Pinned', 'Image Remove Space'],
      ...['LogDirectory Keep InUse', 'LogDirectory Remove OrphanedLogs', 'LogFile Remove RotatedLog'],
      ...['LogLink Remove BrokenLink', 'Sandbox Keep Running', 'Sandbox Remove Sandbox'],
    ]),
  );
  const reasonOf = (name: string) =>
    live.decisions.flatMap(({ object, verdict, reason, detail }) =>
      ('path' in object && object.path === name) || ('name' in object && object.name === name)
        ? [`${verdict} ${reason}: ${detail}`]
        : [],
    );
  expect(reasonOf(emptyDirectory)).toEqual([expect.stringMatching(/^Remove OrphanedLogs/)]);
  expect(reasonOf(strayImage.ref)).toEqual(['Keep InUse: A container has mounted it.']);
  expect(live.summary).toMatchObject([{ unit: 'imagegc', wantedBytes: expect.any(Number) as unknown }]);
  expect(live.summary[0]?.wantedBytes).toBeGreaterThan(1e6);
  expect(live.totals.filter(({ node }) => node === 'node-b')).toHaveLength(2);
});

test('the storage plan on the node equals that of its snapshot', () => {
  const { live, offline } = storagePlans;
  expect(offline).toEqual(live);
  const verdicts = live.map(({ object, verdict, reason }) => `${String(object.name)} ${verdict} ${reason}`);
  expect(verdicts).toEqual(
    expect.arrayContaining([
      'writes Evict ephemeralpodfs.limit',
      'writes Warn ephemeralpodfs.limit',
      'volume Keep UnderLimit',
      'done Keep Finished',
    ]),
  );
});

test('the pressure plan on the node equals that of its snapshot, and an agent finds as much to remove', () => {
  const { live, offline } = pressurePlans;
  // The grace period counts from the plan.
  const timeless = (all: readonly Decision[]): object[] => all.map((one) => ({ ...one, eligibleAt: null }));
  expect(timeless(offline)).toEqual(timeless(live));
  const removed = (kind: string): number =>
    live.filter(({ object, verdict }) => verdict === 'Remove' && object.kind === kind).length;
  expect({ Container: removed('Container'), Image: removed('Image') }).toEqual(dueByAgent);
  expect(dueByAgent['Container']).toBeGreaterThan(0);
  expect(dueByAgent['Image']).toBeGreaterThanOrEqual(20);
  expect(new Set(live.map(({ verdict, reason }) => `${verdict} ${reason}`))).toContain('Keep Reclaiming');
});

test('the comparison detects what a snapshot loses', async () => {
  const { live } = await both();
  const node = `nodes/${cluster.node.name}`;
  // One after the other: each edits the files that the others read.
  const changes = [
    () => plans.edited('pods.json', ({ items }) => items.splice(0, 1)),
    () =>
      plans.edited(`${node}/containers.json`, ({ containers }) => {
        for (const one of containers) delete one['mountedImages'];
      }),
    () => plans.edited(`${node}/loglisting.json`, (listing) => (listing.directories = [])),
    () => plans.edited('nodegcreports.json', (list) => (list.items = [])),
  ];
  for (const change of changes) expect(await change()).not.toEqual(live);
});

test('the snapshot contains no secrets', async () => {
  await plans.snapshot();
  const pods = await kubectl(cluster, ['get', 'pods', '-o', 'json', '--show-managed-fields']);
  for (const one of [`${secret}-env`, `${secret}-annotation`, 'managedFields']) {
    expect(pods).toContain(one);
    expect(plans.text()).not.toContain(one);
  }
  // The annotation that identifies the mirror of a static pod is kept.
  expect(plans.text()).toContain('kubernetes.io/config.mirror');
  expect(plans.text()).toContain('kubernetes.io/config.source');
});

// Kept objects are not sorted: the runtime lists in any order, and both plans must still agree.
test('both plans are equal on a node without a policy', async () => {
  await kubectl(cluster, ['delete', 'gcpolicy', 'default']);
  const { live, offline } = await both();
  expect(offline).toEqual(live);
  expect(verdictsOf(live)).toEqual(
    expect.arrayContaining(['Container Keep NoPolicy', 'Image Keep NoPolicy', 'Sandbox Keep NoPolicy']),
  );
});
