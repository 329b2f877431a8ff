import { asObject, asObjects, asText } from '../../kube/codec/json.ts';
import { inJson } from '../../kube/cache/resources.ts';
import { isForbidden, isNotFound, type KubeTransport } from '../../kube/http/transport.ts';
import { listObjects } from '../../process/list-objects.ts';
import { agentLabels, agentPodOf, type AgentPod } from './agent-pod.ts';

/** The pod of the agent of a node, or why no command runs in a pod there. */
export type FoundAgent = { readonly node: string } & (
  { readonly agent: AgentPod } | { readonly problem: string }
);

/** The service accounts of agents, as `namespace/name`; undefined = the reader may not list them, or the chart has not installed them. */
type Accounts = ReadonlySet<string> | undefined;

/**
 * Lists the pods of agents in which a command can run: of one node, or of all; one for each node. Everybody who may create pods can give a pod the
 * labels of an agent, and the command in it would print what that pod's owner likes.
 */
export async function findAgents(
  transport: KubeTransport,
  node: string | undefined,
  signal: AbortSignal,
): Promise<readonly FoundAgent[]> {
  const found = await listed(() => podsOf(transport, node, signal));
  if (found.length === 0) return [];
  const accounts = await listed(() => accountsOf(transport, signal));
  // Without the accounts, one namespace of all that run agents cannot be told from another.
  const all =
    accounts === undefined && node !== undefined
      ? await listed(() => podsOf(transport, undefined, signal))
      : found;
  return chooseAgents(found, accounts, new Set(all.filter(isOfDaemonSet).map(({ namespace }) => namespace)));
}

/** Chooses the agent of each node. `namespaces`: of all DaemonSets whose pods have the labels. */
export function chooseAgents(
  found: readonly AgentPod[],
  accounts: Accounts,
  namespaces: ReadonlySet<string>,
): readonly FoundAgent[] {
  return [...Map.groupBy(found, ({ node }) => node)].map(([node, pods]) => ({
    node,
    ...chosen(pods, accounts, namespaces),
  }));
}

function chosen(
  pods: readonly AgentPod[],
  accounts: Accounts,
  namespaces: ReadonlySet<string>,
): { readonly agent: AgentPod } | { readonly problem: string } {
  const own = pods.filter(
    (pod) => isOfDaemonSet(pod) && accounts?.has(`${pod.namespace}/${pod.serviceAccount}`) !== false,
  );
  const agent = own.at(-1);
  if (agent === undefined)
    return {
      problem: `${namesOf(pods)} the labels of an agent, but no DaemonSet and service account of dustpan's chart; no command runs there`,
    };
  if (accounts === undefined && namespaces.size > 1)
    return {
      problem: `agents run in several namespaces (${[...namespaces].toSorted().join(', ')}), and only the right to list clusterrolebindings shows which of them the chart has installed`,
    };
  // During an update, a DaemonSet may have two.
  if (new Set(own.map(({ daemonSet }) => daemonSet)).size > 1)
    return { problem: `${namesOf(own)} the labels of its agent; remove all but one` };
  return { agent };
}

const isOfDaemonSet = ({ daemonSet }: AgentPod): boolean => daemonSet !== undefined;

function namesOf(pods: readonly AgentPod[]): string {
  const names = pods.map(({ namespace, name }) => `${namespace}/${name}`).toSorted();
  return names.length === 1 ? `pod ${names.join('')} has` : `pods ${names.join(', ')} have`;
}

async function listed<T>(list: () => Promise<T>): Promise<T> {
  try {
    return await list();
  } catch (cause) {
    throw new Error('listing the pods of agents', { cause });
  }
}

async function podsOf(
  transport: KubeTransport,
  node: string | undefined,
  signal: AbortSignal,
): Promise<readonly AgentPod[]> {
  const ofNode = node === undefined ? {} : { fieldSelector: `spec.nodeName=${node}` };
  const query = { labelSelector: agentLabels, ...ofNode };
  const resource = inJson({ name: 'pods', path: '/api/v1/pods', query }, agentPodOf);
  const pods = await listObjects({ transport, resource }, signal);
  return pods.filter((pod) => pod !== undefined);
}

/** Reads the bindings that give agents their rights: only an administrator of the cluster can create one. */
async function accountsOf(transport: KubeTransport, signal: AbortSignal): Promise<Accounts> {
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  const query = { labelSelector: agentLabels };
  const resource = inJson({ name: 'clusterrolebindings', path, query }, subjectsOf);
  try {
    const bindings = await listObjects({ transport, resource }, signal);
    return bindings.length === 0 ? undefined : new Set(bindings.flat());
  } catch (err) {
    if (isForbidden(err) || isNotFound(err)) return undefined;
    throw err;
  }
}

const subjectsOf = (binding: unknown): readonly string[] =>
  asObjects(asObject(binding)['subjects']).flatMap(({ kind, namespace, name }) =>
    kind === 'ServiceAccount' ? [`${asText(namespace)}/${asText(name)}`] : [],
  );
