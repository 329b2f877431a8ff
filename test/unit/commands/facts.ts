import type { StorageUsage } from '../../../src/api/local-storage.ts';
import type { DiskSignal } from '../../../src/api/node-pressure.ts';
import { rankPolicies } from '../../../src/api/policy/matching.ts';
import {
  isInvalid,
  type InvalidPolicy,
  type NodePressurePolicy,
  type NodesPolicy,
  type Policy,
  type TerminatedPolicy,
} from '../../../src/api/policy/policy.ts';
import type { Decision, PlanDocument } from '../../../src/evaluation/plan/document.ts';
import { planUnits } from '../../../src/evaluation/plan/units.ts';
import type { Unit } from '../../../src/gc/decision.ts';
import type { NodePodFacts } from '../../../src/kube/cache/node-pods.ts';
import type { NodeReportFacts } from '../../../src/kube/cache/node-report-facts.ts';
import type { JobFacts, NamespaceFacts, NodeFacts, PodFacts } from '../../../src/kube/cache/objects.ts';
import { emptyState } from '../../../src/node/disk/state-format.ts';
import type { NodePart, PlanFacts } from '../../../src/snapshot/plan-facts.ts';
import { node, nodesRules, now, policy, readUnder, selectingAll } from '../../builders.ts';
import { nodePod } from '../agent/imagegc/builders.ts';
import { usage } from '../agent/localstorage/builders.ts';
import { pressurePolicy, reading, thresholds } from '../agent/nodepressure/builders.ts';
import { terminated } from '../controllers/podgc/rows.ts';

/** The facts of a plan in lists. By default node-1 exists, the namespaces of the pods are known, and everything else is empty. */
export interface Facts {
  readonly policies?: readonly (Policy | InvalidPolicy)[];
  readonly pods?: readonly PodFacts[] | undefined;
  readonly nodes?: readonly NodeFacts[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  /** Namespaces with the keep label. */
  readonly keptNamespaces?: readonly string[];
  readonly jobs?: readonly JobFacts[] | undefined;
  readonly part?: Partial<NodePart>;
  readonly reports?: readonly NodeReportFacts[];
  readonly nodeStates?: PlanFacts['nodeStates'];
  readonly openBreakers?: PlanFacts['openBreakers'];
  readonly inForce?: PlanFacts['inForce'];
  readonly wanted?: PlanFacts['wanted'];
  /** Skips quarantines. */
  readonly assumeElapsed?: boolean;
}

/** Pods under a policy with this rule for those that have finished. */
export const finished = (over: Partial<TerminatedPolicy> = {}, ...pods: readonly PodFacts[]): Facts => ({
  policies: [terminated(over)],
  pods,
});

/** With the same id of the rules, whatever fields policies have: texts name it. */
const withFixedId = (one: Policy | InvalidPolicy): Policy | InvalidPolicy =>
  isInvalid(one) ? one : { ...one, rulesId: `rules-${one.name}` };

export function factsOf(facts: Facts): PlanFacts {
  const { pods = [], nodes = [node('node-1')], part, jobs, keptNamespaces = [] } = facts;
  const names = facts.namespaces ?? [...new Set(pods.map(({ namespace }) => namespace))];
  return {
    policies: rankPolicies(facts.policies ?? []).map(withFixedId),
    openBreakers: facts.openBreakers,
    inForce: facts.inForce,
    wanted: facts.wanted,
    pods: byUid(readUnder(facts.policies, pods)),
    nodes: 'nodes' in facts && facts.nodes === undefined ? undefined : byUid(nodes),
    namespaces: byUid([
      ...names.map((name) => namespaceOf(name)),
      ...keptNamespaces.map((name) => namespaceOf(name, keepMark)),
    ]),
    jobs: jobs && byUid(jobs),
    replicaSets: jobs && new Map(),
    parts: part === undefined ? [] : [partOf(part)],
    reports: facts.reports ?? [],
    nodeStates: facts.nodeStates,
    notes: [],
  };
}

export const keepMark = { 'gc.dustpan.dev/keep': 'true' } as const;

export const namespaceOf = (name: string, labels: NamespaceFacts['labels'] = {}): NamespaceFacts => ({
  uid: `uid-${name}`,
  name,
  resourceVersion: '1',
  labels,
});

export function byUid<T extends { readonly uid: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.uid, item]));
}

/** Node-1 with an image file system that is 90 % full, and nothing on it. */
export const partOf = (over: Partial<NodePart>): NodePart => ({
  name: 'node-1',
  pods: [],
  images: [],
  containers: [],
  sandboxes: [],
  mounted: [],
  sandboxImage: undefined,
  disk: { capacityBytes: 10_000, availableBytes: 1000 },
  state: emptyState,
  logs: undefined,
  checkpoints: undefined,
  usage: undefined,
  ...over,
});

/** A pod of node-1 that names these images. */
export const boundPod = (name: string, images: readonly string[] = []): NodePodFacts => ({
  ...nodePod(name, images),
  workload: { kind: 'Pod', name },
  resourceVersion: '1',
  priority: undefined,
  isOptedOut: false,
  doNotDisrupt: undefined,
  storage: { emptyDirs: [], containers: [], initContainers: [], overheadBytes: undefined },
});

/** A rule with a threshold of 15 % for a signal, and a measurement of which 10 % are available: 500 are missing. */
export const shortOf = (
  signal: DiskSignal,
): { readonly nodePressure: NodePressurePolicy; readonly usage: StorageUsage } => ({
  nodePressure: pressurePolicy({ thresholds: thresholds({ [signal]: '15%' }) }),
  usage: usage({}, { signals: [reading({ signal, available: 1_000, capacity: 10_000 })] }),
});

/** A policy for the nodes alone. */
export const nodesPolicy = (over: Partial<NodesPolicy>): Policy => ({
  ...policy({ name: 'nodes', pods: undefined }),
  nodes: nodesRules(over),
});

export const nodesBy = (over: Partial<NodesPolicy>): { readonly policies: readonly [Policy] } => ({
  policies: [nodesPolicy(over)],
});

export const broken: InvalidPolicy = {
  name: 'broken',
  uid: 'uid-broken',
  generation: 1,
  priority: 9,
  ...selectingAll,
  problems: ['spec.pods.terminated.treshold: is not a known field'],
};

/** All decisions of a plan, kept objects included. */
export const decided = (facts: Facts, unit: Unit): readonly Decision[] =>
  planned(facts).decisions.filter((one) => one.unit === unit);

/** `ORDER NAME VERDICT REASON` of each decision. */
export const decisionLines = (facts: Facts, unit: Unit): readonly string[] =>
  decided(facts, unit).map(
    ({ verdict, reason, order, object }) => `${order ?? '-'} ${String(object.name)} ${verdict} ${reason}`,
  );

const planned = ({ assumeElapsed = false, ...facts }: Facts): PlanDocument =>
  planUnits(factsOf(facts), { now, kept: true, assumeElapsed });
