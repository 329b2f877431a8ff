import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import { isInvalid, type ContainerGcPolicy } from '../../api/policy/policy.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import { planContainers } from './containers.ts';
import {
  containerTarget,
  decide,
  isKept,
  isRemoval,
  sandboxTarget,
  type Because,
  type ContainerDecision,
  type ContainerGcPlan,
  type ContainerGcTarget,
  type ContainerKept,
  type JudgedContainer,
} from './decisions.ts';
import type { ContainerGcFacts, Given, Ruled } from './facts.ts';
import { logDirectories, planLogDirectories } from './log-directories.ts';
import { planLogLinks } from './log-links.ts';
import { podsNow, type PodsNow } from './pods.ts';
import { planRotatedLogs } from './rotated-logs.ts';
import { planSandboxes } from './sandboxes.ts';

/**
 * Decides which containers, sandboxes and logs of a node are removed, in the order of execution, and why the others stay. Each step sees
 * what the steps before it leave. Pods that are not known are not gone; the limits on dead containers hold all the same.
 */
export function planContainerGc(facts: ContainerGcFacts, { governance, ...given }: Given): ContainerGcPlan {
  const governed = nodeRule(governance, 'containerGC');
  if (governed.kind === 'keep') return { removals: [], kept: keepAll(facts, governed) };
  const { policy, rule } = governed;
  const ruled = { ...given, policy, rule };
  const pods = podsNow(facts, ruled);
  const containers = planContainers(facts, pods, ruled);
  const left = { containers: facts.containers && keptContainers(containers), pods };
  const sandboxes = planSandboxes(facts, left, ruled);
  const logs = planLogs(facts, { pods, containers }, ruled);
  const decisions: readonly ContainerDecision[] = [...containers, ...sandboxes, ...logs];
  return { removals: decisions.filter(isRemoval), kept: decisions.filter(isKept) };
}

/** Nothing may be touched on this node: everything stays, for one reason. */
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

interface SoFar {
  readonly pods: PodsNow;
  readonly containers: readonly ContainerDecision<JudgedContainer>[];
}

function planLogs(
  facts: ContainerGcFacts,
  { pods, containers }: SoFar,
  ruled: Ruled,
): readonly ContainerDecision[] {
  if (facts.logs === undefined) return [];
  const left = facts.containers && keptContainers(containers);
  const podsKnown = facts.pods !== undefined;
  const directories = planLogDirectories(facts.logs, { containers: left, pods, podsKnown }, ruled);
  const gone = directories.filter(isRemoval).map(({ target }) => target);
  const links = planLogLinks(
    facts.logs,
    { containers: facts.containers, goWithDirectory: new Set(gone.flatMap((target) => target.links)) },
    ruled,
  );
  const rotated = planRotatedLogs(
    facts.logs,
    {
      pods,
      goneDirectories: new Set(gone.map(({ path }) => path)),
      removed: containers.filter(isRemoval).map(({ target }) => target.container),
      runtimeKnown: facts.containers !== undefined && facts.sandboxes !== undefined,
    },
    ruled,
  );
  return [...directories, ...links, ...rotated];
}

const keptContainers = (
  decisions: readonly ContainerDecision<JudgedContainer>[],
): readonly RuntimeContainer[] => decisions.filter(isKept).map(({ target }) => target.container);
