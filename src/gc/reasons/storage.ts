import type { EvictionSignal, LimitUsage } from '../../api/local-storage.ts';
import { KEEP_LABEL } from '../../api/policy/matching.ts';
import type { NoEvidence, ReasonCatalog } from './entry.ts';
import { nodeReasons, type NodeEvidence } from './nodes.ts';
import { evictionMessage, usageClause } from './storage-words.ts';
import { keepLabelField, labelRemoved, timeText } from './words.ts';

/** A limit whose usage exceeds `evictAtPercent`. */
interface EvictEvidence {
  readonly excess: LimitUsage;
  readonly evictAtPercent: number;
  readonly respectsBudgets: boolean;
}

export interface StorageEvidence
  extends
    Record<EvictionSignal, EvictEvidence>,
    Pick<NodeEvidence, 'NoPolicy' | 'InvalidPolicy' | 'NodeUnknown'> {
  UnderLimit: {
    /** undefined = the pod has no measured limit. */
    readonly fullest: LimitUsage | undefined;
    readonly evictAtPercent: number;
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
  sentence: ({ excess, evictAtPercent, respectsBudgets }: EvictEvidence): string =>
    `${evictionMessage(excess, evictAtPercent)}${respectsBudgets ? budgetsMayDelay : ''}`,
  field: ({ excess, evictAtPercent }: EvictEvidence): string => fieldsOf(evictAtPercent, excess),
};

/** Appended if the policy respects disruption budgets. */
export const budgetsMayDelay = ' A disruption budget may delay the eviction.';

/** Entries that the agent and the controller share. */
export const podStates = {
  CriticalPod: {
    meaning: 'The pod is critical: the mirror of a static pod, or a priority of 2000000000 or more.',
    change: 'Never by dustpan while the pod is critical: dustpan only warns about such pods.',
  },
  KeepMarked: {
    meaning: `The pod, its namespace or its node has the label ${KEEP_LABEL}: "true".`,
    field: keepLabelField,
    change: labelRemoved,
  },
  Finished: {
    meaning: 'The pod has finished, so there is nothing to evict.',
    change: 'Never: podgc and containergc clean up after finished pods.',
  },
  Terminating: {
    meaning: 'The pod is already being deleted.',
    change: 'Never by dustpan: the kubelet ends the pod.',
  },
} as const;

/** Reasons of localstorage: pods and their local storage on the node. */
export const storageReasons: ReasonCatalog<StorageEvidence> = {
  'emptydirfs.limit': {
    meaning: 'An emptyDir of the pod is fuller than its size limit allows.',
    ...exceeded,
    change: `Less in the volume, a higher sizeLimit, nodes.localStorageEviction.evictAtPercent or defaultLimits.emptyDir, or ${keepLabel}.`,
  },
  'ephemeralpodfs.limit': {
    meaning: 'The pod uses more local storage than the limits of its containers add up to.',
    ...exceeded,
    change: `Less in layers, logs and volumes, higher limits of ephemeral-storage, evictAtPercent or defaultLimits.pod, or ${keepLabel}.`,
  },
  'ephemeralcontainerfs.limit': {
    meaning: 'A container uses more for its writable layer and its logs than its limit allows.',
    ...exceeded,
    change: `Less written, a higher limit of ephemeral-storage, evictAtPercent or defaultLimits.container, or ${keepLabel}.`,
  },
  UnderLimit: {
    meaning: 'The pod is within its limits of local storage.',
    sentence: ({ fullest }) =>
      fullest === undefined
        ? 'None of its limits is exceeded.'
        : `${usageClause(fullest)}, and none of its limits is fuller.`,
    field: ({ fullest, evictAtPercent }) => fieldsOf(evictAtPercent, fullest),
    change:
      'The pod uses more than nodes.localStorageEviction.evictAtPercent of one of its limits, or that percentage is lower.',
  },
  NoLimit: {
    meaning: 'The pod has no limit of local storage, and the policy sets none for such pods.',
    field: ({ hasDefaults }) =>
      hasDefaults ? undefined : 'nodes.localStorageEviction.defaultLimits is not set',
    change: 'The pod declares a limit, or the policy gets nodes.localStorageEviction.defaultLimits.',
  },
  CriticalPod: {
    ...podStates.CriticalPod,
    sentence: ({ isMirror, priority = 0, fullest }) =>
      `The pod is critical, because ${isMirror ? 'it mirrors a static pod' : `its priority is ${priority}`}; dustpan only warns about it.` +
      (fullest === undefined ? '' : ` ${usageClause(fullest)}.`),
  },
  KeepMarked: {
    ...podStates.KeepMarked,
    sentence: ({ on }) => `The label ${KEEP_LABEL} is "true" on the ${on}.`,
  },
  Finished: {
    ...podStates.Finished,
    sentence: ({ phase }) => `The pod has finished (${phase}), so there is nothing to evict.`,
  },
  Terminating: {
    ...podStates.Terminating,
    sentence: ({ deletionAtMs }) =>
      `The pod is already being deleted; its grace period ends at ${timeText(deletionAtMs)}.`,
  },
  UsageUnknown: {
    meaning: 'The usage of the pod is not known, or was measured too long ago.',
    sentence: ({ isUsageKnown }) =>
      isUsageKnown
        ? 'The node has no measurement for a limit of the pod yet, or the measurement was too old when it was read.'
        : 'The usage of the pods of this node is not known.',
    change: 'The node measures the usage: the first measurement of a new pod takes a minute or two.',
  },
  NoPolicy: nodeReasons.NoPolicy,
  InvalidPolicy: nodeReasons.InvalidPolicy,
  NodeUnknown: nodeReasons.NodeUnknown,
  RuleOff: {
    meaning: 'The policy of the node has no rule for local storage.',
    field: () => 'nodes.localStorageEviction is not set',
    change: 'The policy gets nodes.localStorageEviction.',
  },
};

const warning = {
  meaning: 'The pod uses more of a limit than a level in nodes.localStorageEviction.warnAtPercent.',
  sentence: ({ excess, percent }: WarnEvidence): string =>
    `${usageClause(excess)}: more than the ${percent} % at which dustpan warns.`,
  field: ({ excess, warnAtPercent }: WarnEvidence): string =>
    [`nodes.localStorageEviction.warnAtPercent=[${warnAtPercent.join(', ')}]`, ...defaultField(excess)].join(
      ', ',
    ),
  change: 'The pod uses less of that limit, the limit is higher, or the level is not in warnAtPercent.',
};

/** Reasons of the warnings of localstorage. */
export const storageWarnings: ReasonCatalog<Record<EvictionSignal, WarnEvidence>> = {
  'emptydirfs.limit': warning,
  'ephemeralpodfs.limit': warning,
  'ephemeralcontainerfs.limit': warning,
};

const fieldsOf = (evictAtPercent: number, limit: LimitUsage | undefined): string =>
  [evictField(evictAtPercent), ...(limit === undefined ? [] : defaultField(limit))].join(', ');

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
