import type { NodeGCReportStatusLargestOffender } from '../../api/gen/nodegcreport.gen.ts';
import {
  usageOfPod,
  type EvictionRequest,
  type PodStorageUsage,
  type StoragePod,
  type StorageUsage,
} from '../../api/local-storage.ts';
import type { NodeRule } from '../../api/policy/node-governance.ts';
import type { LocalStoragePolicy } from '../../api/policy/policy.ts';
import type { StorageReason } from '../../api/reasons.ts';
import type { LocalStoragePlan, PodEviction, StorageInventory, StorageWarning } from './facts.ts';
import { byFullness } from './limits.ts';
import { identityOf } from './pods.ts';

type Governed = Extract<NodeRule<LocalStoragePolicy>, { kind: 'governed' }>;

export interface Decided {
  readonly governed: Governed;
  readonly pods: readonly StoragePod[];
  readonly usage: StorageUsage | undefined;
  readonly plan: LocalStoragePlan;
  readonly warnings: readonly StorageWarning[];
}

/** The part of the node's report about local storage. Evictions are requested only in mode Enforce. */
export function inventoryOf({ governed, pods, usage, plan, warnings }: Decided): StorageInventory {
  const { policy, rule } = governed;
  const evictions = policy.mode === 'Enforce' ? plan.evictions.toSorted(byExcess) : [];
  const { uid, generation } = policy;
  return {
    policy: { uid, generation },
    warnings,
    evictionRequests: evictions.map((eviction) => requestOf(eviction, rule)),
    offenders: offendersOf(pods, usage, plan),
  };
}

function requestOf({ target }: PodEviction, { gracePeriodSeconds }: LocalStoragePolicy): EvictionRequest {
  const { excess } = target;
  return {
    pod: identityOf(target),
    signal: excess.signal,
    subject: excess.subject,
    observedBytes: excess.usedBytes,
    limitBytes: excess.limit.bytes,
    shortage: undefined,
    largest: excess.largest,
    observedAtMs: excess.measuredAtMs,
    gracePeriodSeconds,
  };
}

/** The order in which evictions are requested: the most excessive first, equals in a fixed order. */
export function byExcess(a: PodEviction, b: PodEviction): number {
  return byFullness(a.target.excess, b.target.excess) || (a.target.uid < b.target.uid ? -1 : 1);
}

const offendersShown = 10;

function offendersOf(
  pods: readonly StoragePod[],
  usage: StorageUsage | undefined,
  { evictions, kept }: LocalStoragePlan,
): NodeGCReportStatusLargestOffender[] {
  const reasons = new Map<string, StorageReason>();
  for (const { target, reason } of [...evictions, ...kept]) reasons.set(target.uid, reason);
  return pods
    .flatMap((pod) => offenderOf(pod, usageOfPod(usage, pod), reasons.get(pod.uid)))
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, offendersShown);
}

/** The pod, or its volume that has more than half of the pod's usage. */
function offenderOf(
  { namespace, name, uid, storage }: StoragePod,
  used: PodStorageUsage | undefined,
  reason: string | undefined,
): NodeGCReportStatusLargestOffender[] {
  const bytes = used?.total?.bytes ?? 0;
  if (used === undefined || bytes === 0) return [];
  const onDisk = storage.emptyDirs.filter(({ isMemory }) => !isMemory);
  const volumes = onDisk.map((one) => ({ name: one.name, bytes: used.volumes.get(one.name)?.bytes ?? 0 }));
  const largest = volumes.find((volume) => 2 * volume.bytes > bytes);
  if (largest === undefined) return [{ kind: 'Pod', id: uid, name, namespace, bytes, reason }];
  return [
    { kind: 'Volume', id: uid, name: `${name}/${largest.name}`, namespace, bytes: largest.bytes, reason },
  ];
}
