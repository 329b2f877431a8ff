import { podRefOf, podUidOf } from '../../api/pod-ref.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type { ContainerReason } from '../../gc/reasons/containers.ts';
import { byNewest } from './containers.ts';
import {
  decide,
  sandboxTarget,
  type Because,
  type ContainerDecision,
  type ContainerGcFacts,
  type JudgedSandbox,
  type PlanContext,
} from './facts.ts';
import { holdOf, quarantined, type PodsNow } from './pods.ts';

/**
 * Decides about each sandbox, oldest first: removes all inactive ones of a gone pod, and all but the newest of any other, as the kubelet does
 * (`evictSandboxes`, pkg/kubelet/kuberuntime/kuberuntime_gc.go). `left` are the containers that the plan keeps; undefined = unknown.
 */
export function planSandboxes(
  { sandboxes = [] }: ContainerGcFacts,
  left: readonly RuntimeContainer[] | undefined,
  pods: PodsNow,
  context: PlanContext,
): readonly ContainerDecision<JudgedSandbox>[] {
  const inUse = left && new Set(left.map(({ sandboxId }) => sandboxId));
  const oldestFirst = sandboxes.toSorted(byNewest).reverse();
  const newest = new Set([...Map.groupBy(oldestFirst, podUidOf).values()].map((ofPod) => ofPod.at(-1)));
  return oldestFirst.map((sandbox) => {
    const because =
      keptOutright(sandbox, inUse, pods, context) ??
      becauseOfPod(sandbox, newest.has(sandbox), pods, context);
    return decide({ target: sandboxTarget(sandbox), policy: context.policy }, because);
  });
}

/** Why the sandbox is kept whatever became of its pod; undefined = the pod decides. */
function keptOutright(
  sandbox: RuntimeSandbox,
  inUse: ReadonlySet<string> | undefined,
  pods: PodsNow,
  context: PlanContext,
): Because<ContainerReason> | undefined {
  const kind = 'Sandbox';
  if (!context.rule.sandboxes) return { reason: 'RuleOff', evidence: { kind, isWhole: false } };
  if (sandbox.state === 'Ready') return { reason: 'Running', evidence: { kind } };
  if (podUidOf(sandbox) === undefined) return { reason: 'NotKubelets', evidence: undefined };
  const pod = podRefOf(sandbox);
  const hold = holdOf(pods.stateOf(pod.uid));
  if (hold !== undefined) return { reason: hold, evidence: { pod } };
  if (inUse === undefined) return { reason: 'ContainersUnknown', evidence: undefined };
  return inUse.has(sandbox.id) ? { reason: 'InUse', evidence: { kind, pod } } : undefined;
}

function becauseOfPod(
  sandbox: RuntimeSandbox,
  isNewest: boolean,
  pods: PodsNow,
  context: PlanContext,
): Because<ContainerReason> {
  const pod = podRefOf(sandbox);
  const podState = pods.stateOf(pod.uid);
  const ended = pods.ended(pod);
  if (podState === 'Gone') return { reason: 'Sandbox', evidence: { ...ended, isPodGone: true } };
  if (!isNewest) return { reason: 'Sandbox', evidence: { ...ended, isPodGone: false } };
  if (podState === 'Quarantined') return quarantined(ended, context);
  return { reason: 'NewestSandbox', evidence: { pod } };
}
