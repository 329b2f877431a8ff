import { ContainerdClient } from '../../containerd/client.ts';
import { criRuntime } from '../../cri/client.ts';
import { foreignBecause } from '../../cri/kubelets-runtime.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { socketPath } from '../../cri/sockets.ts';
import { nodePodsResource, type NodePodFacts } from '../../kube/cache/node-pods.ts';
import { nodesResource } from '../../kube/cache/resources.ts';
import type { KubeTransport } from '../../kube/http/transport.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { ThisNode } from '../../process/config.ts';
import { listObjects } from '../../process/list-objects.ts';

const remedy =
  '--cri-socket (agent.criSocket of the chart) must be the containerRuntimeEndpoint of the kubelet';

/**
 * Calls `use` with the container runtime of this node. Its `checkReady` refuses one that is not the kubelet's, as the agent does. `warn` receives
 * what cannot be checked, without the node and a full stop.
 */
export async function usingRuntime<T>(
  { name, criSocket }: Pick<ThisNode, 'name' | 'criSocket'>,
  { transport, warn }: { readonly transport: KubeTransport; readonly warn: (problem: string) => void },
  use: (runtime: ContainerRuntime, containerd: ContainerdClient) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const known = async <O>(what: string, list: Promise<O>): Promise<O | undefined> => {
    try {
      return await list;
    } catch (err) {
      signal.throwIfAborted();
      warn(`whether its container runtime is the kubelet's is not known: listing ${what}: ${errorLine(err)}`);
      return undefined;
    }
  };
  const [nodes, pods] = await Promise.all([
    known('nodes', listObjects({ transport, resource: nodesResource({ name }) }, signal)),
    known('pods', podsOnNode(name, transport, signal)),
  ]);
  const runtimeVersion = nodes?.[0]?.containerRuntimeVersion;
  const socket = socketPath(criSocket);
  const containerd = new ContainerdClient({ socket });
  const runtime = criRuntime({
    socket,
    foreignBecause: (identity) => {
      const why = foreignBecause(identity, { runtimeVersion, pods });
      return why && `${why}; ${remedy}`;
    },
  });
  try {
    return await use(runtime, containerd);
  } finally {
    runtime.close();
    containerd.close();
  }
}

export async function podsOnNode(
  name: string,
  transport: KubeTransport,
  signal: AbortSignal,
): Promise<readonly NodePodFacts[]> {
  return await listObjects({ transport, resource: nodePodsResource(name) }, signal);
}
