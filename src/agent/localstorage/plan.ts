import { isCritical } from '../../api/critical-pod.ts';
import { isVoluntary, refusedBecause } from '../../api/do-not-disrupt.ts';
import {
  exceeds,
  exceedsLimit,
  usageOfPod,
  type LimitUsage,
  type StoragePod,
} from '../../api/local-storage.ts';
import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import type { LocalStoragePolicy } from '../../api/policy/policy.ts';
import type { Decision } from '../../gc/decision.ts';
import type {
  Given,
  KeptPod,
  LimitWarning,
  LocalStorageFacts,
  LocalStoragePlan,
  PodReading,
  StorageDecision,
  KeptBecause,
} from './facts.ts';
import { byFullness, hasLimits, limitsOf, readLimits, subjectOf, unmeasuredLimits } from './limits.ts';
import { protectedBecause, keptByNode, isFresh, judgedPod, untimed } from './pods.ts';

/** Decides which pods exceed a local storage limit, and which are near one; one verdict per pod, in the order of the pods. */
export function planLocalStorage(facts: LocalStorageFacts, given: Given): LocalStoragePlan {
  const { pods = [], usage } = facts;
  const isUsageKnown = usage !== undefined;
  const governed = nodeRule(given.governance, 'localStorageEviction');
  if (governed.kind === 'keep') {
    const kept = pods.map((pod) => keep(pod, keptByNode(governed.reason), governed.policy));
    return { rule: undefined, isUsageKnown, evictions: [], warnings: [], readings: [], kept };
  }
  const judged = pods.map((pod) => judge(pod, { ...facts, ...given, ...governed }));
  const readings = judged.flatMap((one) =>
    one.readings.map((reading) => ({ pod: one.decision.target.pod, reading })),
  );
  return {
    rule: governed.rule,
    isUsageKnown,
    evictions: judged.flatMap(({ decision }) => (decision.verdict === 'Evict' ? decision : [])),
    kept: judged.flatMap(({ decision }) => (decision.verdict === 'Keep' ? decision : [])),
    warnings: readings.flatMap((one) => warningOf(one, governed) ?? []),
    readings,
  };
}

type Governed = Extract<NodeRule<LocalStoragePolicy>, { kind: 'governed' }>;
type Known = LocalStorageFacts & Given & Governed;

const keep = (pod: StoragePod, why: KeptBecause, policy: Decision['policy']): KeptPod => ({
  ...untimed,
  unit: 'localstorage',
  verdict: 'Keep',
  target: judgedPod(pod),
  policy,
  ...why,
});

interface Judged {
  readonly decision: StorageDecision;
  /** Empty for a pod that gets no warnings. */
  readonly readings: readonly LimitUsage[];
}

function judge(pod: StoragePod, known: Known): Judged {
  const { policy, nodes } = known;
  const kept = (why: KeptBecause, readings: readonly LimitUsage[] = []): Judged => ({
    readings,
    decision: keep(pod, why, policy),
  });
  const hold = protectedBecause(pod, nodes);
  if (hold !== undefined) return kept(hold);
  const measured = measure(pod, known);
  if ('reason' in measured)
    return kept(isCritical(pod) ? { reason: 'CriticalPod', fullest: undefined } : measured);
  const { readings, unmeasured } = measured;
  const [fullest] = readings.toSorted(byFullness);
  if (isCritical(pod)) return kept({ reason: 'CriticalPod', fullest }, readings);
  const exceeded = readings.filter(exceedsLimit);
  const refused = refusedBecause(pod, nodes);
  const excess = refused === undefined ? exceeded[0] : exceeded.find((one) => !isOurChoice(one, known));
  const [spared] = exceeded;
  if (excess === undefined && refused !== undefined && spared !== undefined)
    return kept({ ...refused, excess: spared }, readings);
  if (excess === undefined)
    return kept(
      unmeasured.length > 0 ? { reason: 'UsageUnknown', unmeasured } : { reason: 'UnderLimit', fullest },
      readings,
    );
  return {
    readings,
    decision: {
      ...untimed,
      unit: 'localstorage',
      verdict: 'Evict',
      target: { ...judgedPod(pod), excess },
      reason: excess.signal,
      policy,
    },
  };
}

const isOurChoice = ({ limit, ...excess }: LimitUsage, { rule }: Known): boolean =>
  isVoluntary({ ...excess, limitBytes: limit.bytes }, rule);

interface Measured {
  readonly readings: readonly LimitUsage[];
  /** Limits that are not measured, in part or as a whole, or too long ago, so that an excess may have been missed. */
  readonly unmeasured: readonly string[];
}

/** Returns the usage of each limit, or the reason why there is none. */
function measure(pod: StoragePod, { usage, rule, now, maxAges: { usageMs } }: Known): Measured | KeptBecause {
  const limits = limitsOf(pod.storage, rule);
  if (!hasLimits(limits)) return { reason: 'NoLimit' };
  const used = usageOfPod(usage, pod);
  if (usage === undefined || used === undefined) return { reason: 'UsageUnknown', unmeasured: [] };
  const binding = { ...limits, storage: pod.storage };
  const all = readLimits(binding, used, usage);
  const readings = all.filter(({ measuredAtMs }) => isFresh(measuredAtMs, now, usageMs));
  const stale = all.filter((one) => !readings.includes(one)).map(subjectOf);
  const unmeasured = [...new Set([...stale, ...unmeasuredLimits(binding, used, usage)])];
  return readings.length === 0 ? { reason: 'UsageUnknown', unmeasured } : { readings, unmeasured };
}

/** Warns at the highest level that is exceeded. */
function warningOf(
  { pod, reading: excess }: PodReading,
  { policy, rule: { warnAtPercent } }: Governed,
): LimitWarning | undefined {
  const percent = warnAtPercent.findLast((level) => exceeds(excess.usedBytes, excess.limit.bytes, level));
  if (percent === undefined) return undefined;
  const target = { ...judgedPod(pod), excess, percent };
  return { ...untimed, unit: 'localstorage', verdict: 'Warn', target, reason: excess.signal, policy };
}
