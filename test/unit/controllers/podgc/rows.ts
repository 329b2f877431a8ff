import { expect } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { rankPolicies } from '../../../../src/api/policy/matching.ts';
import { decisionsOf, type PodGcFacts, type PodGcPlan } from '../../../../src/controllers/podgc/facts.ts';
import { planPodGc } from '../../../../src/controllers/podgc/plan.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { minutesAgo, node, now, pod, policy, terminatedRule } from '../../../builders.ts';

type World = Partial<Omit<PodGcFacts, 'nodes' | 'pods'>> & {
  readonly pods?: readonly PodFacts[];
  readonly nodes?: readonly ReturnType<typeof node>[];
};

/** The plan of a small world; node-1 exists, every namespace is known, node names have been missing for an hour unless told. */
function plan(world: World, ...policies: (Policy | InvalidPolicy)[]): PodGcPlan {
  const pods = [...(world.pods ?? [])];
  const missing = pods.flatMap(({ nodeName }) =>
    nodeName === undefined ? [] : [[nodeName, 3_600_000] as const],
  );
  const facts: PodGcFacts = {
    namespaces: new Map(pods.map(({ namespace }) => [namespace, {}])),
    jobsFinished: undefined,
    replicaSetOwners: new Map(),
    seenNodes: new Set(),
    missingForMs: new Map(missing),
    finishedForMs: new Map(),
    ...world,
    pods,
    nodes: new Map((world.nodes ?? [node('node-1')]).map((one) => [one.name, one])),
  };
  return planPodGc(facts, { policies: rankPolicies(policies), now });
}

const deleted = (made: PodGcPlan): string[] =>
  made.deletions.map(
    ({ target: { name, markFailed }, reason }) => `${name} ${reason}${markFailed ? ' mark' : ''}`,
  );
const kept = (made: PodGcPlan): string[] =>
  [...made.kept].map(({ target: { name }, reason, eligibleAt }) =>
    [name, reason, eligibleAt?.toISOString().slice(11, 19)].filter(Boolean).join(' '),
  );

export const aged = (
  name: string,
  minutes: number,
  over: Parameters<typeof pod>[1] = {},
): ReturnType<typeof pod> =>
  pod(name, { createdAtMs: minutesAgo(minutes), finishedAtMs: minutesAgo(minutes), ...over });
export const evicted = { phase: 'Failed', reason: 'Evicted' } as const;
export const gone = { nodeName: 'node-gone', phase: 'Running' } as const;
export const outOfServiceNode = node('node-1', {
  ready: false,
  taintKeys: ['node.kubernetes.io/out-of-service'],
});
export const terminated = (over: Parameters<typeof terminatedRule>[0]): Policy =>
  policy({ pods: { terminated: terminatedRule(over) } });
export const orphaned = (quarantineMs = 40_000, maxOrphanedNodesPercent = 100): Policy =>
  policy({
    pods: { orphaned: { quarantineMs }, safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent } },
  });

export interface Row {
  readonly name: string;
  readonly world: World;
  readonly policies: readonly (Policy | InvalidPolicy)[];
  readonly goes: readonly string[];
  readonly stays?: readonly string[];
}

/** Runs a row: what goes, in order; what stays, as a set; and that every pod has one verdict. */
export function checkRow({ world, policies, goes, stays }: Row): void {
  const made = plan(world, ...policies);
  expect(deleted(made)).toEqual(goes);
  if (stays !== undefined) expect(kept(made).sort()).toEqual([...stays].sort());
  expect([...decisionsOf(made)].length).toBe([...(world.pods ?? [])].length);
}
