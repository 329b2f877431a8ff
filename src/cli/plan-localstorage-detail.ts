import type { KeptPod, LimitReading, LimitWarning, PodEviction } from '../agent/localstorage/facts.ts';
import type { EvictionSignal, StoragePod } from '../api/local-storage.ts';
import { evictionMessage, usageClause } from '../api/local-storage-messages.ts';
import { KEEP_LABEL } from '../api/matching.ts';
import type { DefaultLimits, InvalidPolicy, LocalStoragePolicy } from '../api/policy.ts';
import type { Told } from './plan-document.ts';
import type { RefusedPod } from './plan-localstorage.ts';
import { invalidTold, plainly, timeText } from './plan-words.ts';

export interface StorageContext {
  readonly node: string;
  /** undefined = no policy says anything about local storage here. */
  readonly policy: LocalStoragePolicy | undefined;
  /** Set when one that cannot be followed may govern the node. */
  readonly invalid: InvalidPolicy | undefined;
  readonly isNodeMarked: boolean;
  readonly isUsageKnown: boolean;
}

/** Why a pod is to be evicted: what it uses of which limit, and what stands in the way at the act. */
export function evictionTold({ excess }: PodEviction, { policy }: StorageContext): Told {
  const budgets = policy?.respectPodDisruptionBudgets ? ' A disruption budget may put it off.' : '';
  return {
    detail: `${evictionMessage(excess, policy?.evictAtPercent)}${budgets}`,
    field: [evictField(policy), ...defaultField(excess, policy)].join(', '),
  };
}

/** Why a pod is warned about: a level that is exceeded, of one limit. */
export function warningTold({ reading, percent }: LimitWarning, { policy }: StorageContext): Told {
  const levels = policy?.warnAtPercent.join(', ') ?? '';
  return {
    detail: `${usageClause(reading)}: more than the ${percent} % at which its owner is warned.`,
    field: [`nodes.localStorageEviction.warnAtPercent=[${levels}]`, ...defaultField(reading, policy)].join(
      ', ',
    ),
  };
}

/** Why a pod is not evicted. */
export function keptPodTold(one: KeptPod | RefusedPod, context: StorageContext): Told {
  return 'refused' in one ? refusedTold(one, context) : kept[one.reason](one, context);
}

function refusedTold({ reason, refused, pod: { namespace } }: RefusedPod, { policy }: StorageContext): Told {
  const message = evictionMessage(refused.excess, policy?.evictAtPercent);
  if (reason === 'NamespaceUnknown')
    return plainly(
      `${message} But its namespace ${namespace}, and with it a label that may keep it, is not known.`,
    );
  return {
    detail: `${message} But the label ${KEEP_LABEL} is "true" on namespace ${namespace}.`,
    field: markField,
  };
}

const markField = `metadata.labels["${KEEP_LABEL}"]=true`;

type Telling = (one: KeptPod, context: StorageContext) => Told;
const told =
  (detail: string, field: string | null = null): Telling =>
  () => ({ detail, field });

const kept: Readonly<Record<KeptPod['reason'], Telling>> = {
  UnderLimit: ({ fullest }, { policy }) => ({
    detail:
      fullest === undefined
        ? 'None of its limits is exceeded.'
        : `${usageClause(fullest)}, and none of its limits is fuller.`,
    field: [evictField(policy), ...(fullest ? defaultField(fullest, policy) : [])].join(', '),
  }),
  NoLimit: (_, { policy }) => ({
    detail: 'It declares no limit of local storage, and the policy sets none for such a pod.',
    field: isWithoutDefaults(policy) ? 'nodes.localStorageEviction.defaultLimits is not set' : null,
  }),
  CriticalPod: ({ pod, fullest }) => {
    const figures = fullest === undefined ? '' : ` ${usageClause(fullest)}.`;
    return plainly(`It is critical, as ${whyCritical(pod)}, and only warned about.${figures}`);
  },
  KeepMarked: (_, { isNodeMarked, node }) => ({
    detail: `The label ${KEEP_LABEL} is "true" on ${isNodeMarked ? `node ${node}` : 'the pod'}.`,
    field: markField,
  }),
  Finished: ({ pod }) => plainly(`It has finished (${pod.phase}), so there is nothing to evict.`),
  Terminating: ({ pod: { deletionAtMs = 0 } }) =>
    plainly(`It is being deleted already, and is to be gone by ${timeText(deletionAtMs)}.`),
  UsageUnknown: ({ pod }, { isUsageKnown }) =>
    plainly(
      isUsageKnown
        ? `The figures of the node say nothing of the limits of pod ${pod.namespace}/${pod.name}, or not yet, or were too old when they were read.`
        : 'What the pods of this node use is not known.',
    ),
  NoPolicy: told('No GCPolicy says anything about this node.'),
  InvalidPolicy: (_, { invalid }) =>
    invalid === undefined
      ? plainly('A policy that cannot be followed may govern this node, so nothing on it is touched.')
      : invalidTold(invalid, 'this node'),
  NodeUnknown: told('The node or the policies are not known.'),
  RuleOff: told(
    'The policy of the node has no rule for local storage.',
    'nodes.localStorageEviction is not set',
  ),
};

const whyCritical = ({ configHash, priority }: StoragePod): string =>
  configHash === undefined ? `its priority is ${priority ?? 0}` : 'it mirrors a static pod';

const evictField = (policy: LocalStoragePolicy | undefined): string =>
  `nodes.localStorageEviction.evictAtPercent=${policy?.evictAtPercent ?? 100}`;

const defaultOf: Readonly<Record<EvictionSignal, readonly [name: string, limit: keyof DefaultLimits]>> = {
  'emptydirfs.limit': ['emptyDir', 'emptyDirBytes'],
  'ephemeralpodfs.limit': ['pod', 'podBytes'],
  'ephemeralcontainerfs.limit': ['container', 'containerBytes'],
};

/** Where the limit itself is the policy's. */
function defaultField(
  { signal, isDefault, limit }: Pick<LimitReading, 'signal' | 'isDefault' | 'limit'>,
  policy: LocalStoragePolicy | undefined,
): readonly string[] {
  const [name, bytes] = defaultOf[signal];
  if (!isDefault || policy?.defaultLimits[bytes] === undefined) return [];
  return [`nodes.localStorageEviction.defaultLimits.${name}=${limit.text}`];
}

const isWithoutDefaults = (policy: LocalStoragePolicy | undefined): boolean =>
  Object.values(policy?.defaultLimits ?? {}).every((limit) => limit === undefined);
