import { expect } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { rankPolicies } from '../../../../src/api/policy/matching.ts';
import { decisionsOf, type PodGcFacts, type PodGcPlan } from '../../../../src/controllers/podgc/facts.ts';
import { planPodGc } from '../../../../src/controllers/podgc/plan.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { minutesAgo, node, now, pod, policy, readUnder, terminatedRule } from '../../../builders.ts';

type Facts = Partial<Omit<PodGcFacts, 'nodes' | 'pods'>> & {
  readonly pods: readonly PodFacts[];
  readonly nodes?: readonly ReturnType<typeof node>[];
  readonly isLimited?: boolean;
};

/** The plan for a small cluster: node-1 exists, every namespace is known, other nodes have been missing for an hour. */
export function planFor(given: Facts, ...policies: (Policy | InvalidPolicy)[]): PodGcPlan {
  const { nodes = [node('node-1')], isLimited = false, ...seen } = given;
  const { pods } = seen;
  const facts: PodGcFacts = {
    namespaces: new Map(pods.map(({ namespace }) => [namespace, {}])),
    jobsFinished: undefined,
    owners: new Map(),
    seenNodes: new Set(),
    lostNodes: new Set(),
    missingForMs: new Map(
      pods.flatMap(({ nodeName }) => (nodeName === undefined ? [] : [[nodeName, 3_600_000]])),
    ),
    closedForMs: new Map(policies.map(({ name }) => [name, 3_600_000])),
    leftOpenForMs: new Map(),
    finishedForMs: new Map(),
    failedBefore: new Map(),
    inForceForMs: new Map(),
    ...seen,
    pods: readUnder(policies, pods),
    nodes: new Map(nodes.map((one) => [one.name, one])),
  };
  return planPodGc(facts, { policies: rankPolicies(policies), now, isLimited });
}

const deletedBy = ({ deletions }: PodGcPlan): string[] =>
  deletions.map(
    ({ target: { name, markFailed }, reason }) => `${name} ${reason}${markFailed ? ' mark' : ''}`,
  );
const keptBy = ({ kept }: PodGcPlan): string[] =>
  [...kept].map(({ target: { name }, reason, eligibleAt }) =>
    [name, reason, eligibleAt?.toISOString().slice(11, 19)].filter(Boolean).join(' '),
  );

/** The decision about a pod of a small cluster: `Orphaned mark`, `TooYoung 12:05:00`. */
export function verdictOf(one: PodFacts, governing: Policy, given: Omit<Facts, 'pods'> = {}): string {
  const plan = planFor({ pods: [one], ...given }, governing);
  return [...deletedBy(plan), ...keptBy(plan)].map((line) => line.replace(`${one.name} `, '')).join();
}

export const aged = (name: string, minutes: number, over: Partial<PodFacts> = {}): PodFacts =>
  pod(name, { createdAtMs: minutesAgo(minutes), finishedAtMs: minutesAgo(minutes), ...over });
export const evicted = { phase: 'Failed', reason: 'Evicted' } as const;
export const onMissingNode = { nodeName: 'node-gone', phase: 'Running' } as const;
export const outOfServiceNode = node('node-1', {
  ready: false,
  taintKeys: ['node.kubernetes.io/out-of-service'],
});
export const terminated = (over: Parameters<typeof terminatedRule>[0]): Policy =>
  policy({ pods: { terminated: terminatedRule(over) } });
export const orphaned = (quarantineMs = 40_000, maxOrphanedNodesPercent = 100): Policy =>
  policy({ pods: { orphaned: { quarantineMs }, safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent } } });

export interface Row extends Facts {
  readonly name: string;
  readonly policies: readonly (Policy | InvalidPolicy)[];
  /** In order. */
  readonly deleted: readonly string[];
  /** In any order. */
  readonly kept?: readonly string[];
}

/** Checks the decisions about a row, and that every pod has exactly one. */
export function checkRow({ policies, deleted, kept, ...facts }: Row): void {
  const plan = planFor(facts, ...policies);
  expect(deletedBy(plan)).toEqual(deleted);
  if (kept !== undefined) expect(keptBy(plan).sort()).toEqual([...kept].sort());
  expect([...decisionsOf(plan)].length).toBe(facts.pods.length);
}
