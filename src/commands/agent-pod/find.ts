import { asObject, asObjects, asText, parseJson } from '../../kube/codec/json.ts';
import type { KubeTransport } from '../../kube/http/transport.ts';
import { agentLabels, agentPodOf, type AgentPod } from './pod.ts';

const pageSize = 500;

/** Lists the pods of agents in which a command can run: of one node, or of all; one for each node. */
export async function findAgents(
  transport: Pick<KubeTransport, 'send'>,
  node: string | undefined,
  signal: AbortSignal,
): Promise<readonly AgentPod[]> {
  const query = {
    labelSelector: agentLabels,
    limit: String(pageSize),
    ...(node !== undefined && { fieldSelector: `spec.nodeName=${node}` }),
  };
  const agents = new Map<string, AgentPod>();
  let token = '';
  do {
    const page = await listPods(transport, token === '' ? query : { ...query, continue: token }, signal);
    for (const pod of asObjects(page['items'])) {
      const agent = agentPodOf(pod);
      if (agent !== undefined) agents.set(agent.node, agent);
    }
    token = asText(asObject(page['metadata'])['continue']);
  } while (token !== '');
  return [...agents.values()];
}

async function listPods(
  transport: Pick<KubeTransport, 'send'>,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const { body } = await transport.send({ method: 'GET', path: '/api/v1/pods', query }, signal);
    return asObject(parseJson(body));
  } catch (cause) {
    throw new Error('listing the pods of agents', { cause });
  }
}
