import { inJson } from '../../kube/cache/resources.ts';
import type { KubeTransport } from '../../kube/http/transport.ts';
import { listObjects } from '../cli/list-objects.ts';
import { agentLabels, agentPodOf, type AgentPod } from './pod.ts';

/** Lists the pods of agents in which a command can run: of one node, or of all; one for each node. */
export async function findAgents(
  transport: KubeTransport,
  node: string | undefined,
  signal: AbortSignal,
): Promise<readonly AgentPod[]> {
  const ofNode = node === undefined ? {} : { fieldSelector: `spec.nodeName=${node}` };
  const query = { labelSelector: agentLabels, ...ofNode };
  const resource = inJson({ name: 'pods', path: '/api/v1/pods', query }, agentPodOf);
  try {
    const agents = await listObjects({ transport, resource }, signal);
    const found = agents.filter((agent) => agent !== undefined);
    return [...new Map(found.map((agent) => [agent.node, agent])).values()];
  } catch (cause) {
    throw new Error('listing the pods of agents', { cause });
  }
}
