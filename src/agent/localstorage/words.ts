import type { RefusedEviction } from '../../api/do-not-disrupt.ts';
import type { EvictionSignal, LargestPart, LimitUsage, StorageExcess } from '../../api/local-storage.ts';
import type { NodeSignal } from '../../api/node-pressure.ts';
import { KEEP_LABEL } from '../../api/policy/matching.ts';
import type { StorageKeepReason } from '../../api/reasons.ts';
import type { Decision } from '../../gc/decision.ts';
import { explainNode, nodeReasons } from '../../gc/reasons/nodes.ts';
import { amountText, keepLabelField, labelRemoved, timeText } from '../../gc/reasons/words.ts';
import type { Meaning, Why } from '../../gc/words.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { LimitWarning, LocalStoragePlan, StorageDecision } from './facts.ts';
import type { JudgedPod, PodProtection } from './pods.ts';

const keepLabel = `the label ${KEEP_LABEL}: "true" on the pod, its namespace or its node`;

/** Reasons to evict a pod for a limit, of the agents that request it and of the controller that verifies the request. */
export const limitReasons: Readonly<Record<EvictionSignal, Meaning>> = {
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

export const storageReasons: Readonly<Record<EvictionSignal | StorageKeepReason, Meaning>> = {
  ...limitReasons,
  ...nodeReasons,
  ...podStates,
  UnderLimit: {
    meaning: 'The pod is within its local storage limits.',
    change:
      'The pod uses more than nodes.localStorageEviction.evictAtPercent of one of its limits, or that percentage is lower.',
  },
  NoLimit: {
    meaning: 'The pod declares no local storage limit, and the policy sets no default for it.',
    change: 'The pod declares a limit, or the policy sets nodes.localStorageEviction.defaultLimits.',
  },
  RuleOff: {
    meaning: 'The policy of the node has no rule for local storage.',
    change: 'The policy sets nodes.localStorageEviction.',
  },
};

const warning: Meaning = {
  meaning: "The pod's usage of a limit exceeds a percentage in nodes.localStorageEviction.warnAtPercent.",
  change: 'The pod uses less of that limit, the limit is higher, or the percentage is not in warnAtPercent.',
};

export const storageWarnings: Readonly<Record<EvictionSignal, Meaning>> = {
  'emptydirfs.limit': warning,
  'ephemeralpodfs.limit': warning,
  'ephemeralcontainerfs.limit': warning,
};

export function explainStorage(decision: StorageDecision, { rule, isUsageKnown }: LocalStoragePlan): Why {
  switch (decision.reason) {
    case 'emptydirfs.limit':
    case 'ephemeralpodfs.limit':
    case 'ephemeralcontainerfs.limit': {
      const { excess } = decision.target;
      const budgets = rule?.respectPodDisruptionBudgets === true ? budgetsMayDelay : '';
      return {
        detail: `${evictionMessage(excess, excess.evictAtPercent)}${sourceText(excess, decision.target)}${budgets}`,
        field: limitFields(excess),
      };
    }
    case 'UnderLimit': {
      const { fullest } = decision;
      return fullest === undefined
        ? { detail: 'None of its limits is exceeded.' }
        : {
            detail: `${usageClause(fullest)}, the highest percentage among its limits.`,
            field: limitFields(fullest),
          };
    }
    case 'NoLimit': {
      const hasDefaults = Object.values(rule?.defaultLimits ?? {}).some((limit) => limit !== undefined);
      return {
        detail: storageReasons.NoLimit.meaning,
        field: hasDefaults ? undefined : 'nodes.localStorageEviction.defaultLimits is not set',
      };
    }
    case 'CriticalPod': {
      const { fullest, target } = decision;
      const usage = fullest === undefined ? '' : ` ${usageClause(fullest)}.`;
      return { detail: `${criticalClause(target)}; dustpan only warns about it.${usage}` };
    }
    case 'DoNotDisrupt':
      return {
        detail: `${evictionMessage(decision.excess, decision.excess.evictAtPercent)} ${refusalClause(decision)}; the kubelet evicts it only above a limit that it declares.`,
        field: [doNotDisruptField, limitFields(decision.excess)].join(', '),
      };
    case 'UsageUnknown':
      return { detail: unknownUsageText(decision, isUsageKnown) };
    case 'RuleOff':
      return { detail: storageReasons.RuleOff.meaning, field: 'nodes.localStorageEviction is not set' };
    default:
      return explainProtection(decision);
  }
}

export const explainLimit = ({ target }: LimitWarning, { rule }: LocalStoragePlan): Why => ({
  detail: `${usageClause(target.excess)}; dustpan warns above ${target.percent} %.`,
  field: [
    `nodes.localStorageEviction.warnAtPercent=[${rule?.warnAtPercent.join(', ') ?? ''}]`,
    ...defaultField(target.excess),
  ].join(', '),
});

/** Names the containers that declare the limit of the whole pod, and those that declare none; '' = the limit is another one. */
function sourceText({ signal, isDefault }: LimitUsage, { pod }: JudgedPod): string {
  if (signal !== 'ephemeralpodfs.limit' || isDefault) return '';
  const { containers, initContainers } = pod.storage;
  const declared = [...containers, ...initContainers].flatMap(({ name, limit }) =>
    limit === undefined ? [] : [`${name} (${limit.text})`],
  );
  const others = [...containers, ...initContainers.filter(({ restartable }) => restartable)].flatMap(
    ({ name, limit }) => (limit === undefined ? name : []),
  );
  return others.length === 0
    ? ` The total limit comes from ${listOf(declared)}.`
    : ` Only ${listOf(declared)} ${declareIn(declared)} a limit; ${listOf(others)} ${declareIn(others)} none, and the usage of all containers counts.`;
}

const declareIn = ({ length }: readonly string[]): string => (length === 1 ? 'declares' : 'declare');

const namesShown = 5;

/** `container a`, `containers a, b and c`. */
function listOf(names: readonly string[]): string {
  const shown = names.slice(0, namesShown);
  const rest = names.length - shown.length;
  const list = [...shown, ...(rest > 0 ? [`${rest} more`] : [])];
  const last = list.at(-1) ?? '';
  return names.length === 1 ? `container ${last}` : `containers ${list.slice(0, -1).join(', ')} and ${last}`;
}

/** No field of the policy concerns a volume in memory. */
const limitFields = (limit: LimitUsage): string | undefined =>
  limit.evictAtPercent === undefined
    ? undefined
    : [evictField(limit.evictAtPercent), ...defaultField(limit)].join(', ');

const defaultOf: Readonly<Record<EvictionSignal, string>> = {
  'emptydirfs.limit': 'emptyDir',
  'ephemeralpodfs.limit': 'pod',
  'ephemeralcontainerfs.limit': 'container',
};

/** The field that sets a default limit; none if the pod declares the limit. */
const defaultField = ({ signal, isDefault, limit }: LimitUsage): readonly string[] =>
  isDefault ? [`nodes.localStorageEviction.defaultLimits.${defaultOf[signal]}=${limit.text}`] : [];

/** Explains why an agent keeps a pod whatever it uses. */
export function explainProtection(decision: Decision<JudgedPod> & PodProtection): Why {
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

/**
 * Explains an eviction: first the kubelet's message (pkg/kubelet/eviction/helpers.go), then the usage. If the policy evicts below 100 percent,
 * the message names that percentage, because the limit itself is not exceeded.
 */
export function evictionMessage(excess: ExceededLimit, evictAtPercent = 100): string {
  const isOver = excess.usedBytes > excess.limit.bytes;
  return `${kubeletWords(excess, isOver ? '' : `${evictAtPercent} % of `)}It uses ${usageText(excess)}${largestText(excess)}.`;
}

/** `; its largest part: volume tmp, 85.0 MiB`; '' = not known, or the limit is that of one part. */
export const largestText = (
  { largest }: { readonly largest?: LargestPart | undefined },
  signal: NodeSignal = 'nodefs.available',
): string =>
  largest === undefined ? '' : `; its largest part: ${largest.name}, ${amountText(signal, largest.amount)}`;

/** `Usage of EmptyDir volume "tmp" is 85.0 MiB, 85 % of the limit 100Mi`, without a full stop. */
export const usageClause = (excess: ExceededLimit): string =>
  `${subjectText(excess)} is ${usageText(excess)}${largestText(excess)}`;

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

function subjectText({ signal, subject = '' }: ExceededLimit): string {
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
function usageText({ usedBytes, limit }: ExceededLimit): string {
  const part = limit.bytes > 0 ? `${Math.floor((100 * usedBytes) / limit.bytes)} % of` : 'with';
  return `${sizeText(usedBytes)}, ${part} the limit ${limit.text}`;
}

const minute = 60;
const hour = 60 * minute;

/** `1m30s`: an estimate, rounded to the precision that it has. */
export function secondsText(seconds: number): string {
  const step = seconds < 2 * minute ? 10 : seconds < 2 * hour ? minute : hour;
  return formatDuration(Math.max(step, Math.round(seconds / step) * step) * 1000);
}
