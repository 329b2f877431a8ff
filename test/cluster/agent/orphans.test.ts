// @bed node
import { createHash } from 'node:crypto';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../src/api/gen/nodegcreport.gen.ts';
import { startAgent } from './agent.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import {
  agentEvents,
  applyPolicy,
  createPods,
  dataVolume,
  dueInDryRun,
  listSandboxes,
  metric,
  phases,
  readReport,
  runningPods,
  startQuietNode,
  uidOf,
  untilPhases,
} from './environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { crictl } from '../node/crictl.ts';
import { busyboxImage } from '../node/image.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

const image = busyboxImage.ref;
const podsRoot = '/var/lib/kubelet/pods';
const cgroupRoot = '/sys/fs/cgroup';
const volumeData = 'volumes/kubernetes.io~csi/pv/vol_data.json';
const others = ['lost+found', 'ABCDEF01-1111-2222-3333-444444444444'];

let cluster: Cluster;
let agent: DustpanProcess;
let uids: Readonly<Record<'gone' | 'mounted' | 'foreign' | 'attached' | 'steady', string>>;
let steadyAtFirst: Awaited<ReturnType<typeof runningPods>>;
/** A process in a control group of the pod `mounted`. */
let busy: ChildProcess | undefined;

const directoryOf = (pod: keyof typeof uids): string => join(podsRoot, uids[pod]);

/** The control groups of a pod in all trees: one in cgroup v2, one for each controller in v1. */
function groupsOf(pod: keyof typeof uids): readonly string[] {
  const trees = existsSync(join(cgroupRoot, 'cgroup.procs'))
    ? [cgroupRoot]
    : readdirSync(cgroupRoot).map((name) => join(cgroupRoot, name));
  const classes = ['kubepods', 'kubepods/besteffort', 'kubepods/burstable'];
  return [
    ...new Set(trees.flatMap((tree) => classes.map((name) => join(tree, name, `pod${uids[pod]}`)))),
  ].filter(existsSync);
}

const mountsBelow = (path: string): readonly string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .filter((point) => point.startsWith(`${path}/`));

/** As a restart of the node does. */
function unmountBelow(path: string): void {
  for (const point of mountsBelow(path).toReversed()) execFileSync('umount', [point]);
}

beforeAll(async () => {
  cluster = await startQuietNode({ images: [busyboxImage] });
  const script = 'mkdir -p /data/a/b && echo data >/data/a/b/file; sleep 3600';
  const pod = { image, script, ...dataVolume };
  await createPods(cluster, { gone: pod, mounted: pod, foreign: pod, attached: pod, steady: pod });
  await untilPhases(cluster, {
    gone: 'Running',
    mounted: 'Running',
    foreign: 'Running',
    attached: 'Running',
    steady: 'Running',
  });
  const [gone, mounted, foreign, attached, steady] = await Promise.all([
    uidOf(cluster, 'gone'),
    uidOf(cluster, 'mounted'),
    uidOf(cluster, 'foreign'),
    uidOf(cluster, 'attached'),
    uidOf(cluster, 'steady'),
  ]);
  uids = { gone, mounted, foreign, attached, steady };
  steadyAtFirst = await runningPods(cluster);
});

afterAll(() => busy?.kill('SIGKILL'));

/** Deletes four pods while the kubelet is down, and all of them that the runtime knows. */
async function leaveOrphans(): Promise<void> {
  await cluster.kill('kubelet');
  const doomed = ['gone', 'mounted', 'foreign', 'attached'];
  await kubectl(cluster, ['delete', 'pod', '--force', '--grace-period=0', ...doomed]);
  for (const { id, name } of await listSandboxes(cluster)) {
    if (!doomed.some((pod) => name.startsWith(`${pod}/`))) continue;
    await crictl(cluster, 'stopp', id);
    await crictl(cluster, 'rmp', id);
  }
  unmountBelow(directoryOf('gone'));
  unmountBelow(directoryOf('foreign'));
  unmountBelow(directoryOf('attached'));
  writeVolume('gone', 'detached');
  writeVolume('attached', 'attached');
  writeVolume('foreign', undefined);
  await kubectl(cluster, ['apply', '-f', '-'], volumeAttachment());
  for (const name of others) mkdirSync(join(podsRoot, name));
  busy = spawn('sleep', ['3600'], { stdio: 'ignore' });
  const [group = ''] = groupsOf('mounted');
  writeFileSync(join(group, 'cgroup.procs'), String(busy.pid));
}

/** The VolumeAttachment of a volume of the node, as the attach-detach controller names it. */
const attachmentOf = (handle: string): string =>
  `csi-${createHash('sha256').update(`${handle}csi.example.com${cluster.node.name}`).digest('hex')}`;

/** Leaves what a hard reboot leaves of a CSI volume: what the kubelet has written, and the directory where it was mounted. */
function writeVolume(pod: keyof typeof uids, volumeHandle: string | undefined): void {
  const path = join(directoryOf(pod), volumeData);
  mkdirSync(join(path, '../mount'), { recursive: true });
  const data = volumeHandle && {
    ...{ attachmentID: attachmentOf(volumeHandle), driverName: 'csi.example.com', specVolID: 'pv' },
    ...{ nodeName: cluster.node.name, volumeHandle, volumeLifecycleMode: 'Persistent' },
  };
  writeFileSync(path, JSON.stringify(data ?? {}));
  // An hour ago, and more.
  utimesSync(path, 0, Date.now() / 1000 - 3_700);
}

const volumeAttachment = (): string =>
  JSON.stringify({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: attachmentOf('attached') },
    spec: {
      attacher: 'csi.example.com',
      nodeName: cluster.node.name,
      source: { persistentVolumeName: 'pv' },
    },
  });

/** The report of one pod directory. */
const reported = async (pod: keyof typeof uids) =>
  (await readReport(cluster))?.orphans?.podDirectories?.largest?.find(({ podUID }) => podUID === uids[pod]);

/** `Mounted` and the like by path, of the report. */
async function reasonsOf(place: 'podDirectories' | 'podCgroups'): Promise<Readonly<Record<string, string>>> {
  const found = (await readReport(cluster))?.orphans?.[place]?.largest ?? [];
  return Object.fromEntries(found.map(({ podUID, reason = '' }) => [podUID, reason]));
}

const orphanEvents = async () =>
  (await agentEvents(cluster)).filter(({ reason }) => reason === 'OrphanedResources');

function expectDetails(orphans: NodeGCReportStatus['orphans']): void {
  const { count, largest = [] } = orphans?.podDirectories ?? {};
  expect(count).toBe(4);
  for (const { path, since = '', bytes = 0 } of largest) {
    expect(path.startsWith(`${podsRoot}/`)).toBe(true);
    expect(Date.now() - Date.parse(since)).toBeLessThan(3_600_000);
    expect(bytes).toBeGreaterThan(0);
  }
}

test('Report names what deleted pods left, in the report and in one Event, and removes nothing', async () => {
  await leaveOrphans();
  expect(mountsBelow(directoryOf('mounted'))).not.toEqual([]);
  expect(groupsOf('gone')).not.toEqual([]);
  await applyPolicy(cluster, 'Enforce', { orphans: {} });
  agent = await startAgent(cluster, { args: ['--container-gc-period=1s'] });
  const named = {
    [uids.gone]: 'RuleOff',
    [uids.mounted]: 'RuleOff',
    [uids.foreign]: 'RuleOff',
    [uids.attached]: 'RuleOff',
  };
  await expect.poll(() => reasonsOf('podDirectories'), eventually).toEqual(named);
  expect(await reasonsOf('podCgroups')).toEqual(named);
  expectDetails((await readReport(cluster))?.orphans);
  await passesOf(agent, 'containergc', 3);
  const notes = (await orphanEvents()).map(({ note }) => note);
  expect(notes).toHaveLength(1);
  expect(notes.join()).toContain('4 pod directories of deleted pods');
  expect(notes.join()).toContain('4 pod control groups of deleted pods');
  expect(Object.keys(named).filter((uid) => !existsSync(join(podsRoot, uid)))).toEqual([]);
});

test('Remove in mode DryRun counts what it would remove', async () => {
  await applyPolicy(cluster, 'DryRun', { orphans: { podDirectories: 'Remove', podCgroups: 'Remove' } });
  const due = (reason: string) => dueInDryRun(agent, 'containergc', reason);
  await expect.poll(() => due('OrphanedDirectory'), eventually).toBe(1);
  await expect.poll(() => due('OrphanedCgroup'), eventually).toBe(3);
  await passesOf(agent, 'containergc', 2);
  expect(existsSync(directoryOf('gone'))).toBe(true);
  expect(groupsOf('gone')).not.toEqual([]);
});

test('Remove removes them, and keeps what is mounted, in use, of another plugin, or of no deleted pod', async () => {
  await applyPolicy(cluster, 'Enforce', { orphans: { podDirectories: 'Remove', podCgroups: 'Remove' } });
  await expect.poll(() => existsSync(directoryOf('gone')), eventually).toBe(false);
  await expect.poll(() => groupsOf('gone'), eventually).toEqual([]);
  await expect.poll(() => groupsOf('foreign'), eventually).toEqual([]);
  await passesOf(agent, 'containergc', 3);
  await expect
    .poll(() => reasonsOf('podDirectories'), eventually)
    .toEqual({
      [uids.mounted]: 'Mounted',
      [uids.foreign]: 'NotEmpty',
      [uids.attached]: 'VolumeAttached',
    });
  expect((await reported('foreign'))?.holder).toBe(join(directoryOf('foreign'), volumeData));
  expect(await reported('attached')).toMatchObject({ holder: attachmentOf('attached') });
  expect(existsSync(join(directoryOf('attached'), volumeData))).toBe(true);
  expect(await reasonsOf('podCgroups')).toEqual({ [uids.mounted]: 'InUse' });

  const kept = join(directoryOf('mounted'), 'volumes/kubernetes.io~empty-dir/data/a/b/file');
  expect(readFileSync(kept, 'utf8')).toBe('data\n');
  expect(mountsBelow(directoryOf('mounted'))).not.toEqual([]);
  expect(existsSync(join(directoryOf('foreign'), volumeData))).toBe(true);
  expect(others.filter((name) => !existsSync(join(podsRoot, name)))).toEqual([]);
  expect(busy?.exitCode).toBeNull();
  expect(existsSync(directoryOf('steady'))).toBe(true);
  expect(groupsOf('steady')).not.toEqual([]);
  expect((await runningPods(cluster))['steady']).toEqual(steadyAtFirst['steady']);
  const lines = (await agent.logs()).filter(({ msg }) => msg.startsWith('removed orphaned'));
  expect(lines.map(({ msg, uid }) => `${msg} ${String(uid)}`).sort()).toEqual(
    [
      `removed orphaned control group ${uids.foreign}`,
      `removed orphaned control group ${uids.gone}`,
      `removed orphaned control group ${uids.attached}`,
      `removed orphaned pod directory ${uids.gone}`,
    ].sort(),
  );
});

test('what is no longer in the way is removed too; a restarted kubelet finds everything that it needs', async () => {
  busy?.kill('SIGKILL');
  const { remedy = '', holder } = (await reported('mounted')) ?? {};
  expect(mountsBelow(directoryOf('mounted'))).toContain(holder);
  execFileSync('sh', ['-c', remedy]);
  utimesSync(join(directoryOf('attached'), volumeData), 0, Date.now() / 1000);
  await kubectl(cluster, ['delete', 'volumeattachment', attachmentOf('attached')]);
  await expect
    .poll(async () => (await reasonsOf('podDirectories'))[uids.attached], eventually)
    .toBe('TooYoung');
  utimesSync(join(directoryOf('attached'), volumeData), 0, Date.now() / 1000 - 3_700);
  await expect.poll(() => groupsOf('mounted'), eventually).toEqual([]);
  await expect.poll(() => existsSync(directoryOf('mounted')), eventually).toBe(false);
  await expect.poll(() => existsSync(directoryOf('attached')), eventually).toBe(false);
  await cluster.start('kubelet');
  await createPods(cluster, { later: { image, script: 'true', restartPolicy: 'Never' } });
  await expect.poll(async () => (await phases(cluster))['later'], eventually).toBe('Succeeded');
  expect((await runningPods(cluster))['steady']).toEqual(steadyAtFirst['steady']);
  const failed = (reason: string): Promise<number> =>
    metric(agent, `dustpan_failed_objects_total{unit="containergc",reason="${reason}"}`);
  expect([await failed('OrphanedDirectory'), await failed('OrphanedCgroup')]).toEqual([0, 0]);
});
