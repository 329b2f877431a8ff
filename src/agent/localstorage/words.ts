import type { EvictionSignal, LimitUsage } from '../../api/local-storage.ts';
import type { StorageKeepReason } from '../../api/reasons.ts';
import {
  budgetsMayDelay,
  criticalClause,
  doNotDisruptField,
  evictField,
  evictionMessage,
  explainPodHold,
  podStates,
  refusalClause,
  requestReasons,
  unknownUsageText,
  usageClause,
} from '../../gc/reasons/eviction-words.ts';
import type { JudgedPod } from '../../gc/pod-evictions.ts';
import { nodeReasons } from '../../gc/reasons/nodes.ts';
import type { Meaning, Why } from '../../gc/words.ts';
import type { LimitWarning, LocalStoragePlan, StorageDecision } from './facts.ts';

export const storageReasons: Readonly<Record<EvictionSignal | StorageKeepReason, Meaning>> = {
  ...requestReasons,
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
      return explainPodHold(decision);
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
