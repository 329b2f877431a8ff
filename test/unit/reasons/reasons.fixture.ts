import type { NodeReportFacts } from '../../../src/kube/cache/node-report-facts.ts';
import type { InvalidPolicy, NodesPolicy, Policy } from '../../../src/api/policy/policy.ts';
import type { Decision, PlanDocument, PlanOptions, Totals } from '../../../src/commands/plan/document.ts';
import type { InForce } from '../../../src/gc/hold.ts';
import type { Unit } from '../../../src/gc/decision.ts';
import { planUnits } from '../../../src/commands/plan/units.ts';
import type { JobFacts, NamespaceFacts, NodeFacts, PodFacts } from '../../../src/kube/cache/objects.ts';
import { emptyState } from '../../../src/node/disk/state-format.ts';
import type { NodePart, PlanFacts } from '../../../src/snapshot/plan-facts.ts';
import { node, nodesRules, now, policy, selectingAll } from '../../builders.ts';

/** The facts of one row; the defaults are one empty node and one empty namespace. */
export interface Fixture {
  readonly pods?: readonly PodFacts[];
  readonly policies?: readonly (Policy | InvalidPolicy)[];
  readonly nodes?: readonly NodeFacts[];
  readonly namespaces?: readonly string[];
  /** Namespaces with the keep label. */
  readonly keptNamespaces?: readonly string[];
  readonly jobs?: readonly JobFacts[];
  readonly part?: Partial<NodePart>;
  /** Reports of other nodes. */
  readonly reports?: readonly NodeReportFacts[];
  /** Skips quarantines. */
  readonly assumeElapsed?: boolean;
  /** By the name of the policy. */
  readonly inForce?: Readonly<Record<string, InForce>>;
}

/** All decisions of a plan, kept objects included. */
export function decided(fixture: Fixture, unit: Unit): readonly Decision[] {
  return planned(fixture).decisions.filter((one) => one.unit === unit);
}

/** The totals of a unit on the one node. */
export const totals = (fixture: Fixture, unit: Unit): Totals | undefined =>
  planned(fixture).totals.find((one) => one.unit === unit);

function planned(fixture: Fixture): PlanDocument {
  const { assumeElapsed = false } = fixture;
  const options: PlanOptions = { now, kept: true, assumeElapsed };
  return planUnits(worldOf(fixture), options);
}

export const nodesBy = (over: Partial<NodesPolicy>): { readonly policies: readonly [Policy] } => ({
  policies: [policy({ pods: undefined, nodes: nodesRules(over) })],
});

export const invalidPolicy: InvalidPolicy = {
  name: 'broken',
  uid: 'uid-broken',
  generation: 1,
  priority: 0,
  ...selectingAll,
  problems: ['spec.mode: is wrong'],
};

export const keepMark = { 'gc.dustpan.dev/keep': 'true' } as const;

function worldOf(fixture: Fixture): PlanFacts {
  const {
    pods = [],
    policies = [],
    nodes = [node('node-1')],
    namespaces = ['default'],
    keptNamespaces = [],
    jobs,
  } = fixture;
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
    parts: fixture.part === undefined ? [] : [partOf(fixture.part)],
    inForce: new Map(Object.entries(fixture.inForce ?? {})),
    reports: fixture.reports ?? [],
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
