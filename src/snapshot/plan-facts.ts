import type { Leftover } from '../api/leftovers.ts';
import type { ImageSpace } from '../api/image-space.ts';
import type { StorageUsage } from '../api/local-storage.ts';
import type { NodeGCReport } from '../api/gen/nodegcreport.gen.ts';
import type { InvalidPolicy, Policy } from '../api/policy/policy.ts';
import type { WantedReading } from '../api/wanted-images.ts';
import type { InForceByName } from '../gc/hold.ts';
import type { OpenBreakers } from '../gc/open-breaker.ts';
import type { RuntimeContainer, RuntimeImage, RuntimeSandbox } from '../cri/runtime.ts';
import type { NodeReportFacts } from '../kube/cache/node-report-facts.ts';
import type { ReportedUsage } from '../kube/cache/reports-with-usage.ts';
import type { NodePodFacts } from '../kube/cache/node-pods.ts';
import type { ReportWithUsage } from '../kube/cache/reports-with-usage.ts';
import type {
  JobFacts,
  NamespaceFacts,
  NodeFacts,
  PodFacts,
  ReplicaSetFacts,
} from '../kube/cache/objects.ts';
import type { DiskSpace } from '../node/disk/filesystem.ts';
import type { LogListing } from '../node/logs/list.ts';
import type { CheckpointListing } from '../node/storage/checkpoints.ts';
import type { OrphansFound } from '../node/storage/orphans-finder.ts';
import type { AgentState } from '../node/disk/state-format.ts';
import { byText } from '../runtime/text/by-text.ts';

export type ByUid<T> = ReadonlyMap<string, T>;

/** The facts of a plan, from a snapshot or a live cluster. undefined = not known. */
export interface PlanFacts {
  /** Highest priority first; undefined = not known. */
  readonly policies: readonly (Policy | InvalidPolicy)[] | undefined;
  /** The policies in force where `--policy` proposes others; empty = none is known. undefined = nothing is proposed. */
  readonly replaced?: readonly (Policy | InvalidPolicy)[] | undefined;
  /** The circuit breakers that the statuses of the policies in force report as open. */
  readonly openBreakers?: OpenBreakers | undefined;
  /** The generations that the statuses of the policies in force report; undefined = not known: no hold is planned. */
  readonly inForce?: InForceByName | undefined;
  readonly pods: ByUid<PodFacts> | undefined;
  readonly nodes: ByUid<NodeFacts> | undefined;
  readonly namespaces: ByUid<NamespaceFacts> | undefined;
  readonly jobs: ByUid<JobFacts> | undefined;
  readonly replicaSets: ByUid<ReplicaSetFacts> | undefined;
  /** The images that workloads want; undefined = no policy needs them, so they were not read. */
  readonly wanted?: WantedReading | undefined;
  readonly parts: readonly NodePart[];
  /** The reports of other nodes. */
  readonly reports: readonly NodeReportFacts[];
  /** What uses the disks, by all reports; undefined = the reports are not known. */
  readonly usage?: readonly ReportedUsage[] | undefined;
  /** What all reports say of the state of their nodes; undefined = the reports are not known. */
  readonly nodeStates?: readonly NodeGCReport[] | undefined;
  /** How to read the objects of those nodes too, without a full stop; undefined = nothing can be added. */
  readonly moreNodes?: string | undefined;
  /** No agent is installed, on purpose, so nothing on nodes is removed; undefined = some are, or it is not known. */
  readonly noAgents?: true | undefined;
  /** The controller may not list the owners that are not known either: it keeps the pods that need them. */
  readonly isBlindToOwners?: true | undefined;
  /** Nodes that were requested and could not be read, and why. */
  readonly unread?: readonly UnreadNode[];
  /** Only these pods are known: a pod that is not among them may exist. undefined = all pods are known. */
  readonly part?: PodPart | undefined;
  /** When the snapshot was taken, or the cluster was read; undefined = a snapshot without this time. */
  readonly takenAt?: Date | undefined;
  /** No controller acts now, so no pod is removed; undefined = one does, or it is not known. */
  readonly idle?: true | undefined;
  /** Problems while reading, one sentence each. */
  readonly notes: readonly string[];
}

/** The facts of all reports; those of nodes that were read are replaced by what was read. */
export const reportedBy = (
  known: ByUid<ReportWithUsage> | undefined,
  read: readonly string[],
): Pick<PlanFacts, 'reports' | 'usage' | 'nodeStates'> => {
  const reports = known && [...known.values()];
  return {
    reports: reports?.filter(({ name }) => !read.includes(name)) ?? [],
    usage: reports?.map(({ reported }) => reported),
    nodeStates: reports?.map(({ state }) => state),
  };
};

export interface UnreadNode {
  readonly name: string;
  /** Without a full stop. */
  readonly problem: string;
}

/** Pods that were chosen by namespace or labels, or both. */
export interface PodPart {
  readonly namespace: string | undefined;
  readonly selector: string | undefined;
}

/** Returns the choice, after the noun: ` of namespace batch with labels app=web`. */
export const partText = ({ namespace, selector }: PodPart): string =>
  [
    ...(namespace === undefined ? [] : [` of namespace ${namespace}`]),
    ...(selector === undefined ? [] : [` with labels ${selector}`]),
  ].join('');

/** The note about a measurement of a kubelet that cannot be. */
export const impossibleNote = (node: string, what: string): string =>
  `Node ${node}: the kubelet reports an impossible value of the ${what}; it counts as unknown, and dustpan removes and evicts nothing because of it.`;

/** Without the kind and without `--policy`, there is no plan. */
export const kindMissing = (): Error =>
  new Error(
    'the kind GCPolicy is not installed in the cluster, so nothing is removed; install dustpan, or add --policy FILE to see what a policy would remove',
  );

export interface NodePart {
  readonly name: string;
  readonly pods: readonly NodePodFacts[] | undefined;
  readonly images: readonly RuntimeImage[] | undefined;
  /** Which bytes they share; undefined = not known: each counts with the size that the runtime reports. */
  readonly space?: ImageSpace | undefined;
  readonly containers: readonly RuntimeContainer[] | undefined;
  readonly sandboxes: readonly RuntimeSandbox[] | undefined;
  /** The reference of the image that sandboxes are made from; undefined = not known. */
  readonly sandboxImage: string | undefined;
  /** Ids or references of images that containers have mounted, as far as known. */
  readonly mounted: readonly string[];
  readonly disk: DiskSpace | undefined;
  /** Empty if there is none: then every image counts as first observed now. */
  readonly state: AgentState;
  /** The local storage usage of its pods; read only if a policy needs it. */
  readonly usage: StorageUsage | undefined;
  /** Paths below the default directories in a snapshot. */
  readonly logs: LogListing | undefined;
  /** What containerd keeps for nobody, in the order of removal. */
  readonly leftovers?: readonly Leftover[] | undefined;
  /** What pods that are gone have left on it, besides logs. */
  readonly orphans?: OrphansFound | undefined;
  readonly checkpoints: CheckpointListing | undefined;
}

/** The same objects by name, which is unique for nodes and namespaces. */
export const byName = <T extends { readonly name: string }>(objects: ByUid<T>): ReadonlyMap<string, T> =>
  new Map([...objects.values()].map((one) => [one.name, one]));

/** The same part with its lists sorted by id: a runtime lists in any order, and the plan must not depend on it. */
export const inOrder = (part: NodePart): NodePart => ({
  ...part,
  images: part.images?.toSorted(byId),
  containers: part.containers?.toSorted(byId),
  sandboxes: part.sandboxes?.toSorted(byId),
});

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => byText(a.id, b.id);
