import { controllerOf } from '../../kube/cache/owner-references.ts';
import { asObject, asObjects, asText, ownersFromJson } from '../../kube/codec/json.ts';

export interface AgentPod {
  readonly node: string;
  readonly namespace: string;
  readonly name: string;
  readonly serviceAccount: string;
  /** The UID of the DaemonSet that controls it; undefined = none does. */
  readonly daemonSet: string | undefined;
  /** Of the agent's container: the program, then the words after it. */
  readonly command: readonly string[];
  readonly args: readonly string[];
}

/** The labels that the chart gives to the pods of its agents, whatever the name of the release. */
export const agentLabels = 'app.kubernetes.io/part-of=dustpan,app.kubernetes.io/component=agent';

export const agentContainer = 'agent';

const textsIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(asText) : []);

/** Reads a pod of the API; undefined if no command can run in its agent now. */
export function agentPodOf(pod: unknown): AgentPod | undefined {
  const { metadata, spec, status } = asObject(pod);
  const { name, namespace, deletionTimestamp, ownerReferences } = asObject(metadata);
  const { nodeName, containers, serviceAccountName } = asObject(spec);
  const controller = controllerOf(ownersFromJson(ownerReferences));
  const container = asObjects(containers).find((known) => known['name'] === agentContainer);
  if (container === undefined || deletionTimestamp !== undefined || !isRunning(status)) return undefined;
  return {
    node: asText(nodeName),
    namespace: asText(namespace),
    name: asText(name),
    serviceAccount: asText(serviceAccountName),
    daemonSet: controller?.kind === 'DaemonSet' ? controller.uid : undefined,
    command: textsIn(container['command']),
    args: textsIn(container['args']),
  };
}

/** Not its readiness: an agent whose runtime hangs is not ready, and its node is read all the same. */
function isRunning(status: unknown): boolean {
  const statuses = asObjects(asObject(status)['containerStatuses']);
  const own = statuses.find((known) => known['name'] === agentContainer);
  return asObject(own?.['state'])['running'] !== undefined;
}

/** The entry point of the image, for a container without a command. */
const entryPoint: readonly string[] = ['/nodejs/bin/node', '/app/dist/main.js'];

/** The options of the agent that concern its node, and the cluster as it sees it. */
const nodeOptions: ReadonlySet<string> = new Set([
  ...['--node-name', '--cri-socket', '--state-dir', '--pod-logs-dir', '--container-logs-dir'],
  ...[
    '--kubelet-root-dir',
    '--kubelet-endpoint',
    '--kubelet-certificate-authority',
    '--kubelet-insecure-tls',
  ],
  ...['--kubeconfig', '--context'],
]);

/** The command that writes what the agent reads of its node. */
export function snapshotCommand({ command, args }: Pick<AgentPod, 'command' | 'args'>): readonly string[] {
  const program = command.length === 0 ? entryPoint : command;
  const options = args.flatMap((word, i) => {
    const [name = ''] = word.split('=', 1);
    if (!nodeOptions.has(name)) return [];
    const next = args[i + 1];
    const isTwoWords = !word.includes('=') && next !== undefined && !next.startsWith('-');
    return isTwoWords ? [`${word}=${next}`] : [word];
  });
  return [...program, 'snapshot', '-', '--only-node', ...options];
}
