import {
  byDiskSignal,
  isInodes,
  thresholdSignals,
  type DiskSignal,
  type ThresholdSignal,
} from '../../api/node-pressure.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { NoEvidence, ReasonCatalog, ReasonEntry } from './entry.ts';
import { nodeReasons, type NodeEvidence } from './nodes.ts';
import { budgetsMayDelay, podStates, storageReasons, type StorageEvidence } from './storage.ts';
import { amountText, signalText, signalField } from './words.ts';

/** A pod, an image or a log directory that uses much of what a node is short of. */
export interface Consumer {
  readonly kind: 'pod' | 'image' | 'log';
  /** `namespace/name`, a tag, or a path. */
  readonly name: string;
  /** Bytes or inodes. */
  readonly amount: number;
}

/** The threshold of a signal, and what is available. */
export interface Shortage {
  readonly signal: ThresholdSignal;
  readonly available: number;
  readonly capacity: number;
  /** Value in the unit of the signal, and text as in the policy. */
  readonly threshold: { readonly value: number; readonly text: string };
}

/** A pod, and what it uses of what its node is short of. */
export interface PressureUse {
  readonly shortage: Omit<Shortage, 'capacity'>;
  /** Usage of the pod, bytes or inodes. */
  readonly used: number;
  /** Bytes. */
  readonly request: number;
  /** undefined = not known. */
  readonly priority: number | undefined;
}

interface EvictedForPressure extends PressureUse {
  readonly shortage: Shortage;
  readonly priority: number;
  /** Place, from 1. */
  readonly place: number;
}

export interface ForeseenEvidence {
  readonly signal: ThresholdSignal;
  readonly available: number;
  readonly capacity: number;
  /** undefined = the policy has none for this signal. */
  readonly ours: Foreseen | undefined;
  /** undefined = the kubelet has none, or it is not known. */
  readonly kubelets: Foreseen | undefined;
  readonly growthPerMinute: number | undefined;
  /** Largest first, at most three. */
  readonly consumers: readonly Consumer[];
}

interface Foreseen {
  readonly value: number;
  readonly text: string;
  /** 0 = crossed; undefined = not approached. */
  readonly secondsLeft: number | undefined;
}

export interface PressureEvidence
  extends
    Record<DiskSignal, EvictedForPressure>,
    Pick<NodeEvidence, 'NoPolicy' | 'InvalidPolicy' | 'NodeUnknown'>,
    Pick<
      StorageEvidence,
      'KeepMarked' | 'NamespaceExcluded' | 'Finished' | 'Terminating' | 'UsageUnknown' | 'RuleOff'
    > {
  CriticalPod: { readonly isMirror: boolean; readonly priority: number | undefined };
  NoPressure: NoEvidence;
  EvictionOff: { readonly shortage: Shortage };
  ThresholdBeyondDisk: { readonly shortage: Shortage };
  Reclaiming: { readonly shortage: Shortage; readonly gracePeriodMs: number };
  ReclaimSuffices: { readonly shortage: Shortage };
  NoUsage: {
    readonly shortage: Shortage;
    /** Usage of the pod, and what must become available, in the unit of the signal. */
    readonly used: number;
    readonly missing: number;
  };
  PodEnding: { readonly shortage: Shortage };
  RankedLater: EvictedForPressure;
}

/** Describes the shortage: `The node is low on disk space …: 1.2 GiB are available, the threshold is 15% (1.5 GiB).` */
export function shortageText({ signal, available, threshold }: PressureUse['shortage']): string {
  const amount = amountText(signal, threshold.value);
  return `The node is low on ${signalText[signal]}: ${amountText(signal, available)} are available, and the threshold is ${limitText(threshold.text, amount)}.`;
}

const limitText = (text: string, amount: string): string =>
  text.endsWith('%') ? `${text} (${amount})` : amount;

const shareText = ({ shortage: { signal }, used, request, priority }: PressureUse): string => {
  const over = isInodes(signal) || request === 0 ? '' : ` and requests ${sizeText(request)}`;
  const rank = priority === undefined ? '' : `; its priority is ${priority}`;
  return `The pod uses ${amountText(signal, used)}${over}${rank}.`;
};

const noUsageText = (missing: string, used: string | undefined): string =>
  used === undefined
    ? 'The pod does not use this resource.'
    : `The pod uses ${used}, and ${missing} more are needed: its eviction would free next to nothing.`;

/** The message of an eviction, without what may delay it. */
export const pressureMessage = (evidence: PressureUse): string =>
  `${shortageText(evidence.shortage)} ${shareText(evidence)}`;

/** The field that sets the threshold. */
export const thresholdField = ({ shortage: { signal, threshold } }: Pick<PressureUse, 'shortage'>): string =>
  signalField(signal, threshold.text);

const evictedFor = (signal: DiskSignal): ReasonEntry<EvictedForPressure> => ({
  meaning: `The node is low on ${signalText[signal]}, removing images and containers did not free enough, and the pod is first in the kubelet's order of eviction.`,
  sentence: (evidence) => `${pressureMessage(evidence)}${budgetsMayDelay}`,
  field: thresholdField,
  change:
    'More available than the threshold, less usage or a higher priority of the pod, nodes.nodePressure.evictPods: false, or the label gc.dustpan.dev/keep: "true" on the pod.',
});

/** Reasons of nodepressure for pods. */
export const pressureReasons: ReasonCatalog<PressureEvidence> = {
  ...byDiskSignal(evictedFor),
  NoPressure: {
    meaning: 'No disk of the node is below its threshold.',
    change: 'Less is available than a threshold in nodes.nodePressure.thresholds.',
  },
  EvictionOff: {
    meaning: 'The node is low on disk space or inodes, but the policy evicts no pods for node pressure.',
    sentence: ({ shortage }) => `${shortageText(shortage)} The policy evicts no pods for node pressure.`,
    field: () => 'nodes.nodePressure.evictPods=false',
    change: 'The policy sets nodes.nodePressure.evictPods to true.',
  },
  ThresholdBeyondDisk: {
    meaning:
      'The threshold plus the minimum reclaim is at least as large as the disk: even an empty disk would not meet it, so dustpan removes and evicts nothing for it.',
    sentence: ({ shortage }) =>
      `${shortageText(shortage)} The whole disk has ${amountText(shortage.signal, shortage.capacity)}, so the threshold can never be met, and dustpan removes and evicts nothing for it.`,
    field: thresholdField,
    change: 'The policy sets a threshold that is smaller than the disk, such as a percentage.',
  },
  Reclaiming: {
    meaning:
      "The node is low on disk space or inodes; the agent removes images and containers first, and pods are evicted only after the policy's grace period.",
    sentence: ({ shortage, gracePeriodMs }) =>
      `${shortageText(shortage)} The agent removes images and containers first; pods are evicted only if that does not free enough within ${formatDuration(gracePeriodMs)}.`,
    field: ({ gracePeriodMs }) => `nodes.nodePressure.gracePeriod=${formatDuration(gracePeriodMs)}`,
    change: 'Removing images and containers does not free enough, and the grace period passes.',
  },
  ReclaimSuffices: {
    meaning:
      'The node is low on disk space or inodes, and removing unused images and dead containers frees enough.',
    sentence: ({ shortage }) =>
      `${shortageText(shortage)} Removing unused images and dead containers frees enough, so no pod is evicted.`,
    change: 'Less is available, or the images and containers that can be removed do not free enough.',
  },
  NoUsage: {
    meaning: 'The node is low on a resource that the pod does not use, or hardly uses.',
    sentence: ({ shortage, used, missing }) =>
      `${shortageText(shortage)} ${noUsageText(amountText(shortage.signal, missing), used === 0 ? undefined : amountText(shortage.signal, used))}`,
    change: 'The pod uses at least 1 % of what is missing, or 64 MiB.',
  },
  PodEnding: {
    meaning: 'Another pod on the node is terminating, which may free enough.',
    sentence: ({ shortage }) =>
      `${shortageText(shortage)} Another pod on the node is terminating, which may free enough.`,
    change: 'That pod has ended, and the node is still low on disk space or inodes.',
  },
  RankedLater: {
    meaning: "Other pods are before it in the kubelet's order of eviction.",
    sentence: (evidence) =>
      `${pressureMessage(evidence)} It is number ${evidence.place} in the kubelet's order of eviction.`,
    field: thresholdField,
    change: 'The pods before it have ended, and the node is still low on disk space or inodes.',
  },
  UsageUnknown: storageReasons.UsageUnknown,
  CriticalPod: {
    ...podStates.CriticalPod,
    sentence: ({ isMirror, priority = 0 }) =>
      `The pod is critical, because ${isMirror ? 'it mirrors a static pod' : `its priority is ${priority}`}.`,
  },
  KeepMarked: storageReasons.KeepMarked,
  NamespaceExcluded: storageReasons.NamespaceExcluded,
  Finished: storageReasons.Finished,
  Terminating: storageReasons.Terminating,
  NoPolicy: nodeReasons.NoPolicy,
  InvalidPolicy: nodeReasons.InvalidPolicy,
  NodeUnknown: nodeReasons.NodeUnknown,
  RuleOff: {
    meaning: 'The policy of the node has no rule for node pressure.',
    field: () => 'nodes.nodePressure is not set',
    change: 'The policy sets nodes.nodePressure.',
  },
};

const foreseen = (signal: ThresholdSignal): ReasonEntry<ForeseenEvidence> => ({
  meaning: `The node is low on ${signalText[signal]}, or will be soon at the current growth.`,
  sentence: foreseenText,
  field: ({ ours }) => ours && signalField(signal, ours.text),
  change: 'More is available, the growth ends, or the threshold or nodes.nodePressure.forecast is lower.',
});

/** Reasons of the warnings about a node. */
export const pressureWarnings = Object.fromEntries(
  thresholdSignals.map((signal) => [signal, foreseen(signal)]),
) as ReasonCatalog<Record<ThresholdSignal, ForeseenEvidence>>;

function foreseenText({ signal, ours, kubelets, consumers, ...values }: ForeseenEvidence): string {
  const { available, capacity, growthPerMinute } = values;
  const isCrossed = [ours, kubelets].some((limit) => limit?.secondsLeft === 0);
  const growth =
    growthPerMinute === undefined ? '' : `; usage grows by ${amountText(signal, growthPerMinute)} per minute`;
  const limits = [
    ...(ours === undefined ? [] : [leftText(signal, ours, "The policy's threshold")]),
    ...(kubelets === undefined ? [] : [leftText(signal, kubelets, "The kubelet's threshold")]),
  ];
  const users = consumers.map(({ kind, name, amount }) => `${kind} ${name} ${amountText(signal, amount)}`);
  return [
    `The node ${isCrossed ? 'is' : 'will be'} low on ${signalText[signal]}: ${amountText(signal, available)} of ${amountText(signal, capacity)} are available${growth}.`,
    ...limits,
    users.length === 0 ? '' : `Largest consumers: ${users.join(', ')}.`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function leftText(signal: ThresholdSignal, { value, text, secondsLeft }: Foreseen, name: string): string {
  const limit = `${name}, ${limitText(text, amountText(signal, value))},`;
  if (secondsLeft === undefined) return `${limit} will not be crossed at this growth.`;
  return secondsLeft === 0
    ? `${limit} is crossed.`
    : `${limit} will be crossed in about ${leftOf(secondsLeft)}.`;
}

const minute = 60;
const hour = 60 * minute;

/** Rounded to the precision that a forecast has. */
function leftOf(seconds: number): string {
  const step = seconds < 2 * minute ? 10 : seconds < 2 * hour ? minute : hour;
  return formatDuration(Math.max(step, Math.round(seconds / step) * step) * 1000);
}
