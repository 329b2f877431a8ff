import type { EvictionSignal, LimitUsage } from '../../api/local-storage.ts';
import { KEEP_LABEL } from '../../api/policy/matching.ts';
import type { NoEvidence, ReasonCatalog } from './entry.ts';
import { nodeReasons, type NodeEvidence } from './nodes.ts';
import { evictionMessage, usageClause } from './storage-words.ts';
import { keepLabelField, labelRemoved, timeText } from './words.ts';

/** A limit whose usage exceeds its `evictAtPercent`. */
interface EvictEvidence {
  readonly excess: LimitUsage;
  readonly respectsBudgets: boolean;
}

export interface StorageEvidence
  extends
    Record<EvictionSignal, EvictEvidence>,
    Pick<NodeEvidence, 'NoPolicy' | 'InvalidPolicy' | 'NodeUnknown'> {
  UnderLimit: {
    /** undefined = the pod has no measured limit. */
    readonly fullest: LimitUsage | undefined;
  };
  NoLimit: {
    /** The policy has default limits, but none applies to this pod. */
    readonly hasDefaults: boolean;
  };
  CriticalPod: {
    readonly isMirror: boolean;
    readonly priority: number | undefined;
    readonly fullest: LimitUsage | undefined;
  };
  KeepMarked: { readonly on: 'pod' | 'node' };
  NamespaceExcluded: { readonly namespace: string };
  Finished: { readonly phase: string };
  Terminating: {
    /** End of its grace period, Unix milliseconds. */
    readonly deletionAtMs: number;
  };
  UsageUnknown: {
    /** Whether anything on the node is measured. */
    readonly isUsageKnown: boolean;
  };
  RuleOff: NoEvidence;
}

export interface WarnEvidence {
  readonly excess: LimitUsage;
  /** The highest exceeded level. */
  readonly percent: number;
  readonly warnAtPercent: readonly number[];
}

const keepLabel = `the label ${KEEP_LABEL}: "true" on the pod, its namespace or its node`;

const exceeded = {
  sentence: ({ excess, respectsBudgets }: EvictEvidence): string =>
    `${evictionMessage(excess, excess.evictAtPercent)}${respectsBudgets ? budgetsMayDelay : ''}`,
  field: ({ excess }: EvictEvidence): string | undefined => fieldsOf(excess),
};

/** Appended if the policy respects disruption budgets. */
export const budgetsMayDelay = ' A disruption budget may delay the eviction.';

/** Entries that the agent and the controller share. */
export const podStates = {
  CriticalPod: {
    meaning: 'The pod is critical: it mirrors a static pod, or its priority is 2000000000 or more.',
    change: 'Never by dustpan while the pod is critical: dustpan only warns about such pods.',
  },
  KeepMarked: {
    meaning: `The pod, its namespace or its node has the label ${KEEP_LABEL}.`,
    field: keepLabelField,
    change: labelRemoved,
  },
  NamespaceExcluded: {
    meaning: 'The policy of the node excludes the namespace of the pod.',
    field: ({ namespace }: { readonly namespace: string }): string =>
      `nodes.excludeNamespaces or pods.excludeNamespaces has ${namespace}`,
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
} as const;

/** Reasons of localstorage: pods and their local storage on the node. */
export const storageReasons: ReasonCatalog<StorageEvidence> = {
  'emptydirfs.limit': {
    meaning: 'An emptyDir volume of the pod exceeds its size limit.',
    ...exceeded,
    change: `Less data in the volume, a higher sizeLimit, nodes.localStorageEviction.evictAtPercent or defaultLimits.emptyDir, or ${keepLabel}.`,
  },
  'ephemeralpodfs.limit': {
    meaning: "The local storage of the pod exceeds the sum of its containers' limits.",
    ...exceeded,
    change: `Less data in layers, logs and volumes, higher ephemeral-storage limits, evictAtPercent or defaultLimits.pod, or ${keepLabel}.`,
  },
  'ephemeralcontainerfs.limit': {
    meaning: 'The writable layer and logs of a container exceed its limit.',
    ...exceeded,
    change: `Less data in the layer and logs, a higher ephemeral-storage limit, evictAtPercent or defaultLimits.container, or ${keepLabel}.`,
  },
  UnderLimit: {
    meaning: 'The pod is within its local storage limits.',
    sentence: ({ fullest }) =>
      fullest === undefined
        ? 'None of its limits is exceeded.'
        : `${usageClause(fullest)}, the highest percentage among its limits.`,
    field: ({ fullest }) => fullest && fieldsOf(fullest),
    change:
      'The pod uses more than nodes.localStorageEviction.evictAtPercent of one of its limits, or that percentage is lower.',
  },
  NoLimit: {
    meaning: 'The pod declares no local storage limit, and the policy sets no default for it.',
    field: ({ hasDefaults }) =>
      hasDefaults ? undefined : 'nodes.localStorageEviction.defaultLimits is not set',
    change: 'The pod declares a limit, or the policy sets nodes.localStorageEviction.defaultLimits.',
  },
  CriticalPod: {
    ...podStates.CriticalPod,
    sentence: ({ isMirror, priority = 0, fullest }) =>
      `The pod is critical, because ${isMirror ? 'it mirrors a static pod' : `its priority is ${priority}`}; dustpan only warns about it.` +
      (fullest === undefined ? '' : ` ${usageClause(fullest)}.`),
  },
  KeepMarked: {
    ...podStates.KeepMarked,
    sentence: ({ on }) => `The label ${KEEP_LABEL} is on the ${on}.`,
  },
  NamespaceExcluded: podStates.NamespaceExcluded,
  Finished: {
    ...podStates.Finished,
    sentence: ({ phase }) => `The pod has finished (${phase}), so there is nothing to evict.`,
  },
  Terminating: {
    ...podStates.Terminating,
    sentence: ({ deletionAtMs }) =>
      `The pod is already terminating; its grace period ends at ${timeText(deletionAtMs)}.`,
  },
  UsageUnknown: {
    meaning: 'The usage of the pod is unknown: not measured, measured too long ago, or impossible.',
    sentence: ({ isUsageKnown }) =>
      isUsageKnown
        ? 'The kubelet has not measured the usage of the pod completely, or its last measurement is too old or impossible.'
        : 'The usage of the pods on this node is unknown.',
    change: 'The kubelet measures the usage: for a new pod, this takes a minute or two.',
  },
  NoPolicy: nodeReasons.NoPolicy,
  InvalidPolicy: nodeReasons.InvalidPolicy,
  NodeUnknown: nodeReasons.NodeUnknown,
  RuleOff: {
    meaning: 'The policy of the node has no rule for local storage.',
    field: () => 'nodes.localStorageEviction is not set',
    change: 'The policy sets nodes.localStorageEviction.',
  },
};

const warning = {
  meaning: "The pod's usage of a limit exceeds a percentage in nodes.localStorageEviction.warnAtPercent.",
  sentence: ({ excess, percent }: WarnEvidence): string =>
    `${usageClause(excess)}; dustpan warns above ${percent} %.`,
  field: ({ excess, warnAtPercent }: WarnEvidence): string =>
    [`nodes.localStorageEviction.warnAtPercent=[${warnAtPercent.join(', ')}]`, ...defaultField(excess)].join(
      ', ',
    ),
  change: 'The pod uses less of that limit, the limit is higher, or the percentage is not in warnAtPercent.',
};

/** Reasons of the warnings of localstorage. */
export const storageWarnings: ReasonCatalog<Record<EvictionSignal, WarnEvidence>> = {
  'emptydirfs.limit': warning,
  'ephemeralpodfs.limit': warning,
  'ephemeralcontainerfs.limit': warning,
};

/** No field of the policy concerns a volume in memory. */
const fieldsOf = (limit: LimitUsage): string | undefined =>
  limit.evictAtPercent === undefined
    ? undefined
    : [evictField(limit.evictAtPercent), ...defaultField(limit)].join(', ');

/** The field that sets the eviction level. */
export const evictField = (evictAtPercent: number): string =>
  `nodes.localStorageEviction.evictAtPercent=${evictAtPercent}`;

const defaultOf: Readonly<Record<EvictionSignal, string>> = {
  'emptydirfs.limit': 'emptyDir',
  'ephemeralpodfs.limit': 'pod',
  'ephemeralcontainerfs.limit': 'container',
};

/** The field that sets a default limit; none if the pod declares the limit. */
const defaultField = ({ signal, isDefault, limit }: LimitUsage): readonly string[] =>
  isDefault ? [`nodes.localStorageEviction.defaultLimits.${defaultOf[signal]}=${limit.text}`] : [];
