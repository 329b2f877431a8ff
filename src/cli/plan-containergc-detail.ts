import type { Decision } from '../agent/containergc/facts.ts';
import type { ContainerGcPolicy } from '../api/policy.ts';
import type { ContainerKeepReason, ContainerRemoveReason } from '../api/reasons.ts';
import { formatDuration } from '../runtime/duration.ts';

type Policy = ContainerGcPolicy | undefined;

/** Why a container, a sandbox or a log goes or stays, in one sentence. */
export function containerDetail(one: Decision, policy: Policy): string {
  return one.verdict === 'Remove' ? removed[one.reason](one, policy) : kept[one.reason](one, policy);
}

type Sentence = (one: Decision, policy: Policy) => string;
const plain =
  (text: string): Sentence =>
  () =>
    text;
const limit = (count: number | undefined): string => (count === undefined ? '-1' : String(count));

const removed: Readonly<Record<ContainerRemoveReason, Sentence>> = {
  PodGone: plain('Not running, and its pod is gone.'),
  DeadContainer: (_, policy) =>
    `Dead, and over a limit: nodes.containerGC.maxPerPodContainer=${limit(policy?.maxPerPodContainer)}, maxContainers=${limit(policy?.maxContainers)}.`,
  Sandbox: ({ verdict, ...one }) =>
    'because' in one && one.because === 'superseded' && verdict === 'Remove'
      ? 'Not ready, without containers, and its pod has a newer one.'
      : 'Not ready, without containers, and its pod is gone.',
  OrphanedLogs: plain('Its pod is gone, and no container of it is left.'),
  BrokenLink: plain('It leads to a log that does not exist.'),
  RotatedLog: (_, policy) =>
    `Over nodes.containerGC.logs.maxRotatedPerContainer=${limit(policy?.logs?.maxRotatedPerContainer)} or maxBytesPerPod=${limit(policy?.logs?.maxBytesPerPod)}.`,
};

const kept: Readonly<Record<ContainerKeepReason, Sentence>> = {
  Running: ({ object }) => (object.kind === 'sandbox' ? 'It is ready.' : 'It is running.'),
  NotKubelets: plain('The kubelet did not make it: it carries none of its names.'),
  StaticPod: plain('It belongs to a static pod, which is the business of the kubelet alone.'),
  UnknownState: plain('Its state is not known, and its pod is not gone.'),
  TooYoung: (_, policy) =>
    `Younger than nodes.containerGC.minimumAge=${formatDuration(policy?.minimumAgeMs ?? 0)}, or just made and not started yet.`,
  NewestAttempt: plain('The newest dead container of its name in a pod that still exists.'),
  NewestSandbox: plain('The newest sandbox of a pod that still exists.'),
  UnderLimit: plain('No limit is exceeded.'),
  InUse: plain('Its pod still exists, or a container that stays needs it.'),
  Quarantined: plain('Its pod looks gone, and has to be seen so in two passes.'),
  PodsUnknown: plain('The pods of the node are not known, and so none is gone.'),
  ContainersUnknown: plain('The containers or the sandboxes of the node are not known.'),
  ClockUnsure: plain('The clock has jumped: ages cannot be told.'),
  NoPolicy: plain('No policy says anything about this node.'),
  InvalidPolicy: plain('The policy that may govern this node is invalid, and so nothing on it is touched.'),
  KeepMarked: plain('The label gc.dustpan.dev/keep is "true" on the node.'),
  NodeUnknown: plain('The node or the policies are not known.'),
  RuleOff: plain('The policy of the node says nothing about it (nodes.containerGC).'),
};
