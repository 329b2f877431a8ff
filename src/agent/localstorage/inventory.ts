import type { EvictionRequest, StoragePod } from '../../api/local-storage.ts';
import type { NodeRule } from '../../api/policy/node-governance.ts';
import type { LocalStoragePolicy } from '../../api/policy/policy.ts';
import type { LocalStoragePlan, PodEviction, StorageInventory, StorageWarning } from './facts.ts';
import { byFullness } from './limits.ts';
import { identityOf } from './pods.ts';

type Governed = Extract<NodeRule<LocalStoragePolicy>, { kind: 'governed' }>;

export interface Decided {
  readonly governed: Governed;
  readonly pods: readonly StoragePod[];
  readonly plan: LocalStoragePlan;
  readonly warnings: readonly StorageWarning[];
}

/** The part of the node's report about local storage. Evictions are requested only in mode Enforce. */
export function inventoryOf({ governed, plan, warnings }: Decided): StorageInventory {
  const { policy, rule } = governed;
  const evictions = policy.mode === 'Enforce' ? plan.evictions.toSorted(byExcess) : [];
  const { uid, generation } = policy;
  return {
    policy: { uid, generation },
    warnings,
    evictionRequests: evictions.map((eviction) => requestOf(eviction, rule)),
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
