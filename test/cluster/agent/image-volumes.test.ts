// @bed node
import { beforeAll, expect, test } from 'vitest';
import { everySecond, imageRecord, startAgent } from './agent.ts';
import {
  applyPolicy,
  createPods,
  imageTags,
  imageVolume,
  listContainers,
  metric,
  startQuietNode,
  untilPhases,
} from './environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { inspectedImage } from '../node/crictl.ts';
import { busyboxImage, type ImageSpec } from '../node/image.ts';
import { isContainerd17 } from '../programs/parts.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';

const image = (ref: string): ImageSpec => ({
  ref: `bed.test/${ref}`,
  fill: { bytes: 1024 * 1024, kind: 'random' },
});
const model = image('model:1');
const unused = image('unused:1');

/** Two weeks, in seconds. */
const maximumAgeSeconds = 25;

let cluster: Cluster;
let agent: DustpanProcess;

beforeAll(async () => {
  cluster = await startQuietNode({ images: [busyboxImage, model, unused] });
});

/** Runs a pod that only mounts the model, and removes all of it, as a CronJob with a short history does. */
async function useModel(name: string): Promise<void> {
  await createPods(cluster, {
    [name]: {
      image: busyboxImage.ref,
      script: 'test -d /image && sleep 3',
      restartPolicy: 'Never',
      ...imageVolume(model.ref),
    },
  });
  await untilPhases(cluster, { [name]: 'Succeeded' });
  await kubectl(cluster, ['delete', 'pod', name]);
  const left = async () => (await listContainers(cluster)).filter((one) => one.name.startsWith(`${name}/`));
  // Unless the kubelet comes first.
  for (const container of await left()) await cluster.run('crictl', ['rm', container.id]);
  await expect.poll(left, eventually).toEqual([]);
}

async function lastUsedMs(): Promise<number> {
  const { id } = await inspectedImage(cluster, model.ref);
  return imageRecord(cluster, id)?.lastUsedMs ?? 0;
}

// containerd 1.7 has no image volumes.
test.skipIf(isContainerd17())(
  'a daily image volume survives its maximumAge, and ages after its last use',
  async () => {
    await applyPolicy(cluster, 'Enforce', {
      imageGC: { highThresholdPercent: 100, minimumAge: '1s', maximumAge: `${maximumAgeSeconds}s` },
    });
    agent = await startAgent(cluster, { args: everySecond });
    await agent.ready();
    const began = Date.now();
    for (let day = 0; Date.now() - began < 2 * maximumAgeSeconds * 1000; day++) {
      await useModel(`job-${day}`);
      await passesOf(agent, 'imagegc', 1);
      expect(await lastUsedMs()).toBeGreaterThan(Date.now() - 10_000);
    }
    expect(await imageTags(cluster)).toContain(model.ref);
    expect(await imageTags(cluster)).not.toContain(unused.ref);
    await waitUntil(
      'it ages after its last use',
      async () => !(await imageTags(cluster)).includes(model.ref),
    );
    expect(await metric(agent, 'dustpan_image_garbage_collected_total{reason="age"}')).toBeGreaterThanOrEqual(
      2,
    );
  },
);
