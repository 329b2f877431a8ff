import {
  byDiskSignal,
  isInodes,
  type DiskSignal,
  type NodeSignal,
  type ThresholdSignal,
} from '../../api/node-pressure.ts';
import type { PressureKeepReason } from '../../api/reasons.ts';
import {
  budgetsMayDelay,
  criticalClause,
  doNotDisruptField,
  explainProtection,
  largestText,
  podStates,
  refusalClause,
  secondsText,
  unknownUsageText,
} from '../localstorage/words.ts';
import { nodeReasons } from '../../gc/reasons/nodes.ts';
import { amountText, signalField, signalText } from '../../gc/reasons/words.ts';
import type { Meaning, Why } from '../../gc/words.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type {
  NodePressurePlan,
  NodeWarning,
  PressureDecision,
  PressureUse,
  UngovernedBy,
  Limit,
} from './facts.ts';

/** Reasons to evict a pod for node pressure, of the agents that request it and of the controller that verifies the request. */
export const diskReasons: Readonly<Record<DiskSignal, Meaning>> = byDiskSignal((signal) => ({
  meaning: `The node is low on ${signalText[signal]}, removing images and containers did not free enough, and the pod is first in the kubelet's order of eviction.`,
  change:
    'More available than the threshold, less usage or a higher priority of the pod, nodes.nodePressure.evictPods: false, or the label gc.dustpan.dev/keep: "true" on the pod.',
}));

export const pressureReasons: Readonly<Record<DiskSignal | PressureKeepReason, Meaning>> = {
  ...diskReasons,
  ...nodeReasons,
  ...podStates,
  NoPressure: {
    meaning: 'No disk of the node is below its threshold.',
    change: 'Less is available than a threshold in nodes.nodePressure.thresholds.',
  },
  EvictionOff: {
    meaning: 'The node is low on disk space or inodes, but the policy evicts no pods for node pressure.',
    change: 'The policy sets nodes.nodePressure.evictPods to true.',
  },
  ThresholdBeyondDisk: {
    meaning:
      'The threshold plus the minimum reclaim is at least as large as the disk: even an empty disk would not meet it, so dustpan removes and evicts nothing for it.',
    change: 'The policy sets a threshold that is smaller than the disk, such as a percentage.',
  },
  Reclaiming: {
    meaning:
      "The node is low on disk space or inodes; the agent removes images and containers first, and pods are evicted only after the policy's grace period.",
    change: 'Removing images and containers does not free enough, and the grace period passes.',
  },
  ReclaimSuffices: {
    meaning:
      'The node is low on disk space or inodes, and removing unused images and dead containers frees enough.',
    change: 'Less is available, or the images and containers that can be removed do not free enough.',
  },
  ImagesUngoverned: {
    meaning:
      'The node is low on disk space or inodes, and no pod is evicted while images stay that nothing uses or protects: the policy has no rule for images, or its rule does not select them.',
    change:
      'The policy sets nodes.imageGC, nodes.imageGC.only selects these images, or they are removed by hand.',
  },
  NoUsage: {
    meaning: 'The node is low on a resource that the pod does not use, or hardly uses.',
    change: 'The pod uses at least 1 % of what is missing, or 64 MiB.',
  },
  PodEnding: {
    meaning: 'Another pod on the node is terminating, which may free enough.',
    change: 'That pod has ended, and the node is still low on disk space or inodes.',
  },
  RankedLater: {
    meaning: "Other pods are before it in the kubelet's order of eviction.",
    change: 'The pods before it have ended, and the node is still low on disk space or inodes.',
  },
  RuleOff: {
    meaning: 'The policy of the node has no rule for node pressure.',
    change: 'The policy sets nodes.nodePressure.',
  },
};

const foreseen = (signal: ThresholdSignal): Meaning => ({
  meaning: `The node is low on ${signalText[signal]}, or will be soon at the current growth.`,
  change: 'More is available, the growth ends, or the threshold or nodes.nodePressure.forecast is lower.',
});

export const pressureWarnings: Readonly<Record<ThresholdSignal, Meaning>> = {
  ...byDiskSignal(foreseen),
  'memory.available': foreseen('memory.available'),
};

export const ungovernedText: Readonly<Record<UngovernedBy, string>> = {
  'nodes.imageGC':
    'Images that nothing uses stay, because the policy has no nodes.imageGC; no pod is evicted until they are gone. Set nodes.imageGC.',
  'nodes.imageGC.only':
    'Images that nothing uses stay, because nodes.imageGC.only does not select them; no pod is evicted until they are gone. Select them, or remove them.',
};

export function explainPressure(decision: PressureDecision, { rule, isUsageKnown }: NodePressurePlan): Why {
  switch (decision.reason) {
    case 'nodefs.available':
    case 'nodefs.inodesFree':
    case 'imagefs.available':
    case 'imagefs.inodesFree': {
      const { target } = decision;
      return { detail: `${pressureMessage(target)}${budgetsMayDelay}`, field: thresholdField(target) };
    }
    case 'EvictionOff':
      return {
        detail: `${shortageText(decision.shortage)} The policy evicts no pods for node pressure.`,
        field: 'nodes.nodePressure.evictPods=false',
      };
    case 'ThresholdBeyondDisk': {
      const { signal, capacity } = decision.shortage;
      return {
        detail: `${shortageText(decision.shortage)} The whole disk has ${amountText(signal, capacity)}, so the threshold can never be met, and dustpan removes and evicts nothing for it.`,
        field: thresholdField(decision),
      };
    }
    case 'Reclaiming': {
      const gracePeriod = formatDuration(rule?.gracePeriodMs ?? 0);
      return {
        detail: `${shortageText(decision.shortage)} The agent removes images and containers first; pods are evicted only if that does not free enough within ${gracePeriod}.`,
        field: `nodes.nodePressure.gracePeriod=${gracePeriod}`,
      };
    }
    case 'ReclaimSuffices':
      return {
        detail: `${shortageText(decision.shortage)} Removing unused images and dead containers frees enough, so no pod is evicted.`,
      };
    case 'ImagesUngoverned':
      return {
        detail: `${shortageText(decision.shortage)} ${ungovernedText[decision.field]}`,
        field: decision.field === 'nodes.imageGC' ? 'nodes.imageGC is not set' : decision.field,
      };
    case 'NoUsage': {
      const { shortage, used } = decision;
      const { signal, wanted } = shortage;
      const usage =
        used === 0
          ? 'The pod does not use this resource.'
          : `The pod uses ${amountText(signal, used)}, and ${amountText(signal, wanted)} more are needed: its eviction would free next to nothing.`;
      return { detail: `${shortageText(shortage)} ${usage}` };
    }
    case 'PodEnding':
      return {
        detail: `${shortageText(decision.shortage)} Another pod on the node is terminating, which may free enough.`,
      };
    case 'RankedLater':
      return {
        detail: `${pressureMessage(decision)} It is number ${decision.place} in the kubelet's order of eviction.`,
        field: thresholdField(decision),
      };
    case 'CriticalPod':
      return { detail: `${criticalClause(decision.target)}.` };
    case 'DoNotDisrupt':
      return {
        detail: `${refusalClause(decision)}. For node pressure only the kubelet evicts it, by its own thresholds.`,
        field: doNotDisruptField,
      };
    case 'UsageUnknown':
      return { detail: unknownUsageText(decision, isUsageKnown) };
    case 'NoPressure':
      return { detail: pressureReasons.NoPressure.meaning };
    case 'RuleOff':
      return { detail: pressureReasons.RuleOff.meaning, field: 'nodes.nodePressure is not set' };
    default:
      return explainProtection(decision);
  }
}

export function explainNodeWarning({ reason: signal, target }: NodeWarning): Why {
  const { reading, ours, kubelets, growthPerMinute } = target.state;
  const isCrossed = [ours, kubelets].some((limit) => limit?.secondsLeft === 0);
  const growth =
    growthPerMinute === undefined ? '' : `, ${amountText(signal, growthPerMinute)} less each minute`;
  const users = target.consumers.map(
    ({ kind, name, amount }) => `${kind} ${name} ${amountText(signal, amount)}`,
  );
  const sentences = [
    `The node ${isCrossed ? 'is' : 'will be'} low on ${signalText[signal]}: ${amountText(signal, reading.available)} of ${amountText(signal, reading.capacity)} are available${growth}.`,
    ...(ours === undefined ? [] : [leftText(signal, ours, "The policy's threshold")]),
    ...(kubelets === undefined ? [] : [leftText(signal, kubelets, "The kubelet's threshold")]),
    ...(target.ungoverned === undefined ? [] : [ungovernedText[target.ungoverned]]),
    ...(users.length === 0 ? [] : [`Largest consumers: ${users.join(', ')}.`]),
  ];
  return { detail: sentences.join(' '), field: ours && signalField(signal, ours.text) };
}

function leftText(signal: ThresholdSignal, { secondsLeft, ...threshold }: Limit, name: string): string {
  const limit = `${name}, ${thresholdText(signal, threshold)},`;
  if (secondsLeft === undefined) return `${limit} will not be crossed at this growth.`;
  return secondsLeft === 0
    ? `${limit} is crossed.`
    : `${limit} will be crossed in about ${secondsText(secondsLeft)}.`;
}

/** Describes the shortage: `The node is low on disk space …: 1.2 GiB are available, the threshold is 15% (1.5 GiB).` */
export const shortageText = ({ signal, available, threshold }: PressureUse['shortage']): string =>
  `The node is low on ${signalText[signal]}: ${amountText(signal, available)} are available, and the threshold is ${thresholdText(signal, threshold)}.`;

/** `15% (1.5 GiB)`, or `1.5 GiB`. */
function thresholdText(signal: NodeSignal, { value, text }: PressureUse['shortage']['threshold']): string {
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
