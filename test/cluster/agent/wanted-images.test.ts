// @bed node
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { PlanDocument } from '../../../src/evaluation/plan/document.ts';
import { agentUser, everySecond, onNode, startAgent } from './agent.ts';
import { applyPolicy, condition, imageTags, readReport, startQuietNode } from './environment.ts';
import { host } from './pulled-images.ts';
import { dustpanUser, startController } from '../controller/dustpan.ts';
import { criResponse, crictl } from '../node/crictl.ts';
import { push } from '../node/push.ts';
import { startOtherKubelet } from '../node-side-by-side/kubelet.ts';
import { runDustpan } from '../servers/command.ts';
import type { Cluster } from '../servers/cluster.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import { create, kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

const namespace = 'dustpan-system';
const env = { POD_NAMESPACE: namespace, POD_NAME: 'no-such-pod' };
const ofCronJob = `${host}/report:1`;
const ofDaemonSet = `${host}/gpu:1`;
const unused = `${host}/unused:1`;

const list = { apiGroups: ['apps', 'batch'], verbs: ['list'] };
const workloads = ['daemonsets', 'deployments', 'statefulsets', 'replicasets', 'cronjobs', 'jobs'];
const configMap = { apiGroups: [''], resources: ['configmaps'] };

let cluster: Cluster;
let agent: DustpanProcess;
let controller: DustpanProcess;
/** By image. */
const ids = new Map<string, string>();

/** Another minimum age wakes the controller. */
const apply = (minimumAge: string, over: object = {}): Promise<void> =>
  applyPolicy(cluster, 'Enforce', {
    imageGC: { highThresholdPercent: 100, lowThresholdPercent: 99, minimumAge, pinWanted: true, ...over },
  });

/** Grants the agent these verbs on ConfigMaps, besides its other rights. */
async function grantAgent(verbs: readonly string[]): Promise<void> {
  const rules = [...(agentUser.rules ?? []), ...(verbs.length > 0 ? [{ ...configMap, verbs }] : [])];
  const patch = JSON.stringify({ rules });
  await kubectl(cluster, ['patch', 'clusterrole', 'bed:wanting-agent', '--type=merge', `--patch=${patch}`]);
}

const startWriter = (): Promise<DustpanProcess> =>
  startController(cluster, { user: 'wanting-controller', env });

async function isPinned(image: string): Promise<boolean | undefined> {
  const { images } = await criResponse<{ images: { id: string; pinned: boolean }[] }>(cluster, 'images');
  return images.find(({ id }) => id === ids.get(image))?.pinned;
}

/** The reason to keep it, in the plan of a command. */
async function reasonIn(image: string, ...source: readonly string[]): Promise<string | undefined> {
  const plan = await runDustpan('plan', ...source, '--kept', '-o', 'json');
  const { decisions } = JSON.parse(plan) as Pick<PlanDocument, 'decisions'>;
  return decisions.find(({ object }) => 'id' in object && object.id === ids.get(image))?.reason;
}

const template = (image: string, over: object = {}): object => ({
  metadata: { labels: { app: 'a' } },
  spec: { restartPolicy: 'Never', containers: [{ name: 'main', image }], ...over },
});

beforeAll(async () => {
  cluster = await startQuietNode({
    parts: ['registry'],
    users: [
      {
        ...agentUser,
        name: 'wanting-agent',
        rules: [...(agentUser.rules ?? []), { ...configMap, verbs: ['get'] }],
      },
      {
        ...dustpanUser,
        name: 'wanting-controller',
        rules: [
          ...(dustpanUser.rules ?? []),
          { ...list, resources: workloads },
          { ...configMap, verbs: ['create', 'get', 'update'] },
        ],
      },
    ],
  });
  for (const image of [ofCronJob, ofDaemonSet, unused]) {
    const built = await push(cluster.registryUrl, { ref: image, fill: { bytes: 1_000_000, kind: 'random' } });
    ids.set(image, built.id);
    await crictl(cluster, 'pull', image);
  }
  await create(
    cluster,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'report', namespace: 'default' },
      spec: { schedule: '@yearly', suspend: true, jobTemplate: { spec: { template: template(ofCronJob) } } },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'gpu', namespace: 'default' },
      spec: {
        selector: { matchLabels: { app: 'a' } },
        template: template(ofDaemonSet, { restartPolicy: 'Always', nodeSelector: { gpu: 'yes' } }),
      },
    },
    // Commands find the namespace of the controller by its Deployment.
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'dustpan-controller',
        namespace,
        labels: { 'app.kubernetes.io/part-of': 'dustpan', 'app.kubernetes.io/component': 'controller' },
      },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'a' } },
        template: template('bed.test/none:1', { restartPolicy: 'Always' }),
      },
    },
  );
  // Each image is due for space.
  await apply('1s', { highThresholdPercent: 1, lowThresholdPercent: 0 });
  agent = await startAgent(cluster, { args: everySecond, env, user: 'wanting-agent' });
  await agent.ready();
});

test('before its first list, the agent removes no image', async () => {
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('True Undecided');
  await passesOf(agent, 'imagegc', 3);
  expect(await imageTags(cluster)).toEqual(expect.arrayContaining([ofCronJob, ofDaemonSet, unused]));
});

test('an agent that may not read the list says which right it lacks', async () => {
  await grantAgent([]);
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('True MissingRights');
  const degraded = (await readReport(cluster))?.conditions?.find(({ type }) => type === 'Degraded');
  expect(degraded?.message).toContain('may not get configmaps. Set rbac.wantedImages=true');
  expect((await agent.metrics()).has('dustpan_missing_rights{verb="get",resource="configmaps"}')).toBe(true);
  await grantAgent(['get']);
  await apply('1s');
  controller = await startWriter();
});

test('the image of a suspended CronJob is pinned; that of a DaemonSet for other nodes is not', async () => {
  await expect.poll(() => isPinned(ofCronJob), eventually).toBe(true);
  expect(await isPinned(ofDaemonSet)).toBe(false);
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('False AsPlanned');
  await expect.poll(() => condition(cluster, 'KeepListAtRisk'), eventually).toBe('False Pinned');
});

test('a plan of the cluster and one of a snapshot keep the same images, and why names the workload', async () => {
  const admin = onNode(cluster);
  expect(await reasonIn(ofCronJob, ...admin)).toBe('Wanted');
  expect(await reasonIn(ofDaemonSet, ...admin)).toBe('BelowThreshold');
  const directory = join(cluster.dir, 'wanted-snapshot');
  await runDustpan('snapshot', directory, ...admin);
  expect(await reasonIn(ofCronJob, `--snapshot=${directory}`)).toBe('Wanted');
  expect(await reasonIn(ofDaemonSet, `--snapshot=${directory}`)).toBe('BelowThreshold');
  expect(await runDustpan('why', 'image', ofCronJob, ...admin)).toMatch(/CronJob\s+default\/report/);
});

test('a kubelet whose disk is too full spares it, and removes the others', async () => {
  await cluster.kill('kubelet');
  const kubelet = await startOtherKubelet(cluster, [
    '--image-gc-high-threshold=1',
    '--image-gc-low-threshold=0',
    '--minimum-image-ttl-duration=1s',
    '--eviction-hard=memory.available<1Mi',
  ]);
  const left = ['bed.test/pause:1', ofCronJob].sort();
  await expect.poll(() => imageTags(cluster), eventually).toEqual(left);
  await kubelet.kill();
  await cluster.start('kubelet');
});

test('while the list cannot be read the pin stays, and the node is degraded', async () => {
  await controller.stop();
  await kubectl(cluster, ['delete', 'cronjob', 'report']);
  await kubectl(cluster, ['delete', 'configmap', '-n', namespace, 'dustpan-wanted-images']);
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('True WantedImagesUnknown');
  await passesOf(agent, 'imagegc', 3);
  expect(await isPinned(ofCronJob)).toBe(true);
});

test('when the CronJob is known to be deleted, the pin is removed', async () => {
  controller = await startWriter();
  await expect.poll(() => isPinned(ofCronJob), eventually).toBe(false);
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('False AsPlanned');
  await controller.stop();
  await agent.stop();
});
