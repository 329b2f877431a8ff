// @bed node imageFsMB=512 diskMB=512 loop
import { readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Decision, PlanDocument } from '../../../src/evaluation/plan/document.ts';
import { onNode, startAgent } from '../agent/agent.ts';
import { applyPolicy, measuring, startQuietNode } from '../agent/environment.ts';
import { startController } from '../controller/dustpan.ts';
import { busyboxImage } from '../node/image.ts';
import { Plans } from '../plan-equality/plan-equality.ts';
import type { Cluster } from '../servers/cluster.ts';
import { createOverruns, noMoreEvictions, podEvents, print, write, type Overrun } from './pods.ts';
import { waitUntil } from '../servers/waiting.ts';

/** Its container is over its limit, the pod is not. */
const overBy = (script: string): Overrun => ({
  main: { limit: '4Mi', script },
  second: { limit: '50Mi' },
});
const pods = { layer: overBy(write('/x', 8)), logs: overBy(print(6)) };

/** The magic number of statfs(2). */
const ext4 = 0xef53;

let cluster: Cluster;
let plans: Plans;

beforeAll(async () => {
  cluster = await startQuietNode({ images: [busyboxImage], config: measuring });
  plans = new Plans({
    cluster,
    source: onNode(cluster),
    planArgs: ['--kept', '-o', 'json'],
  });
  await createOverruns(cluster, pods);
  await applyPolicy(cluster, 'Enforce', { localStorageEviction: {} });
});

const evicted = async (): Promise<readonly string[]> =>
  (await podEvents(cluster, 'Evicted')).map(({ pod }) => pod).toSorted();

const layerIn = ({ decisions }: PlanDocument): Decision | undefined =>
  decisions.find(({ unit, object }) => unit === 'localstorage' && object.name === 'layer');

const contentOf = (file: string): unknown =>
  JSON.parse(readFileSync(join(plans.directory, 'nodes', cluster.node.name, file), 'utf8'));

test('the kubelet counts no layer for the limit of a container, and dustpan judges as it does', async () => {
  const [kubeletRoot, imageFs] = ['/var/lib/kubelet', '/var/lib/containerd'].map((path) => statfsSync(path));
  expect(kubeletRoot?.type).toBe(ext4);
  expect(imageFs).toMatchObject({ type: ext4, blocks: kubeletRoot?.blocks, files: kubeletRoot?.files });
  // The kubelet evicts the one for its logs: it would have evicted the other for its layer by then.
  await waitUntil('the kubelet to evict', async () => (await evicted()).includes('logs'));
  expect(await noMoreEvictions(evicted)).toEqual(['logs']);

  await plans.snapshot();
  for (const plan of [await plans.offline(), await plans.live()])
    expect(layerIn(plan)).toMatchObject({ verdict: 'Keep', reason: 'UnderLimit' });
  const devices = contentOf('devices.json') as Record<'kubeletRoot' | 'imageFs' | 'containerFs', number>;
  expect(devices.imageFs).not.toBe(devices.kubeletRoot);
  expect(devices.containerFs).toBe(devices.imageFs);

  await using agent = await startAgent(cluster, { args: ['--local-storage-period=2s'] });
  await agent.ready();
  await using controller = await startController(cluster);
  expect(controller.pid).toBeGreaterThan(0);
  expect(await noMoreEvictions(evicted)).toEqual(['logs']);
}, 900_000);

test('on one disk the same values evict the pod: the layer was measured', async () => {
  const plan = await plans.edited(join('nodes', cluster.node.name, 'devices.json'), (content) =>
    Object.assign(content, { kubeletRoot: 1, imageFs: 1, containerFs: 1 }),
  );
  expect(layerIn(plan)).toMatchObject({ verdict: 'Evict', reason: 'ephemeralcontainerfs.limit' });
});
