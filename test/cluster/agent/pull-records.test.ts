// @bed node
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAgent } from './agent.ts';
import { applyPolicy, archiveOf, startQuietNode, untilPhases } from './environment.ts';
import { imageNames } from './pulled-images.ts';
import { busyboxImage, type ImageSpec } from '../node/image.ts';
import { push } from '../node/push.ts';
import { pullFrom } from '../node/registry.ts';
import { RegistryGate } from '../node/registry-gate.ts';
import type { Cluster } from '../servers/cluster.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { create, kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

// Since 1.35 the kubelet records with which credentials it pulled an image (KEP-2535). Only its own removal for space deletes such a record:
// docs/deviations.md says what follows after a removal by dustpan.

const host = 'private.test';
const login = 'user:password';
/** Pulled with credentials, and imported without any. */
const pulled: ImageSpec = { ...busyboxImage, ref: `${host}/pulled:1`, tags: [] };
const imported: ImageSpec = { ...busyboxImage, ref: `${host}/imported:1`, tags: [], files: [] };

let cluster: Cluster;
let gate: RegistryGate;
let agent: DustpanProcess | undefined;

const records = (): readonly string[] => readdirSync('/var/lib/kubelet/image_manager/pulled');

async function createPod(name: string, image: string, spec: object = {}): Promise<void> {
  const main = { name: 'main', image, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', 'exit 0'] };
  await create(cluster, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { restartPolicy: 'Never', containers: [main], ...spec },
  });
}

/** Why the container of the pod waits. */
const waiting = (name: string): Promise<string> =>
  kubectl(cluster, [
    'get',
    'pod',
    name,
    '-o',
    'jsonpath={.status.containerStatuses[0].state.waiting.reason}',
  ]);

beforeAll(async () => {
  cluster = await startQuietNode({ parts: ['registry'] });
  gate = new RegistryGate(cluster.registryUrl, login);
  pullFrom(await gate.listen(), { dir: cluster.dir, host });
  await push(cluster.registryUrl, pulled);
  const auths = { [host]: { auth: Buffer.from(login).toString('base64') } };
  await create(cluster, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'login', namespace: 'default' },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths }) },
  });
});

afterAll(async () => {
  await agent?.stop();
  await gate[Symbol.asyncDispose]();
  await cluster.stop();
});

test('an image that is imported again after a removal needs the credentials of its first pull', async () => {
  const before = new Set(records());
  await createPod('owner', pulled.ref, { imagePullSecrets: [{ name: 'login' }] });
  await untilPhases(cluster, { owner: 'Succeeded' });
  const record = records().filter((name) => !before.has(name));
  expect(record).toHaveLength(1);

  await kubectl(cluster, ['delete', 'pod', 'owner']);
  await applyPolicy(cluster, 'Enforce', {
    imageGC: { highThresholdPercent: 100, lowThresholdPercent: 80, minimumAge: '1s', maximumAge: '2s' },
    containerGC: {},
  });
  agent = await startAgent(cluster, { args: ['--image-gc-period=1s', '--container-gc-period=1s'] });
  const names = async (): Promise<readonly string[]> => Object.values(await imageNames(cluster)).flat();
  await expect.poll(names, eventually).not.toContain(pulled.ref);
  await agent.stop();
  agent = undefined;
  // Neither dustpan nor the kubelet has deleted it.
  expect(records()).toEqual(expect.arrayContaining(record));

  for (const spec of [pulled, imported]) {
    const { archive } = await archiveOf([spec]);
    await cluster.importImage({ archive });
  }
  await createPod('stranger', pulled.ref);
  await createPod('control', imported.ref);
  await createPod('again', pulled.ref, { imagePullSecrets: [{ name: 'login' }] });
  // An imported image without a record is free for all, as the kubelet's default policy for credentials says.
  await untilPhases(cluster, { control: 'Succeeded', again: 'Succeeded', stranger: 'Pending' });
  await expect.poll(() => waiting('stranger'), eventually).toMatch(/^(ErrImagePull|ImagePullBackOff)$/);
});
