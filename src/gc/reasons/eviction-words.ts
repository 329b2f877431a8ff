import type { LargestPart, RequestSignal, StorageExcess, StorageLimit } from '../../api/local-storage.ts';
import { byDiskSignal, isInodes, type NodeSignal, type ThresholdSignal } from '../../api/node-pressure.ts';
import { KEEP_LABEL } from '../../api/policy/matching.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { quantityText } from '../../runtime/text/quantity.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { Decision } from '../decision.ts';
import type { JudgedPod, PodHold, RefusedEviction } from '../pod-evictions.ts';
import type { Meaning, Why } from '../words.ts';
import { explainNode } from './nodes.ts';
import { amountText, keepLabelField, labelRemoved, signalField, signalText, timeText } from './words.ts';

const keepLabel = `the label ${KEEP_LABEL}: "true" on the pod, its namespace or its node`;

/** Reasons to evict a pod, of the agents that request it and of the controller that verifies the request. */
export const requestReasons: Readonly<Record<RequestSignal, Meaning>> = {
  'emptydirfs.limit': {
    meaning: 'An emptyDir volume of the pod exceeds its size limit.',
    change: `Less data in the volume, a higher sizeLimit, nodes.localStorageEviction.evictAtPercent or defaultLimits.emptyDir, or ${keepLabel}.`,
  },
  'ephemeralpodfs.limit': {
    meaning: "The local storage of the pod exceeds the sum of its containers' limits.",
    change: `Less data in layers, logs and volumes, an ephemeral-storage limit for each container that declares none, higher limits, evictAtPercent or defaultLimits.pod, or ${keepLabel}.`,
  },
  'ephemeralcontainerfs.limit': {
    meaning: 'The writable layer and logs of a container exceed its limit.',
    change: `Less data in the layer and logs, a higher ephemeral-storage limit, evictAtPercent or defaultLimits.container, or ${keepLabel}.`,
  },
  ...byDiskSignal((signal) => ({
    meaning: `The node is low on ${signalText[signal]}, removing images and containers did not free enough, and the pod is first in the kubelet's order of eviction.`,
    change:
      'More available than the threshold, less usage or a higher priority of the pod, nodes.nodePressure.evictPods: false, or the label gc.dustpan.dev/keep: "true" on the pod.',
  })),
};

type PodState =
  | 'CriticalPod'
  | 'DoNotDisrupt'
  | 'KeepMarked'
  | 'NamespaceExcluded'
  | 'Finished'
  | 'Terminating'
  | 'UsageUnknown';

/** Reasons to keep a pod whatever it uses. */
export const podStates: Readonly<Record<PodState, Meaning>> = {
  CriticalPod: {
    meaning: 'The pod is critical: it mirrors a static pod, or its priority is 2000000000 or more.',
    change: 'Never by dustpan while the pod is critical: dustpan only warns about such pods.',
  },
  DoNotDisrupt: {
    meaning:
      'The owner of the pod refuses evictions by an annotation, and the kubelet would not evict the pod: the policy alone would.',
    change:
      'Somebody removes the annotation, or sets nodes.respectDoNotDisrupt to false. Above 100 % of a limit that the pod declares, it is evicted all the same; for node pressure only the kubelet evicts it.',
  },
  KeepMarked: {
    meaning: `The pod, its namespace or its node has the label ${KEEP_LABEL}.`,
    change: labelRemoved,
  },
  NamespaceExcluded: {
    meaning: 'The policy of the node excludes the namespace of the pod.',
    change: 'nodes.excludeNamespaces and pods.excludeNamespaces of the policy do not have the namespace.',
  },
  Finished: {
    meaning: 'The pod has finished, so there is nothing to evict.',
    change: 'Never: podgc and containergc remove finished pods and their containers.',
  },
  Terminating: {
    meaning: 'The pod is already terminating.',
    change: 'Never by dustpan: the kubelet stops the pod.',
  },
  UsageUnknown: {
    meaning:
      "The kubelet's /stats/summary has no current usage of the pod: not measured, measured too long ago, or an impossible value.",
    change: 'The kubelet measures the usage: for a new pod, this takes a minute or two.',
  },
};

/** Explains why an agent keeps a pod whatever it uses. */
export function explainPodHold(decision: Decision<JudgedPod> & PodHold): Why {
  const { namespace, phase, deletionAtMs = 0 } = decision.target.pod;
  switch (decision.reason) {
    case 'KeepMarked':
      return { detail: `The label ${KEEP_LABEL} is on the ${decision.on}.`, field: keepLabelField() };
    case 'NamespaceExcluded':
      return { detail: podStates.NamespaceExcluded.meaning, field: excludedField(namespace) };
    case 'Finished':
      return { detail: `The pod has finished (${phase}), so there is nothing to evict.` };
    case 'Terminating':
      return {
        detail: `The pod is already terminating; its grace period ends at ${timeText(deletionAtMs)}.`,
      };
    default:
      return explainNode(decision.reason, decision.policy);
  }
}

/** Names the part of the usage that is unknown. `isUsageKnown`: anything on the node is measured. */
export function unknownUsageText(
  { unmeasured }: { readonly unmeasured: readonly string[] },
  isUsageKnown: boolean,
): string {
  if (!isUsageKnown) return "The kubelet's /stats/summary of this node could not be read, or has no pods.";
  return unmeasured.length === 0
    ? "The kubelet's /stats/summary has no usage of this pod, or an impossible value of it."
    : `The kubelet's /stats/summary has no current usage of ${unmeasured.join(', ')}.`;
}

/** `The pod is critical, because its priority is 2000000000`, without a full stop. */
export const criticalClause = ({ pod: { configHash, priority = 0 } }: JudgedPod): string =>
  `The pod is critical, because ${configHash === undefined ? `its priority is ${priority}` : 'it mirrors a static pod'}`;

/** `The pod has the annotation karpenter.sh/do-not-disrupt: "true", …`, without a full stop. */
export const refusalClause = ({ annotation }: RefusedEviction): string =>
  `The pod has the annotation ${annotation}, by which its owner refuses evictions`;

export const doNotDisruptField = 'nodes.respectDoNotDisrupt=true';

export const excludedField = (namespace: string): string =>
  `nodes.excludeNamespaces or pods.excludeNamespaces has ${namespace}`;

/** Appended if the policy respects disruption budgets. */
export const budgetsMayDelay = ' A disruption budget may delay the eviction.';

export const evictField = (evictAtPercent: number): string =>
  `nodes.localStorageEviction.evictAtPercent=${evictAtPercent}`;

export type ExceededLimit = Pick<StorageExcess, 'signal' | 'subject' | 'usedBytes' | 'limit' | 'largest'>;

/** Returns a limit in bytes with its shorter text: `100Mi` or `2G`. */
export function limitOfBytes(bytes: number): StorageLimit {
  const [binary, decimal] = [quantityText(bytes), quantityText(bytes, 'decimal')];
  return { bytes, text: decimal.length < binary.length ? decimal : binary };
}

/**
 * Explains an eviction: first the kubelet's message (pkg/kubelet/eviction/helpers.go), then the usage. If the policy evicts below 100 percent,
 * the message names that percentage, because the limit itself is not exceeded.
 */
export function evictionMessage(excess: ExceededLimit, evictAtPercent = 100): string {
  const isOver = excess.usedBytes > excess.limit.bytes;
  return `${kubeletWords(excess, isOver ? '' : `${evictAtPercent} % of `)}It uses ${usageOf(excess)}${largestText(excess)}.`;
}

/** `; its largest part: volume tmp, 85.0 MiB`; '' = not known, or the limit is that of one part. */
const largestText = (
  { largest }: { readonly largest?: LargestPart | undefined },
  signal: NodeSignal = 'nodefs.available',
): string =>
  largest === undefined ? '' : `; its largest part: ${largest.name}, ${amountText(signal, largest.amount)}`;

/** `Usage of EmptyDir volume "tmp" is 85.0 MiB, 85 % of the limit 100Mi`, without a full stop. */
export const usageClause = (excess: ExceededLimit): string =>
  `${subjectOf(excess)} is ${usageOf(excess)}${largestText(excess)}`;

function kubeletWords({ signal, subject = '', limit: { text } }: ExceededLimit, part: string): string {
  switch (signal) {
    case 'emptydirfs.limit':
      return `Usage of EmptyDir volume "${subject}" exceeds ${part}the limit "${text}". `;
    case 'ephemeralpodfs.limit':
      return `Pod ephemeral local storage usage exceeds ${part}the total limit of containers ${text}. `;
    case 'ephemeralcontainerfs.limit':
      return `Container ${subject} exceeded ${part}its local ephemeral storage limit "${text}". `;
  }
}

function subjectOf({ signal, subject = '' }: ExceededLimit): string {
  switch (signal) {
    case 'emptydirfs.limit':
      return `Usage of EmptyDir volume "${subject}"`;
    case 'ephemeralpodfs.limit':
      return 'Ephemeral local storage usage of the pod';
    case 'ephemeralcontainerfs.limit':
      return `Local ephemeral storage usage of container ${subject}`;
  }
}

/** `130 MiB, 130 % of the limit 100Mi`; a limit of 0 has no percentage. */
function usageOf({ usedBytes, limit }: ExceededLimit): string {
  const part = limit.bytes > 0 ? `${Math.floor((100 * usedBytes) / limit.bytes)} % of` : 'with';
  return `${sizeText(usedBytes)}, ${part} the limit ${limit.text}`;
}

/** A pod, and what it uses of what its node is short of. */
export interface PressureUse {
  readonly shortage: {
    readonly signal: ThresholdSignal;
    readonly available: number;
    /** Value in the unit of the signal, and text as in the policy. */
    readonly threshold: { readonly value: number; readonly text: string };
  };
  /** Usage of the pod, bytes or inodes. */
  readonly used: number;
  /** Bytes. */
  readonly request: number;
  /** undefined = not known. */
  readonly priority: number | undefined;
  readonly largest?: LargestPart | undefined;
}

/** Describes the shortage: `The node is low on disk space …: 1.2 GiB are available, the threshold is 15% (1.5 GiB).` */
export const shortageText = ({ signal, available, threshold }: PressureUse['shortage']): string =>
  `The node is low on ${signalText[signal]}: ${amountText(signal, available)} are available, and the threshold is ${thresholdText(signal, threshold)}.`;

/** `15% (1.5 GiB)`, or `1.5 GiB`. */
export function thresholdText(
  signal: NodeSignal,
  { value, text }: PressureUse['shortage']['threshold'],
): string {
  const amount = amountText(signal, value);
  return text.endsWith('%') ? `${text} (${amount})` : amount;
}

/** The message of an eviction for node pressure, without what may delay it. */
export function pressureMessage({ shortage, used, request, priority, largest }: PressureUse): string {
  const { signal } = shortage;
  const over = isInodes(signal) || request === 0 ? '' : ` and requests ${sizeText(request)}`;
  const rank = priority === undefined ? '' : `; its priority is ${priority}`;
  return `${shortageText(shortage)} The pod uses ${amountText(signal, used)}${over}${rank}${largestText({ largest }, signal)}.`;
}

export const thresholdField = ({ shortage: { signal, threshold } }: Pick<PressureUse, 'shortage'>): string =>
  signalField(signal, threshold.text);

const minute = 60;
const hour = 60 * minute;

/** `1m30s`: an estimate, rounded to the precision that it has. */
export function secondsText(seconds: number): string {
  const step = seconds < 2 * minute ? 10 : seconds < 2 * hour ? minute : hour;
  return formatDuration(Math.max(step, Math.round(seconds / step) * step) * 1000);
}
