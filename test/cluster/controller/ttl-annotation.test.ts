import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../servers/cluster.ts';
import { runDustpan } from '../servers/dustpan-command.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import { create, kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';
import { shortPeriod, startControlPlane, startController } from './dustpan.ts';
import { applyPolicy } from './environment.ts';

const key = 'gc.dustpan.dev/ttl-after-finished';

let cluster: Cluster;
let dustpan: DustpanProcess;

/** Creates a pod as a person would, and finishes it as its kubelet would. */
async function finishedPod(
  name: string,
  metadata: { readonly annotations?: object; readonly labels?: object } = {},
): Promise<void> {
  const spec = {
    ...{ nodeName: 'node-1', restartPolicy: 'Never', automountServiceAccountToken: false },
    containers: [{ name: 'c', image: 'example.com/a' }],
  };
  await create(cluster, {
    ...{ apiVersion: 'v1', kind: 'Pod', spec },
    metadata: { name, namespace: 'default', ...metadata },
  });
  const status = JSON.stringify({ status: { phase: 'Succeeded' } });
  await kubectl(cluster, ['patch', 'pod', name, '--subresource=status', '--type=merge', '-p', status]);
}

const annotated = (value: string): { readonly annotations: object } => ({ annotations: { [key]: value } });

const podNames = async (): Promise<readonly string[]> => {
  const names = await kubectl(cluster, ['get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}']);
  return names.split(' ').toSorted();
};

const why = (name: string): Promise<string> =>
  runDustpan('why', 'pod', `default/${name}`, `--kubeconfig=${cluster.kubeconfig('admin')}`, '-o', 'json');

beforeAll(async () => {
  cluster = await startControlPlane();
  await create(
    cluster,
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } },
  );
  await finishedPod('short', annotated('1s'));
  await finishedPod('long', annotated('48h'));
  await finishedPod('nonsense', annotated('1 day'));
  await finishedPod('kept', { ...annotated('1s'), labels: { 'gc.dustpan.dev/keep': 'true' } });
  await finishedPod('plain');
  await applyPolicy(cluster, { terminated: { threshold: 0 } });
  dustpan = await startController(cluster, { args: shortPeriod });
});

afterAll(async () => {
  await dustpan.stop();
  await cluster.stop();
});

test('no annotation has an effect while no policy reads it', async () => {
  await dustpan.ready();
  await passesOf(dustpan, 'podgc', 3);
  expect(await podNames()).toEqual(['kept', 'long', 'nonsense', 'plain', 'short']);
});

test('a policy that reads it makes the controller list the pods again, and delete the one whose time is over', async () => {
  await applyPolicy(cluster, { terminated: { threshold: 0, honorTTLAnnotation: true } });
  await expect.poll(podNames, eventually).toEqual(['kept', 'long', 'nonsense', 'plain']);
  await passesOf(dustpan, 'podgc', 2);
  expect(await podNames()).toEqual(['kept', 'long', 'nonsense', 'plain']);
});

test('why explains each of them', async () => {
  expect(await why('long')).toContain(`the time to live of 48h in its annotation ${key} has not passed yet`);
  expect(await why('nonsense')).toContain('is ignored: \\"1 day\\" is not a duration');
  expect(await why('kept')).toContain('KeepMarked');
});

test('an annotation that is added later is followed, and one that is longer than the ttl is not', async () => {
  await kubectl(cluster, ['annotate', 'pod', 'plain', `${key}=1s`]);
  await expect.poll(podNames, eventually).toEqual(['kept', 'long', 'nonsense']);
  await applyPolicy(cluster, {
    terminated: { threshold: 0, ttlAfterFinished: '1s', honorTTLAnnotation: true },
  });
  await expect.poll(podNames, eventually).toEqual(['kept']);
});

test('a nonsense annotation causes no Events and no warnings', async () => {
  const events = await kubectl(cluster, ['get', 'events.events.k8s.io', '-A', '-o', 'json']);
  expect(events).not.toContain('1 day');
  const warned = (await dustpan.logs()).filter(({ level }) => level === 'warn' || level === 'error');
  expect(JSON.stringify(warned)).not.toContain(key);
});
