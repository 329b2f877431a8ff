import type { NodeReportFacts } from '../../../src/kube/cache/node-report-facts.ts';
import type { InvalidPolicy, NodesPolicy, Policy, PodsPolicy } from '../../../src/api/policy/policy.ts';
import type { Decision, PlanOptions } from '../../../src/commands/plan/document.ts';
import type { Unit } from '../../../src/gc/decision.ts';
import { planWorld } from '../../../src/commands/plan/world.ts';
import { nodePodCodec, type NodePodFacts } from '../../../src/kube/cache/node-pods.ts';
import type { JobFacts, NamespaceFacts, NodeFacts, PodFacts } from '../../../src/kube/cache/objects.ts';
import { emptyState } from '../../../src/node/disk/state-format.ts';
import type { NodePart, World } from '../../../src/snapshot/world.ts';
import { node, nodesRules, now, policy } from '../../builders.ts';

/** What a row says of the world; the rest is one policy, one node and one namespace, and nothing in them. */
export interface Scene {
  readonly pods?: readonly PodFacts[];
  readonly policies?: readonly (Policy | InvalidPolicy)[];
  readonly nodes?: readonly NodeFacts[];
  readonly namespaces?: readonly string[];
  /** Of them, those that are marked to be kept. */
  readonly keptNamespaces?: readonly string[];
  readonly jobs?: readonly JobFacts[];
  readonly part?: Partial<NodePart>;
  /** Of other nodes. */
  readonly reports?: readonly NodeReportFacts[];
  /** Quarantines are over. */
  readonly assumeElapsed?: boolean;
}

/** What a plan decides, what stays included. */
export function decided(scene: Scene, unit: Unit): readonly Decision[] {
  const { assumeElapsed = false } = scene;
  const options: PlanOptions = { now, kept: true, assumeElapsed };
  return planWorld(worldOf(scene), options).decisions.filter((one) => one.unit === unit);
}

export const podsBy = (over: Partial<PodsPolicy>): { readonly policies: readonly [Policy] } => ({
  policies: [policy({ pods: over })],
});

export const nodesBy = (over: Partial<NodesPolicy>): { readonly policies: readonly [Policy] } => ({
  policies: [policy({ pods: undefined, nodes: nodesRules(over) })],
});

export const invalidPolicy: InvalidPolicy = {
  name: 'broken',
  uid: 'uid-broken',
  generation: 1,
  priority: 0,
  problems: ['spec.mode: is wrong'],
};

export const keepMark = { 'gc.dustpan.dev/keep': 'true' } as const;

/** A pod of the node that refers to these images. */
export const boundPod = (name: string, images: readonly string[] = []): NodePodFacts =>
  nodePodCodec().fromJson({
    metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1' },
    spec: { containers: images.map((image) => ({ image })) },
    status: { phase: 'Pending' },
  });

function worldOf(scene: Scene): World {
  const {
    pods = [],
    policies = [],
    nodes = [node('node-1')],
    namespaces = ['default'],
    keptNamespaces = [],
    jobs,
  } = scene;
  return {
    policies,
    pods: byUid(pods),
    nodes: byUid(nodes),
    namespaces: byUid([
      ...namespaces.map((name) => namespaceNamed(name)),
      ...keptNamespaces.map((name) => namespaceNamed(name, keepMark)),
    ]),
    jobs: byUid(jobs ?? []),
    replicaSets: new Map(),
    parts: scene.part === undefined ? [] : [partOf(scene.part)],
    reports: scene.reports ?? [],
    notes: [],
  };
}

const partOf = (over: Partial<NodePart>): NodePart => ({
  name: 'node-1',
  pods: [],
  images: [],
  containers: [],
  sandboxes: [],
  mounted: [],
  sandboxImage: undefined,
  disk: undefined,
  state: emptyState,
  logs: undefined,
  usage: undefined,
  ...over,
});

const namespaceNamed = (name: string, labels: Readonly<Record<string, string>> = {}): NamespaceFacts => ({
  uid: `uid-${name}`,
  name,
  resourceVersion: '1',
  labels,
});

const byUid = <T extends { readonly uid: string }>(items: readonly T[]): ReadonlyMap<string, T> =>
  new Map(items.map((item) => [item.uid, item]));
