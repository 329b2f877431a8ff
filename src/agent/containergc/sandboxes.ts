import { podRefOf, podUidOf, type PodRef } from '../../api/pod-ref.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type { ContainerReason } from '../../gc/reasons/containers.ts';
import {
  decide,
  sandboxTarget,
  type Because,
  type ContainerDecision,
  type JudgedSandbox,
} from './decisions.ts';
import type { ContainerGcFacts, Ruled } from './facts.ts';
import { byNewest, groupedBy } from './order.ts';
import { holdOf, quarantined, type PodsNow } from './pods.ts';

/** What the container step leaves. */
interface Left {
  /** undefined = the containers are not known. */
  readonly containers: readonly RuntimeContainer[] | undefined;
  readonly pods: PodsNow;
}

interface Place extends Left {
  readonly isNewest: boolean;
  /** Ids of sandboxes that a container which stays refers to. */
  readonly inUse: ReadonlySet<string>;
}

/**
 * Decides about each sandbox, oldest first: removes all inactive ones of a gone pod, all but the newest of any other, as the kubelet does
 * (`evictSandboxes`, pkg/kubelet/kuberuntime/kuberuntime_gc.go).
 */
export function planSandboxes(
  { sandboxes = [] }: ContainerGcFacts,
  left: Left,
  ruled: Ruled,
): readonly ContainerDecision<JudgedSandbox>[] {
  const inUse = new Set(left.containers?.map(({ sandboxId }) => sandboxId));
  const oldestFirst = sandboxes.toSorted(byNewest).reverse();
  const pods = groupedBy(oldestFirst, (sandbox) => podUidOf(sandbox) ?? '');
  return oldestFirst.map((sandbox) => {
    const isNewest = pods.get(podUidOf(sandbox) ?? '')?.at(-1) === sandbox;
    const because = becauseOf(sandbox, { ...left, inUse, isNewest }, ruled);
    return decide({ target: sandboxTarget(sandbox), policy: ruled.policy }, because);
  });
}

function becauseOf(sandbox: RuntimeSandbox, place: Place, ruled: Ruled): Because<ContainerReason> {
  const kind = 'Sandbox';
  if (!ruled.rule.sandboxes) return { reason: 'RuleOff', evidence: { kind, isWhole: false } };
  if (sandbox.state === 'Ready') return { reason: 'Running', evidence: { kind } };
  if (podUidOf(sandbox) === undefined) return { reason: 'NotKubelets', evidence: undefined };
  const pod = podRefOf(sandbox);
  const hold = holdOf(place.pods.standing(pod.uid));
  if (hold !== undefined) return { reason: hold, evidence: { pod } };
  if (place.containers === undefined) return { reason: 'ContainersUnknown', evidence: undefined };
  if (place.inUse.has(sandbox.id)) return { reason: 'InUse', evidence: { kind, pod } };
  return becauseOfPod(pod, place, ruled);
}

function becauseOfPod(pod: PodRef, { pods, isNewest }: Place, ruled: Ruled): Because<ContainerReason> {
  const stands = pods.standing(pod.uid);
  const ended = pods.ended(pod);
  if (stands === 'Gone') return { reason: 'Sandbox', evidence: { ...ended, isPodGone: true } };
  if (!isNewest) return { reason: 'Sandbox', evidence: { ...ended, isPodGone: false } };
  if (stands === 'Quarantined') return quarantined(ended, ruled);
  return { reason: 'NewestSandbox', evidence: { pod } };
}
