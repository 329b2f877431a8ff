import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import { isInvalid, type ContainerGcPolicy } from '../../api/policy/policy.ts';
import { planContainers } from './containers.ts';
import {
  containerTarget,
  decide,
  isKept,
  isRemoval,
  sandboxTarget,
  type Because,
  type ContainerDecision,
  type ContainerGcFacts,
  type ContainerGcPlan,
  type ContainerGcTarget,
  type ContainerKept,
  type Given,
} from './facts.ts';
import { logDirectories } from './log-names.ts';
import { planLogs } from './logs.ts';
import { podsNow } from './pods.ts';
import { planSandboxes } from './sandboxes.ts';

/**
 * Decides which containers, sandboxes and logs of a node to remove, in the order of execution, and why to keep the others. Each step works on
 * the objects that the steps before it keep. Unknown pods do not count as gone; the limits on dead containers apply all the same.
 */
export function planContainerGc(facts: ContainerGcFacts, { governance, ...given }: Given): ContainerGcPlan {
  const governed = nodeRule(governance, 'containerGC');
  if (governed.kind === 'keep') return { removals: [], kept: keepAll(facts, governed) };
  const { policy, rule } = governed;
  const context = { ...given, policy, rule };
  const pods = podsNow(facts, context);
  const containers = planContainers(facts, pods, context);
  const left = facts.containers && containers.filter(isKept).map(({ target }) => target.container);
  const sandboxes = planSandboxes(facts, left, pods, context);
  const logs = planLogs(facts, containers, pods, context);
  const decisions: readonly ContainerDecision[] = [...containers, ...sandboxes, ...logs];
  return { removals: decisions.filter(isRemoval), kept: decisions.filter(isKept) };
}

/** Keeps everything for one reason: no rule allows removals on this node. */
function keepAll(
  { containers = [], sandboxes = [], logs }: ContainerGcFacts,
  { reason, policy }: Extract<NodeRule<ContainerGcPolicy>, { kind: 'keep' }>,
): readonly ContainerKept[] {
  const targets: readonly (readonly [ContainerGcTarget, number?])[] = [
    ...containers.map((container) => [containerTarget(container)] as const),
    ...sandboxes.map((sandbox) => [sandboxTarget(sandbox)] as const),
    ...(logs === undefined ? [] : logDirectories(logs)).map(
      ({ path, pod, bytes }) => [{ kind: 'LogDirectory', path, pod, links: [] }, bytes] as const,
    ),
  ];
  const invalid = policy !== undefined && isInvalid(policy) ? policy : undefined;
  const becauseOf = ({ kind }: ContainerGcTarget): Because<typeof reason> => {
    switch (reason) {
      case 'InvalidPolicy':
        return { reason, evidence: { invalid } };
      case 'KeepMarked':
        return { reason, evidence: { pod: undefined } };
      case 'RuleOff':
        return { reason, evidence: { kind, isWhole: true } };
      case 'NoPolicy':
      case 'NodeUnknown':
        return { reason, evidence: undefined };
    }
  };
  return targets.map(([target, bytes]) => decide({ target, policy, bytes }, becauseOf(target)));
}
