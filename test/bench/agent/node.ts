import { agentUser } from '../../cluster/agent/agent.ts';
import { applyPolicy, listContainers, startQuietNode } from '../../cluster/agent/environment.ts';
import type { Cluster } from '../../cluster/servers/cluster.ts';
import { create } from '../../cluster/servers/kubectl.ts';
import { waitUntil } from '../../cluster/servers/waiting.ts';
import { mountServiceAccount } from '../../cluster/controller/dustpan.ts';
import { busyboxImage, tinyImages } from '../../cluster/node/image.ts';

/** A real node, full of images and containers, whose kubelet collects nothing. */
export interface FullNode {
  readonly cluster: Cluster;
  /** The environment of a pod with a service account. */
  readonly env: Readonly<Record<string, string>>;
  /** Images and containers that the policy removes. */
  readonly removable: { readonly images: number; readonly containers: number };
}

const repositories = { kept: 'bed.test/kept', removable: 'bed.test/removable' };

/** Starts the node and fills it with images, a third of them removable, and with pods of ten containers, one pod in five running. */
export async function startFullNode(images: number, containers: number): Promise<FullNode> {
  const removable = Math.floor(images / 3);
  const cluster = await startQuietNode({
    images: [
      busyboxImage,
      // The pause image and busybox are there too.
      ...tinyImages(images - removable - 2, repositories.kept),
      ...tinyImages(removable, repositories.removable),
    ],
  });
  const env = mountServiceAccount(cluster, agentUser.name);
  const dead = await fill(cluster, containers);
  return { cluster, env, removable: { images: removable, containers: dead } };
}

/** Turns every unit on. In Enforce it removes the removable images and all dead containers. */
export async function applyNodePolicy({ cluster }: FullNode, mode: 'DryRun' | 'Enforce'): Promise<void> {
  await applyPolicy(cluster, mode, {
    imageGC: { minimumAge: '1s', maximumAge: '2s', keep: [`${repositories.kept}:*`] },
    containerGC: { minimumAge: '0s', maxPerPodContainer: 0 },
    // No pod comes near these limits.
    localStorageEviction: { defaultLimits: { pod: '1Gi', container: '1Gi' } },
  });
}

const containersPerPod = 10;
const isRunning = (pod: number): boolean => pod % 5 === 0;

/** Resolves with the number of dead containers. */
async function fill(cluster: Cluster, containers: number): Promise<number> {
  const items = Array.from({ length: containers / containersPerPod }, (_, i) => podManifest(i));
  await create(cluster, ...items);
  const running = items.filter((_, i) => isRunning(i)).length * containersPerPod;
  const isFull = async (): Promise<boolean> => {
    const states = (await listContainers(cluster)).map(({ state }) => state);
    const count = (wanted: string): number => states.filter((state) => state === wanted).length;
    return count('CONTAINER_RUNNING') === running && count('CONTAINER_EXITED') === containers - running;
  };
  await waitUntil(`the node has ${containers} containers`, isFull, { timeout: 300_000 });
  return containers - running;
}

function podManifest(index: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `bench-${index}`, namespace: 'default' },
    spec: {
      // A pod network would only take time.
      hostNetwork: true,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '64Mi' } }],
      containers: Array.from({ length: containersPerPod }, (_, i) => ({
        name: `container-${i}`,
        image: busyboxImage.ref,
        command: isRunning(index) ? ['sleep', '86400'] : ['true'],
        volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
      })),
    },
  };
}
