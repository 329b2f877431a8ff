// @bed node
import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { usageOf } from '../../bench/process.ts';
import { contractTransport, Objects } from '../../contract/kube/objects.ts';
import { everySecond, startAgent } from './agent.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import { applyPolicy, listSandboxes, readReport, startNodeWithoutKubelet } from './environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { contractServer } from '../servers/contract.ts';
import { crictl, runSandbox, type Sandbox } from '../node/crictl.ts';
import { shipped } from '../chart/shipped.ts';
import { eventually } from '../servers/waiting.ts';

/** Nearly the limit for the annotations of one pod; all together nearly the limit for one list of the runtime. */
const annotationBytes = 250_000;
const hostileSandboxes = 62;
/** Nearly the largest object of etcd. */
const nameBytes = 1_400_000;
const hostilePods = 60;
/** The most of each that is read: names of images that no other pod has, half a megabyte a pod. */
const images = { pods: 120, containers: 256, bytes: 2_000 };

let cluster: Cluster;
let agent: DustpanProcess | undefined;
let sandboxes: Sandbox[];
let objects: Objects;
let pods: string[];

beforeAll(async () => {
  cluster = await startNodeWithoutKubelet();
  objects = new Objects(await contractTransport(contractServer(cluster)));
  await objects.start();
  pods = [];
  for (let i = 0; i < hostilePods; i += 1) {
    const name = randomBytes(nameBytes / 2).toString('hex');
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid: randomUUID(), controller: true };
    const { metadata } = await objects.createPod({ ownerReferences: [owner], nodeName: cluster.node.name });
    pods.push(metadata.name);
  }
  for (let i = 0; i < images.pods; i += 1) {
    const containers = Array.from({ length: images.containers }, (_, at) => ({
      name: `c-${at}`,
      image: `registry.example.com/${randomBytes(images.bytes / 2).toString('hex')}`,
    }));
    const { metadata } = await objects.createPod({ containers, nodeName: cluster.node.name });
    pods.push(metadata.name);
  }
  sandboxes = [];
  for (let i = 0; i < hostileSandboxes; i += 1) {
    // One character beyond Latin-1 makes V8 use two bytes for each.
    const annotations = { hostile: `€${randomBytes(annotationBytes / 2).toString('hex')}` };
    sandboxes.push(await runSandbox(cluster, { name: `hostile-${i}`, annotations }));
  }
});

test('62 sandboxes with 250 KB of annotations, 60 pods with owner names of 1.4 MB, 120 pods with 256 long images: the agent stays below the memory limit of the chart, and collects without the pods', async () => {
  const { env, nodeFlags, limitMiB } = await shipped('DaemonSet');
  await applyPolicy(cluster, 'Enforce', { containerGC: {}, imageGC: {} });
  agent = await startAgent(cluster, {
    env,
    nodeFlags,
    args: everySecond,
  });
  const { pid } = agent;
  await passesOf(agent, 'containergc', 3);
  await expect
    .poll(async () => (await readReport(cluster))?.sandboxes?.total, eventually)
    .toBe(hostileSandboxes);
  expect(usageOf(pid).peakMiB).toBeLessThan(limitMiB);

  // Their pods are not in the API: gone as soon as they are not ready any more.
  const ended = sandboxes.slice(0, 20).map(({ id }) => id);
  await crictl(cluster, 'stopp', ...ended);
  await passesOf(agent, 'containergc', 3);
  expect(usageOf(pid).peakMiB).toBeLessThan(limitMiB);

  // A busy machine does not read 140 MB within the five seconds in which a live response must arrive.
  for (const name of pods) await objects.removePod(name);
  const left = async () => (await listSandboxes(cluster)).filter(({ id }) => ended.includes(id)).length;
  await expect.poll(left, { ...eventually, timeout: 180_000 }).toBe(0);
  expect(await listSandboxes(cluster)).toHaveLength(hostileSandboxes - ended.length);
  expect(usageOf(pid).peakMiB).toBeLessThan(limitMiB);
  expect(agent.pid).toBe(pid);
}, 600_000);
