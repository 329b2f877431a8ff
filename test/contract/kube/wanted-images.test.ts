import { expect, test } from 'vitest';
import { isWanting } from '../../../src/controllers/wantedimages/plan.ts';
import { readWantedList, writeWantedList } from '../../../src/kube/actions/wanted-list.ts';
import { listWorkloads } from '../../../src/kube/cache/workloads.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { startEnvironment } from './environment.ts';
import { contractTransport } from './objects.ts';

const { signal } = new AbortController();

const { server, transport, objects } = await startEnvironment({
  users: [{ name: 'stranger', rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }],
});
const { namespace } = objects;

const template = (image: string, over: object = {}, restartPolicy = 'Always'): object => ({
  metadata: { labels: { app: 'a' } },
  spec: { restartPolicy, containers: [{ name: 'c', image }], ...over },
});
const selector = { matchLabels: { app: 'a' } };
const job = (image: string, over: object = {}): object => ({
  template: template(image, {}, 'Never'),
  ...over,
});

async function create(apiVersion: string, kind: string, spec: object): Promise<void> {
  const path = `/apis/${apiVersion}/namespaces/${namespace}/${kind.toLowerCase()}s`;
  await objects.post(path, { apiVersion, kind, metadata: { name: kind.toLowerCase() }, spec });
}

test('workloads are listed with the images of their pod templates, whichever kind they are', async () => {
  await create('apps/v1', 'DaemonSet', {
    selector,
    template: template('daemon:1', {
      nodeSelector: { gpu: 'yes' },
      initContainers: [{ name: 'i', image: 'init:1' }],
      volumes: [{ name: 'v', image: { reference: 'volume:1' } }],
    }),
  });
  await create('batch/v1', 'CronJob', {
    schedule: '@daily',
    suspend: true,
    jobTemplate: { spec: job('cron:1') },
  });
  await create('batch/v1', 'Job', job('job:1', { suspend: true }));
  for (const kind of ['Deployment', 'ReplicaSet'])
    await create('apps/v1', kind, { selector, replicas: 0, template: template(`${kind.toLowerCase()}:1`) });
  await create('apps/v1', 'StatefulSet', {
    selector,
    replicas: 2,
    serviceName: 's',
    template: template('stateful:1'),
  });
  const source = { transport, clock: systemClock, random: Math.random };
  const all = await listWorkloads(source, () => true, signal);
  const own = all.filter((one) => one.namespace === namespace);
  const common = { namespace, isOwned: false, isSuspended: false, replicas: undefined, nodeSelector: {} };
  expect(own).toEqual([
    {
      ...common,
      kind: 'DaemonSet',
      name: 'daemonset',
      images: ['daemon:1', 'init:1', 'volume:1'],
      nodeSelector: { gpu: 'yes' },
    },
    { ...common, kind: 'CronJob', name: 'cronjob', isSuspended: true, images: ['cron:1'] },
    { ...common, kind: 'Job', name: 'job', isSuspended: true, images: ['job:1'] },
    { ...common, kind: 'Deployment', name: 'deployment', replicas: 0, images: ['deployment:1'] },
    { ...common, kind: 'StatefulSet', name: 'statefulset', replicas: 2, images: ['stateful:1'] },
    { ...common, kind: 'ReplicaSet', name: 'replicaset', replicas: 0, images: ['replicaset:1'] },
  ]);
  const wanting = await listWorkloads(source, isWanting, signal);
  expect(wanting.filter((one) => one.namespace === namespace)).toHaveLength(5);
});

test('the list is created, replaced and read', async () => {
  expect(await readWantedList(transport, namespace, signal)).toContain('has not written');
  const image = { image: 'cron:1', workload: 'CronJob a/b', nodeSelector: { gpu: 'yes' } };
  for (const omitted of [0, 3]) {
    const list = { listedAtMs: 1, images: [image], omitted };
    await writeWantedList(transport, namespace, list, signal);
    expect(await readWantedList(transport, namespace, signal)).toEqual(list);
  }
});

test('why the list cannot be read is a value', async () => {
  const stranger = await contractTransport(server, server.tokenOf('stranger'));
  const reading = await readWantedList(stranger, namespace, signal);
  expect(reading).toMatch(/dustpan-wanted-images cannot be read: .*forbidden/s);
  stranger.close();
  expect(await readWantedList(transport, undefined, signal)).toContain('not known');
  await objects.patch(`/api/v1/namespaces/${namespace}/configmaps/dustpan-wanted-images`, {
    data: { 'images.json': '{' },
  });
  expect(await readWantedList(transport, namespace, signal)).toContain('no list');
});
