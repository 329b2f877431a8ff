import type { Right } from '../../api/policy/needs.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';

/** What the chart installs, as the API server shows it. undefined = it may not be read; `unread` says what. Times are RFC 3339. */
export interface Installation {
  readonly controllers: readonly Controller[] | undefined;
  readonly agents: readonly Workload[] | undefined;
  /** The Lease that all releases share, read where no Deployment was found. `unknown` = it may not be read; undefined = there is none. */
  readonly clusterLease?: Lease | 'unknown' | undefined;
  /** Only of workloads that are not complete; of others nobody needs them. */
  readonly pods: readonly OwnPod[];
  readonly warnings: readonly Warning[];
  readonly missingRights: readonly MissingRights[];
  /** What the controller has warned about lately: removals that something holds up. Empty unless asked for. */
  readonly blocked: readonly Blocked[];
  readonly nodes: readonly OwnNode[] | undefined;
  readonly kinds: readonly OwnKind[];
  /** Names of the ValidatingAdmissionPolicies that have a binding. */
  readonly admissionPolicies: readonly string[] | undefined;
  /** What the reader may not read, such as "deployments of all namespaces". */
  readonly unread: readonly string[];
}

export interface Workload {
  readonly kind: 'Deployment' | 'DaemonSet';
  readonly namespace: string;
  readonly name: string;
  /** The release: its label app.kubernetes.io/instance. */
  readonly instance: string;
  /** '' = unknown. */
  readonly version: string;
  readonly createdTime: string;
  readonly serviceAccount: string;
  readonly desired: number;
  readonly ready: number;
  /** The message of the condition ReplicaFailure; '' = there is none. */
  readonly failure: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** The tolerated keys of taints; `all` = every one. */
  readonly tolerates: 'all' | readonly string[];
  /** Names of the admission policies that limit each agent to its own node. */
  readonly admissionPolicies: readonly string[];
}

export interface Controller extends Workload {
  /** Why its release has no agents, without a full stop; '' = it has. */
  readonly noAgents: string;
  /** Without leader election a ready pod acts. `unknown` = the Lease may not be read; undefined = there is none. */
  readonly lease: 'off' | 'unknown' | Lease | undefined;
  readonly leaseName: { readonly namespace: string; readonly name: string };
  /** The controller of another release that acts for the whole cluster, as `namespace/pod`; undefined = none, or not known. */
  readonly waitsFor?: string | undefined;
}

export interface Lease {
  /** '' = none, or its pod exists no more. */
  readonly holder: string;
  /** Namespace of the holder's pod; undefined = not known. */
  readonly holderNamespace?: string | undefined;
  readonly acquiredTime: string;
  readonly renewedTime: string;
  readonly termSeconds: number;
  /** When it was read, by the clock of the API server. */
  readonly readTime: string;
}

export interface OwnPod {
  readonly namespace: string;
  readonly name: string;
  readonly component: string;
  readonly instance: string;
  readonly nodeName: string | undefined;
  readonly ready: boolean;
  readonly createdTime: string;
  /** Why it does not run, as the scheduler or the kubelet names it; '' = not known. */
  readonly reason: string;
  readonly message: string;
}

export interface Warning {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  readonly time: string;
}

/** A warning of the controller about a removal that something holds up. */
export interface Blocked extends Warning {
  /** The UID of the object; '' = unknown. */
  readonly uid: string;
  /** Why the pod is stuck, in a word; '' = another reason, or an older controller. */
  readonly cause: string;
  /** The pod of that name now; undefined = not known, or the object is no pod. */
  readonly pod: PodFacts | 'gone' | undefined;
}

export interface MissingRights {
  readonly kind: Workload['kind'];
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly rights: readonly Right[];
}

export interface OwnNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taintKeys: readonly string[];
  readonly ready: boolean;
  readonly readyChangedAtMs: number | undefined;
}

export interface OwnKind {
  readonly name: 'gcpolicies' | 'nodegcreports';
  readonly isInstalled: boolean;
  /** Versions in which objects are stored although no version of that name is served any more. */
  readonly unservedVersions: readonly string[];
}

/** Time by which the clocks of the controller and the API server may differ. */
const toleranceMs = 30_000;

/** Whether a controller carries out policies now; undefined = not known. */
export function isLed({
  ready,
  lease,
  waitsFor,
}: Pick<Controller, 'ready' | 'lease' | 'waitsFor'>): boolean | undefined {
  if (lease === 'off') return ready > 0;
  if (lease === 'unknown') return undefined;
  return waitsFor === undefined && hasHolder(lease);
}

/** Whether somebody holds the Lease, as far as its times show. */
export function hasHolder(lease: Lease | undefined): lease is Lease {
  if (lease === undefined || lease.holder === '') return false;
  const endMs = Date.parse(lease.renewedTime) + lease.termSeconds * 1_000;
  return Date.parse(lease.readTime) < endMs + toleranceMs;
}

/** The pod of another release that holds the Lease of the cluster. A pod of the same Deployment is no other release: its replacement takes the Lease in a moment. */
export function waitsFor(
  { namespace, name, lease: own }: Controller,
  lease: Exclude<Controller['lease'], 'off'>,
): string | undefined {
  if (lease === 'unknown' || !hasHolder(lease)) return undefined;
  const { holder, holderNamespace: other } = lease;
  if (typeof own === 'object' && own.holder === holder) return undefined;
  const [pod = ''] = holder.split('_');
  if (other === undefined) return pod;
  return other === namespace && pod.startsWith(`${name}-`) ? undefined : `${other}/${pod}`;
}

/** Why nodes have no agents, where their absence is no problem; undefined = there are some, or there should be. */
export const whyNoAgents = ({
  controllers,
  agents,
}: Pick<Installation, 'controllers' | 'agents'>): string | undefined =>
  agents?.length === 0 && controllers?.every(({ noAgents }) => noAgents !== '') === true
    ? controllers[0]?.noAgents
    : undefined;

/** Without a full stop; undefined = the DaemonSet should make a pod there. */
export function exclusionOf(
  { labels, taintKeys }: OwnNode,
  { nodeSelector, tolerates }: Pick<Workload, 'nodeSelector' | 'tolerates'>,
): string | undefined {
  if (labels['type'] === 'virtual-kubelet' || labels['eks.amazonaws.com/compute-type'] === 'fargate')
    return cannotRun;
  const unmet = Object.entries(nodeSelector).find(([key, value]) => labels[key] !== value);
  // A node of another operating system is meant to have none.
  if (unmet !== undefined)
    return unmet[0] === 'kubernetes.io/os' ? cannotRun : `agent.nodeSelector has ${unmet.join('=')}`;
  const taint = tolerates === 'all' ? undefined : taintKeys.find((key) => !tolerates.includes(key));
  return taint === undefined ? undefined : `agent.tolerations has none for the taint ${taint}`;
}

/** A virtual node, or one of another operating system. */
export const cannotRun = 'no agent can run there';
