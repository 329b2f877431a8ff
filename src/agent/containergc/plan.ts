import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import type { ContainerGcPolicy } from '../../api/policy/policy.ts';
import { failedLast } from '../../gc/failures.ts';
import { planCheckpoints } from './checkpoints.ts';
import { planContainers, planSandboxes } from './containers.ts';
import {
  containerTarget,
  decide,
  isKept,
  isRemoval,
  keptByNode,
  sandboxTarget,
  type ContainerDecision,
  type ContainerGcFacts,
  type ContainerGcPlan,
  type ContainerGcTarget,
  type Given,
  type JudgedContainer,
  type JudgedSandbox,
  type PlanContext,
} from './facts.ts';
import { planLargeLogs } from './large-logs.ts';
import { logDirectories } from './log-names.ts';
import { bytesOfLogs, planLogs } from './logs.ts';
import { planOrphans } from './orphans.ts';
import { podEnds, podsNow } from './pods.ts';
import type { PlannedContainers } from '../nodepressure/facts.ts';

/**
 * Decides which containers, sandboxes, logs, orphaned resources and checkpoints of a node to remove, in the order of execution, and why to keep the others. Each step works on
 * the objects that the steps before it keep. What could not be removed comes last. Unknown pods do not count as gone; the limits on dead
 * containers apply all the same.
 */
export function planContainerGc(facts: ContainerGcFacts, given: Given): ContainerGcPlan {
  const objects = planObjects(facts, given);
  const decisions: readonly ContainerDecision[] = [
    ...objects.decisions,
    ...planOrphans(facts, given),
    ...planCheckpoints(facts, given),
  ];
  const hasFailed = ({ target }: ContainerDecision): boolean =>
    'id' in target && facts.failedBefore?.has(target.id) === true;
  const checkpoints = nodeRule(given.governance, 'checkpoints');
  return {
    rule: objects.rule,
    checkpointRule: checkpoints.kind === 'keep' ? undefined : checkpoints.rule,
    ends: podEnds(facts.pods, given.now),
    removals: failedLast(decisions.filter(isRemoval), hasFailed),
    kept: decisions.filter(isKept),
    warnings: objects.warnings,
  };
}

/** The containers that the plan removes, and the known bytes that it frees. */
export function plannedContainers(
  { logs }: Pick<ContainerGcFacts, 'logs'>,
  { removals }: Pick<ContainerGcPlan, 'removals'>,
): PlannedContainers {
  const containers = removals.flatMap(({ target }) =>
    target.kind === 'Container' ? [target.container] : [],
  );
  const bytes = removals.reduce((sum, { bytes: one = 0 }) => sum + one, 0);
  return {
    ids: new Set(containers.map(({ id }) => id)),
    bytes: bytes + (logs === undefined ? 0 : bytesOfLogs(logs, containers)),
  };
}

interface Objects extends Pick<ContainerGcPlan, 'rule' | 'warnings'> {
  readonly decisions: readonly ContainerDecision[];
}

function planObjects(facts: ContainerGcFacts, { governance, ...given }: Given): Objects {
  const governed = nodeRule(governance, 'containerGC');
  if (governed.kind === 'keep') return { rule: undefined, decisions: keepAll(facts, governed), warnings: [] };
  const { policy, rule } = governed;
  const context = { ...given, facts, pods: podsNow(facts, given), policy, rule };
  const containers = planContainers(context).map((one) => unlessPaused(one, context));
  const left = facts.containers && containers.filter(isKept).map(({ target }) => target.container);
  const sandboxes = planSandboxes(left, context).map((one) => unlessPaused(one, context));
  const decisions = [...containers, ...sandboxes, ...planLogs(containers, context)];
  return { rule, decisions, warnings: planLargeLogs(context) };
}

/** Keeps what could not be removed until its pause has passed. */
function unlessPaused<T extends JudgedContainer | JudgedSandbox>(
  decision: ContainerDecision<T>,
  { facts: { failedBefore }, now }: PlanContext,
): ContainerDecision<T> {
  const { times = 0, retryInMs = 0 } = failedBefore?.get(decision.target.id) ?? {};
  if (decision.verdict === 'Keep' || retryInMs <= 0) return decision;
  const eligibleAt = new Date(now.getTime() + retryInMs);
  return decide(decision, { reason: 'RemovalFailed', times, eligibleAt });
}

/** Keeps everything for one reason: no rule allows removals on this node. */
function keepAll(
  { containers = [], sandboxes = [], logs }: ContainerGcFacts,
  governed: Extract<NodeRule<ContainerGcPolicy>, { kind: 'keep' }>,
): readonly ContainerDecision[] {
  const targets: readonly (readonly [ContainerGcTarget, number?])[] = [
    ...containers.map((container) => [containerTarget(container)] as const),
    ...sandboxes.map((sandbox) => [sandboxTarget(sandbox, false)] as const),
    ...(logs === undefined ? [] : logDirectories(logs)).map(
      ({ path, pod, bytes }) => [{ kind: 'LogDirectory', path, pod, links: [] }, bytes] as const,
    ),
  ];
  const { policy } = governed;
  return targets.map(([target, bytes]) => decide({ target, policy, bytes }, keptByNode(governed)));
}
