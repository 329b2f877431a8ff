import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryFlags } from '../../../src/daemon/agent/command.ts';
import { parseState, type ImageRecord } from '../../../src/node/disk/state-format.ts';
import type { AuditEvent } from '../servers/audit.ts';
import { serviceAccountGroups, type Cluster, type User } from '../servers/cluster.ts';
import { startDustpanProcess, type DustpanProcess } from '../servers/dustpan-process.ts';

export interface AgentOptions {
  /** Come last, so they win. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Replace the Node flags that the agent's help recommends. */
  readonly nodeFlags?: readonly string[];
  /** One of the cluster's users; by default `agentUser`, which the cluster must have then. */
  readonly user?: string;
}

/** The agents of one cluster share a state file: the next one continues with it. */
const stateDirOf = (cluster: Cluster): string => join(cluster.dir, 'agent-state');
export const stateFileOf = (cluster: Cluster): string => join(stateDirOf(cluster), 'state.json');

/** What the state file has of an image. */
export function imageRecord(cluster: Cluster, id: string): ImageRecord | undefined {
  const reading = parseState(readFileSync(stateFileOf(cluster), 'utf8'));
  if (reading.kind !== 'read') throw new Error('the state file cannot be read');
  return reading.state.images.get(id);
}

/** The options with which a command reads the node and the state of its agent, as an administrator. */
export const onNode = (cluster: Cluster): readonly string[] => [
  `--kubeconfig=${cluster.kubeconfig('admin')}`,
  `--node-name=${cluster.node.name}`,
  `--cri-socket=${cluster.node.criSocket}`,
  `--state-dir=${stateDirOf(cluster)}`,
];

/** Starts the agent of the cluster's node, with the default paths except for the state's. */
export function startAgent(cluster: Cluster, options: AgentOptions = {}): Promise<DustpanProcess> {
  return startDustpanProcess({
    name: 'agent',
    dir: cluster.dir,
    env: options.env,
    nodeArgs: options.nodeFlags ?? memoryFlags.split(' '),
    args: [
      'agent',
      `--node-name=${cluster.node.name}`,
      `--kubeconfig=${cluster.kubeconfig(options.user ?? agentUser.name)}`,
      `--state-dir=${stateDirOf(cluster)}`,
      ...(options.args ?? []),
    ],
  });
}

/** Passes of images and containers a second apart. */
export const everySecond: readonly string[] = ['--image-gc-period=1s', '--container-gc-period=1s'];

/** A user for `startCluster` with no more rights than the agent needs. */
export const agentUser: User = {
  name: 'dustpan-agent',
  groups: serviceAccountGroups,
  rules: [
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
    { apiGroups: [''], resources: ['nodes/stats', 'nodes/configz'], verbs: ['get'] },
    // With the Helm value agent.orphans.podDirectories.
    { apiGroups: ['storage.k8s.io'], resources: ['volumeattachments'], verbs: ['get'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: ['gc.dustpan.dev'], resources: ['gcpolicies'], verbs: ['list'] },
    { apiGroups: ['gc.dustpan.dev'], resources: ['nodegcreports'], verbs: ['get', 'create'] },
    { apiGroups: ['gc.dustpan.dev'], resources: ['nodegcreports/status'], verbs: ['patch'] },
  ],
};

/** The agent's API requests as distinct `verb resource`, and the forbidden ones. */
export async function agentRequests(
  cluster: Pick<Cluster, 'audit'>,
): Promise<{ readonly requested: readonly string[]; readonly forbidden: readonly string[] }> {
  const requests = await cluster.audit({ user: agentUser.name });
  const forbidden = requests.filter(({ responseStatus }) => responseStatus?.code === 403);
  return { requested: distinct(requests), forbidden: distinct(forbidden) };
}

const distinct = (events: readonly AuditEvent[]): readonly string[] =>
  [...new Set(events.map(requestName))].sort();

/** `verb resource` or `verb resource/subresource`; of other requests the URI. */
export function requestName({ verb, objectRef, requestURI }: AuditEvent): string {
  const { resource, subresource } = objectRef ?? {};
  if (resource === undefined) return `${verb} ${requestURI}`;
  return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}
