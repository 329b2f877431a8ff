import { expect } from 'vitest';
import type { StorageUsage } from '../../../../src/api/local-storage.ts';
import { isDiskSignal, type DiskSignal } from '../../../../src/api/node-pressure.ts';
import type { Reason } from '../../../../src/api/reasons.ts';
import { rankPolicies } from '../../../../src/api/policy/matching.ts';
import type {
  InvalidPolicy,
  NodePressurePolicy,
  NodesPolicy,
  Policy,
  TerminatedPolicy,
} from '../../../../src/api/policy/policy.ts';
import { planUnits } from '../../../../src/commands/plan/units.ts';
import type { Question } from '../../../../src/commands/why/question.ts';
import { explain, type Explanation, type ExplanationDocument } from '../../../../src/commands/why/explain.ts';
import { whyTable } from '../../../../src/commands/why/table.ts';
import { findTarget } from '../../../../src/commands/why/target.ts';
import type { JobFacts, NamespaceFacts, NodeFacts, PodFacts } from '../../../../src/kube/cache/objects.ts';
import type { NodePodFacts } from '../../../../src/kube/cache/node-pods.ts';
import { emptyState } from '../../../../src/node/disk/state-format.ts';
import type { NodePart, PlanFacts } from '../../../../src/snapshot/plan-facts.ts';
import { node, nodesRules, now, policy, selectingAll } from '../../../builders.ts';
import { nodePod } from '../../agent/imagegc/builders.ts';
import { usage } from '../../agent/localstorage/builders.ts';
import { pressurePolicy, reading, thresholds } from '../../agent/nodepressure/builders.ts';
import { terminated } from '../../controllers/podgc/rows.ts';

/** The facts of a plan in lists. By default node-1 exists, the namespaces of the pods are known, and everything else is empty. */
export interface Facts {
  readonly policies?: readonly (Policy | InvalidPolicy)[];
  readonly pods?: readonly PodFacts[] | undefined;
  readonly nodes?: readonly NodeFacts[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly jobs?: readonly JobFacts[] | undefined;
  readonly part?: Partial<NodePart>;
  readonly openBreakers?: PlanFacts['openBreakers'];
  readonly inForce?: PlanFacts['inForce'];
}

/** Pods under a policy with this rule for those that have finished. */
export const finished = (over: Partial<TerminatedPolicy> = {}, ...pods: readonly PodFacts[]): Facts => ({
  policies: [terminated(over)],
  pods,
});

export function factsOf(facts: Facts): PlanFacts {
  const { pods = [], nodes = [node('node-1')], part, jobs } = facts;
  const names = facts.namespaces ?? [...new Set(pods.map(({ namespace }) => namespace))];
  return {
    policies: rankPolicies(facts.policies ?? []),
    openBreakers: facts.openBreakers,
    inForce: facts.inForce,
    pods: byUid(pods),
    nodes: 'nodes' in facts && facts.nodes === undefined ? undefined : byUid(nodes),
    namespaces: byUid(names.map(namespaceOf)),
    jobs: jobs && byUid(jobs),
    replicaSets: undefined,
    parts: part === undefined ? [] : [partOf(part)],
    reports: [],
    notes: [],
  };
}

export const namespaceOf = (name: string): NamespaceFacts => ({
  ...{ uid: `uid-${name}`, name, resourceVersion: '1' },
  labels: name.startsWith('kept') ? { 'gc.dustpan.dev/keep': 'true' } : {},
});

export function byUid<T extends { readonly uid: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.uid, item]));
}

/** Node-1 with an image file system that is 90 % full, and nothing on it. */
export const partOf = (over: Partial<NodePart>): NodePart => ({
  ...{ name: 'node-1', pods: [], images: [], containers: [], sandboxes: [], mounted: [] },
  sandboxImage: undefined,
  ...{ disk: { capacityBytes: 10_000, availableBytes: 1000 }, state: emptyState, logs: undefined },
  usage: undefined,
  ...over,
});

/** A pod of node-1 that names these images. */
export const boundPod = (name: string, images: readonly string[] = []): NodePodFacts => ({
  ...nodePod(name, images),
  ...{ resourceVersion: '1', priority: undefined, isOptedOut: false },
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

export const broken: InvalidPolicy = {
  ...{ name: 'broken', uid: 'uid-broken', generation: 1, priority: 9 },
  ...selectingAll,
  problems: ['spec.pods.terminated.treshold: is not a known field'],
};

interface Explained {
  readonly explanation: Explanation;
  readonly table: string;
}

interface Asked {
  readonly question: Question;
  readonly facts: PlanFacts;
  readonly assumeElapsed?: boolean;
}

/** Every explanation, made as the command does it. */
export function explainedAll({ question, facts, assumeElapsed = false }: Asked): ExplanationDocument {
  const target = findTarget(question, facts);
  if (target.kind !== 'found') throw new Error(target.message);
  const plan = planUnits(target.facts, { now, kept: false, assumeElapsed, only: target.only });
  return explain(plan, target);
}

/** The only explanation, made as the command does it. */
export function explained(asked: Asked): Explained {
  const document = explainedAll(asked);
  expect(document.explanations).toHaveLength(1);
  const [explanation] = document.explanations;
  if (explanation === undefined) throw new Error('no explanation');
  return { explanation, table: whyTable(document) };
}

/** The expected explanation of one object. */
export interface ReasonRow {
  readonly reason: Reason;
  readonly assumeElapsed?: boolean;
  /** Default: `default` for pods, else `nodes`. */
  readonly policy?: string | null;
  readonly field: string | null;
  /** The whole sentence. */
  readonly why: string;
}

const units = { pod: 'podgc', image: 'imagegc', container: 'containergc' } as const;

/** Explains the object and compares the explanation with the row. */
export function expectExplanation(question: Question, facts: Facts, row: ReasonRow): void {
  const result = explained({ question, facts: factsOf(facts), assumeElapsed: row.assumeElapsed ?? false });
  const { reason, field, why: detail, policy: name = question.kind === 'pod' ? 'default' : 'nodes' } = row;
  const unit = isDiskSignal(reason) ? 'nodepressure' : units[question.kind];
  expect(result.explanation).toMatchObject({ unit, reason, policy: name, field, detail });
  // The signals are reasons of evictions, too.
  if (question.kind !== 'pod') expect(result.explanation.sentence).not.toContain('the pod is first');
  checkExplanation(result);
}

/** Checks what holds for every explanation: its sentences, its width, its policy. */
function checkExplanation({ explanation, table }: Explained): void {
  const { reason, policy: name, mode, field, detail, sentence, change } = explanation;
  expect(table).toContain(reason);
  expect(table).toMatch(
    name === null ? /^ {2}Policy {5}none$/m : new RegExp(`^ {2}Policy {5}GCPolicy ${name} `, 'm'),
  );
  if (mode === 'DryRun') expect(table).toContain('DryRun: nothing is removed');
  if (field !== null) expect(flat(table)).toContain(`Field ${field}`);
  expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  for (const text of [detail, sentence, change]) expect(text).toMatch(/^[A-Za-z].*[.]$/);
  expect(table).not.toMatch(/undefined|NaN|Infinity|\(\)|\[object/);
  expect(detail).not.toMatch(/ {2}| ,/);
}

/** Without line ends and columns. */
export const flat = (table: string): string => table.replaceAll(/\s+/g, ' ');
