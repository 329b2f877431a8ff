import { startAgent, agentUser } from '../agent/agent.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { startCluster, type Cluster, type ClusterOptions } from '../servers/cluster.ts';
import { policyManifest, unheldNodes } from '../../manifests.ts';
import { apply } from '../servers/kubectl.ts';
import { idleKubelet, quickRestarts } from '../agent/environment.ts';

/** The node under its own kubelet's collector, or under dustpan's; the test has one after the other. */
export type Collector = 'kubelet' | 'dustpan';

/** A node with API server and runtime, and a kubelet that removes no images by default. */
export async function startNode(
  options: Pick<ClusterOptions, 'kubelet' | 'ctd' | 'images'>,
): Promise<Cluster> {
  return await startCluster({
    parts: ['etcd', 'api', 'ctd', 'kubelet'],
    crds: true,
    users: [agentUser],
    ...options,
    kubelet: { ...options.kubelet, config: { ...idleKubelet, ...quickRestarts, ...options.kubelet?.config } },
  });
}

const agentPeriodMs = 1_000;

/** Starts the agent with its shortest periods, under a policy with these node rules. */
export async function startCollecting(cluster: Cluster, nodes: object): Promise<DustpanProcess> {
  await applyNodesPolicy(cluster, nodes);
  const periods = ['image', 'container'].map((unit) => `--${unit}-gc-period=${agentPeriodMs}ms`);
  const agent = await startAgent(cluster, { args: [...periods, '--v=5'] });
  await agent.ready();
  return agent;
}

/** Writes the one policy there is. */
export async function applyNodesPolicy(cluster: Cluster, nodes: object): Promise<void> {
  const policy = policyManifest('as-the-kubelet', { mode: 'Enforce', nodes: unheldNodes(nodes) });
  await apply(cluster, policy);
}

interface PodOptions {
  readonly name: string;
  readonly image: string;
  readonly script: string;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly init?: { readonly image: string; readonly script: string };
  /** Held back in the API after its deletion. */
  readonly finalizers?: readonly string[];
  /** limits["ephemeral-storage"] of its main container. */
  readonly storageLimit?: string;
}

/** A pod bound to the node, on its network, so that it starts as soon as the kubelet sees it. */
export function podOn(cluster: Cluster, options: PodOptions): object {
  const { name, image, script, init, finalizers, storageLimit, restartPolicy = 'Never' } = options;
  const resources = storageLimit && { limits: { 'ephemeral-storage': storageLimit } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', finalizers },
    spec: {
      nodeName: cluster.node.name,
      hostNetwork: true,
      restartPolicy,
      terminationGracePeriodSeconds: 1,
      volumes: [{ name: 'count', emptyDir: {} }],
      ...(init && { initContainers: [containerOf('init', init)] }),
      containers: [{ ...containerOf('main', { image, script }), resources }],
    },
  };
}

const containerOf = (
  name: string,
  { image, script }: { readonly image: string; readonly script: string },
): object => ({
  name,
  image,
  imagePullPolicy: 'Never',
  command: ['/bin/busybox', 'sh', '-c', script],
  volumeMounts: [{ name: 'count', mountPath: '/count' }],
});
