import {
  fullness,
  usageOfPod,
  type EvictionRequest,
  type PodStorageUsage,
  type StorageInventory,
  type StoragePod,
  type StorageUsage,
  type StorageWarning,
} from '../../api/local-storage.ts';
import type { Offender } from '../../api/node-pass.ts';
import type { LocalStoragePolicy, Policy } from '../../api/policy.ts';
import type { StorageReason } from '../../api/reasons.ts';
import type { LocalStoragePlan, PodEviction } from './facts.ts';

/** What a pass followed. */
export interface StorageRule {
  readonly policy: Policy;
  readonly storage: LocalStoragePolicy;
}

export interface Decided {
  readonly rule: StorageRule;
  readonly pods: readonly StoragePod[];
  readonly usage: StorageUsage | undefined;
  readonly plan: LocalStoragePlan;
  readonly warnings: readonly StorageWarning[];
}

/** What the report of the node says of local storage; requests only in mode Enforce. */
export function inventoryOf({ rule, pods, usage, plan, warnings }: Decided): StorageInventory {
  const evictions = rule.policy.mode === 'Enforce' ? plan.evictions.toSorted(byExcess) : [];
  const { uid, generation } = rule.policy;
  return {
    policy: { uid, generation },
    warnings,
    evictionRequests: evictions.map((eviction) => requestOf(eviction, rule.storage)),
    offenders: offendersOf(pods, usage, plan),
  };
}

function requestOf(
  { pod, excess }: PodEviction,
  { gracePeriodSeconds }: LocalStoragePolicy,
): EvictionRequest {
  return {
    pod: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
    signal: excess.signal,
    subject: excess.subject,
    observedBytes: excess.usedBytes,
    limitBytes: excess.limit.bytes,
    observedAtMs: excess.measuredAtMs,
    gracePeriodSeconds,
  };
}

/** The order in which pods are asked for: the most excessive first, equals in a fixed order. */
export function byExcess(a: PodEviction, b: PodEviction): number {
  const [left, right] = [fullnessOf(a), fullnessOf(b)];
  if (left !== right) return right - left;
  return a.pod.uid < b.pod.uid ? -1 : 1;
}

const fullnessOf = ({ excess }: PodEviction): number => fullness(excess.usedBytes, excess.limit.bytes);

const offendersShown = 10;

function offendersOf(
  pods: readonly StoragePod[],
  usage: StorageUsage | undefined,
  { evictions, kept }: LocalStoragePlan,
): Offender[] {
  const reasons = new Map<string, StorageReason>();
  for (const { pod, reason } of [...evictions, ...kept]) reasons.set(pod.uid, reason);
  return pods
    .flatMap((pod) => offenderOf(pod, usageOfPod(usage, pod), reasons.get(pod.uid)))
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, offendersShown);
}

/** The pod, or the volume that makes up most of what it uses. */
function offenderOf(
  { namespace, name, uid, storage }: StoragePod,
  used: PodStorageUsage | undefined,
  reason: string | undefined,
): Offender[] {
  const bytes = used?.total?.bytes ?? 0;
  if (used === undefined || bytes === 0) return [];
  const onDisk = storage.emptyDirs.filter(({ isMemory }) => !isMemory);
  const volumes = onDisk.map((one) => ({ name: one.name, bytes: used.volumes.get(one.name)?.bytes ?? 0 }));
  const most = volumes.find((volume) => 2 * volume.bytes > bytes);
  if (most === undefined) return [{ kind: 'Pod', id: uid, name, namespace, bytes, reason }];
  return [{ kind: 'Volume', id: uid, name: `${name}/${most.name}`, namespace, bytes: most.bytes, reason }];
}
