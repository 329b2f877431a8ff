import type { StorageUsage } from '../api/local-storage.ts';
import type { ImageDisk } from '../api/report/node-pass.ts';
import type { InvalidPolicy, Policy } from '../api/policy/policy.ts';
import type { RuntimeContainer, RuntimeImage, RuntimeSandbox } from '../cri/runtime.ts';
import type { NodeReportFacts } from '../kube/cache/node-report-facts.ts';
import type { NodePodFacts } from '../kube/cache/node-pods.ts';
import type {
  JobFacts,
  NamespaceFacts,
  NodeFacts,
  PodFacts,
  ReplicaSetFacts,
} from '../kube/cache/objects.ts';
import type { LogListing } from '../node/logs/list.ts';
import type { AgentState } from '../node/disk/state-format.ts';

export type ByUid<T> = ReadonlyMap<string, T>;

/** All that a plan is made from, of a snapshot or of a live cluster. undefined = not known: nothing is decided from it. */
export interface World {
  /** Highest priority first; undefined = not known. */
  readonly policies: readonly (Policy | InvalidPolicy)[] | undefined;
  readonly pods: ByUid<PodFacts> | undefined;
  readonly nodes: ByUid<NodeFacts> | undefined;
  readonly namespaces: ByUid<NamespaceFacts> | undefined;
  readonly jobs: ByUid<JobFacts> | undefined;
  readonly replicaSets: ByUid<ReplicaSetFacts> | undefined;
  /** The nodes that were looked into, by name. */
  readonly parts: readonly NodePart[];
  /** What the agents say of nodes that were not. */
  readonly reports: readonly NodeReportFacts[];
  /** What a person should know about what was read, one sentence each. */
  readonly notes: readonly string[];
}

/** Said where a cluster has no policies because it cannot have any. */
export const kindMissingNote = 'The kind GCPolicy is not installed in the cluster.';

/** The inside of one node. */
export interface NodePart {
  readonly name: string;
  /** The pods bound to it. */
  readonly pods: readonly NodePodFacts[] | undefined;
  readonly images: readonly RuntimeImage[] | undefined;
  readonly containers: readonly RuntimeContainer[] | undefined;
  readonly sandboxes: readonly RuntimeSandbox[] | undefined;
  /** The reference of the image that sandboxes are made from; undefined = not known. */
  readonly sandboxImage: string | undefined;
  /** Ids or references that containers have mounted, as far as somebody asked. */
  readonly mounted: readonly string[];
  readonly disk: Pick<ImageDisk, 'capacityBytes' | 'availableBytes'> | undefined;
  /** Empty where none was kept: then every image was first seen now. */
  readonly state: AgentState;
  /** What its pods use of local storage, as far as a policy speaks of that. */
  readonly usage: StorageUsage | undefined;
  /** As listed on the node; of a snapshot below the usual roots. */
  readonly logs: LogListing | undefined;
}

/** The same objects by name: of nodes and namespaces it is unique. */
export const byName = <T extends { readonly name: string }>(objects: ByUid<T>): ReadonlyMap<string, T> =>
  new Map([...objects.values()].map((one) => [one.name, one]));

/** The same part with its lists by id: a runtime gives them in any order, and two looks at one node must make one plan. */
export const inOrder = (part: NodePart): NodePart => ({
  ...part,
  images: part.images?.toSorted(byId),
  containers: part.containers?.toSorted(byId),
  sandboxes: part.sandboxes?.toSorted(byId),
});

interface WithId {
  readonly id: string;
}

const byId = (a: WithId, b: WithId): number => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1);
