import { setTimeout as sleep } from 'node:timers/promises';
import { agentUser } from '../cluster/agent/agent.ts';
import { applyPolicy, archiveOf, listContainers, startQuietNode } from '../cluster/agent/environment.ts';
import type { Cluster } from '../cluster/servers/cluster.ts';
import { mountServiceAccount } from '../cluster/controller/dustpan.ts';
import { busyboxImage, tinyImages } from '../cluster/node/image.ts';
import { kubectl } from '../cluster/servers/kubectl.ts';

/** What the node holds. */
interface NodeSize {
  readonly images: number;
  readonly containers: number;
}

/** A real node, full of images and containers, whose kubelet collects nothing. */
export interface AgentBed {
  readonly cluster: Cluster;
  /** What the agent is told by its pod, beside the files of a service account. */
  readonly env: Readonly<Record<string, string>>;
  /** Images that a policy with `removing` lets go. */
  readonly removableImages: number;
}

/** One in so many images may go by the policy of the last part. */
const removablePart = 3;
const repositories = { kept: 'bed.test/kept', removable: 'bed.test/removable' };

/** Starts the node and fills it: pods of ten containers each, made by the kubelet from the API, one in five still running. */
export async function startAgentBed({ images, containers }: NodeSize): Promise<AgentBed> {
  // The pause image and the one that pods run are there too.
  const removableImages = Math.floor(images / removablePart);
  const others = tinyImages(images - removableImages - 2, repositories.kept);
  const { archive } = await archiveOf([
    busyboxImage,
    ...others,
    ...tinyImages(removableImages, repositories.removable),
  ]);
  const cluster = await startQuietNode({ images: [{ archive }] });
  const env = mountServiceAccount(cluster, agentUser.name);
  await fill(cluster, containers);
  return { cluster, env, removableImages };
}

/** All units are on. Lets everything stay that is not old, or with `removing` a third of the images and every dead container go. */
export async function applyAgentPolicy(
  { cluster }: Pick<AgentBed, 'cluster'>,
  mode: 'DryRun' | 'Enforce',
): Promise<void> {
  await applyPolicy(cluster, mode, {
    imageGC: { minimumAge: '1s', maximumAge: '2s', keep: [`${repositories.kept}:*`] },
    containerGC: { minimumAge: '0s', maxPerPodContainer: 0 },
    // The source is the kubelet's Summary; nobody comes near a limit.
    localStorageEviction: { defaultLimits: { pod: '1Gi', container: '1Gi' } },
  });
}

const containersPerPod = 10;
const runningPart = 5;
const patienceMs = 300_000;

async function fill(cluster: Cluster, containers: number): Promise<void> {
  const pods = Array.from({ length: containers / containersPerPod }, (_, i) => podOf(i));
  await kubectl(
    cluster,
    ['create', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: pods }),
  );
  const deadline = performance.now() + patienceMs;
  while (!(await isFull(cluster, containers))) {
    if (performance.now() > deadline) throw new Error(`the node has no ${containers} containers`);
    await sleep(1_000);
  }
}

function podOf(index: number): object {
  const runs = index % runningPart === 0;
  const container = (_: unknown, i: number): object => ({
    name: `container-${i}`,
    image: busyboxImage.ref,
    command: runs ? ['sleep', '86400'] : ['true'],
    volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `bench-${index}`, namespace: 'default', labels: { app: 'bench' } },
    spec: {
      // No part of what is measured, and much faster.
      hostNetwork: true,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '64Mi' } }],
      containers: Array.from({ length: containersPerPod }, container),
    },
  };
}

async function isFull(cluster: Cluster, wanted: number): Promise<boolean> {
  const all = await listContainers(cluster);
  const settled = all.filter(({ state, name }) => {
    const runs = Number(/^bench-(\d+)\//.exec(name)?.[1]) % runningPart === 0;
    return state === (runs ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED');
  });
  return all.length === wanted && settled.length === wanted;
}
