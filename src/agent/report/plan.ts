import { lastOfEach } from '../containergc/report.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { sum } from '../../runtime/sum.ts';
import { shortQuantityText } from '../../runtime/text/size-text.ts';
import {
  fitStatus,
  type NodeGCReportStatus,
  type NodeGCReportStatusContainersLastRemovedItem,
  type NodeGCReportStatusEvictionRequest,
  type NodeGCReportStatusSignal,
  type NodeGCReportStatusStorageWarning,
  type NodeGCReportStatusUnit,
  type NodeGCReportStatusLargestOffender,
} from '../../api/gen/nodegcreport.gen.ts';
import type { EvictionRequest } from '../../api/local-storage.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { MountedImageDisk } from '../../node/disk/filesystem.ts';
import type { LeftoverInventory, UnknownLeftovers } from '../leftovers/facts.ts';
import type { SignalState, PressureInventory } from '../nodepressure/facts.ts';
import type { StorageInventory, StorageWarning } from '../localstorage/facts.ts';
import { planConditions } from './conditions.ts';
import type { ReportFacts, UnitPasses } from './facts.ts';
import { isOfPolicy } from './keep-list-risk.ts';

/** Decides the status of a node's report; `fitStatus` drops what the CRD lacks. Second: the written report. */
export function planReport(
  facts: ReportFacts,
  { conditions = [], usage, containers: reported }: NodeGCReportStatus = {},
  now: Date,
): NodeGCReportStatus {
  const { images, containers, runtime, imageDisk, orphans, leftovers } = facts;
  const offenders = [images, containers].flatMap((inventory) => inventory?.offenders ?? []);
  return fitStatus({
    reportTime: metaTime(now),
    agentVersion: facts.agentVersion,
    ...storagePart(facts, now),
    conditions: planConditions(facts, conditions, now),
    runtime,
    imageFileSystem: imageDisk && diskOf(imageDisk),
    images: imagesOf(facts),
    containers: containersOf(facts, reported?.lastRemoved ?? []),
    sandboxes: containers?.sandboxes,
    logs: containers?.logs,
    checkpoints: containers?.checkpoints,
    orphans,
    leftovers: leftovers && leftoversOf(leftovers),
    units: unitsOf(facts),
    // After a restart the agent has not measured yet: the last usage has its own time.
    usage: facts.usage ?? usage,
    largestOffenders: offenders.toSorted(bySize),
  });
}

/** Decides the part of the status about the policy, local storage and node pressure. */
export const planStorage = (facts: StorageFacts, now: Date): NodeGCReportStatus =>
  fitStatus(storagePart(facts, now));

type StorageFacts = Pick<ReportFacts, 'governance' | 'storage' | 'pressure'>;

const storagePart = ({ governance, storage, pressure }: StorageFacts, now: Date): NodeGCReportStatus => ({
  policy: policyOf(governance),
  ...((storage ?? pressure) && storageOf({ storage, pressure }, governance.policy, now)),
});

function leftoversOf(
  found: LeftoverInventory | UnknownLeftovers,
): NonNullable<NodeGCReportStatus['leftovers']> {
  if ('unknown' in found) return found;
  const { at, leftovers, namespaces, directories } = found;
  return {
    measuredTime: metaTime(at),
    count: leftovers.length,
    bytes: sum(leftovers.map(({ bytes }) => bytes)),
    lowerBound: leftovers.some(({ isLowerBound }) => isLowerBound) || undefined,
    largest: leftovers.toSorted(bySize).map(({ sinceMs, isLowerBound, ...one }) => ({
      ...one,
      since: sinceMs === undefined ? undefined : timeText(sinceMs),
      lowerBound: isLowerBound || undefined,
    })),
    directories: directories?.withoutSnapshot,
    missingDirectories: directories?.missing,
    namespaceCount: namespaces.length,
    namespaces: namespaces
      .toSorted(bySize)
      .map(({ isLowerBound, ...one }) => ({ ...one, lowerBound: isLowerBound || undefined })),
  };
}

function imagesOf({
  images: inventory,
  lastRemoved: { images: removed },
  governance,
}: ReportFacts): NodeGCReportStatus['images'] {
  const lastRemoved = removed.length === 0 ? undefined : [...removed];
  if (inventory === undefined) return lastRemoved && { lastRemoved };
  const { removable } = inventory;
  const size = shortQuantityText(Math.min(Math.max(0, removable.bytes || 0), Number.MAX_SAFE_INTEGER));
  return {
    ...inventory,
    removable: { ...removable, size },
    pinnedByDustpan: inventory.pins.own,
    // Indexes are those of the lists of the policy that the report names.
    unmatched: isOfPolicy(inventory, governance) ? inventory.unmatched : undefined,
    lastRemoved,
  };
}

function containersOf(
  { containers, lastRemoved }: ReportFacts,
  reported: readonly RemovedItem[],
): NodeGCReportStatus['containers'] {
  // Cut first: an id is compared with that of the report.
  const own = fitStatus({ containers: { lastRemoved: [...lastRemoved.others] } });
  const removed = continued(own.containers.lastRemoved, reported);
  if (containers === undefined && removed.length === 0) return undefined;
  return { ...containers?.containers, lastRemoved: removed.length === 0 ? undefined : removed };
}

type RemovedItem = NodeGCReportStatusContainersLastRemovedItem;

/** The removals of this agent, then those that an agent before it reported. */
function continued(own: readonly RemovedItem[], reported: readonly RemovedItem[]): RemovedItem[] {
  const keyOf = ({ kind, id, time }: RemovedItem): string => `${kind} ${id} ${time}`;
  const known = new Set(own.map(keyOf));
  return lastOfEach([...own, ...reported.filter((one) => !known.has(keyOf(one)))]);
}

function policyOf({ policy }: NodeGovernance): NodeGCReportStatus['policy'] {
  if (policy === undefined || policy.name === '') return undefined;
  const { name, uid, generation } = policy;
  return { name, uid, observedGeneration: generation, mode: 'problems' in policy ? undefined : policy.mode };
}

const diskOf = (disk: MountedImageDisk): NodeGCReportStatus['imageFileSystem'] => ({
  ...disk,
  usedInodes: disk.inodesUsed,
  availableInodes: disk.inodesFree,
});

/** Each unit that has run since the agent started, with the totals of the agent before; then the others, as that agent reported them. */
function unitsOf({ passes, earlierUnits, startedAt }: ReportFacts): NodeGCReportStatusUnit[] {
  const earlier = new Map(earlierUnits.map((unit) => [unit.name, unit]));
  const own = passes.map((unit) => {
    const before = earlier.get(unit.last.unit);
    earlier.delete(unit.last.unit);
    // The totals of an agent that did not report since when they count are not continued.
    return unitOf(unit, before?.totalsSince === undefined ? undefined : before, startedAt);
  });
  return [...own, ...earlier.values()];
}

function unitOf(
  { last, removedTotal, freedBytesTotal }: UnitPasses,
  before: NodeGCReportStatusUnit | undefined,
  startedAt: Date,
): NodeGCReportStatusUnit {
  return {
    ...last,
    name: last.unit,
    lastPassTime: metaTime(last.at),
    removedTotal: (before?.removedTotal ?? 0) + removedTotal,
    freedBytesTotal: (before?.freedBytesTotal ?? 0) + freedBytesTotal,
    totalsSince: before?.totalsSince ?? metaTime(startedAt),
  };
}

/** Equal sizes have a fixed order, so that two reports do not differ without a reason. */
type Sized = Pick<NodeGCReportStatusLargestOffender, 'id' | 'name' | 'bytes'>;

function bySize(a: Sized, b: Sized): number {
  if (a.bytes !== b.bytes) return b.bytes - a.bytes;
  return (a.id ?? a.name ?? '') < (b.id ?? b.name ?? '') ? -1 : 1;
}

/** maxItems of storageWarnings and evictionRequests in crds/. */
const maxEntries = 32;

/**
 * The part of the report about local storage and node pressure: the pods nearest to a limit, what is available on the node, and the pods to
 * evict. Evictions are listed only if the policy that decided them is `named`, the policy that the report names: the controller assumes that.
 */
function storageOf(
  { storage, pressure }: Pick<ReportFacts, 'storage' | 'pressure'>,
  named: StorageInventory['policy'] | undefined,
  now: Date,
): Pick<
  NodeGCReportStatus,
  'signals' | 'storageWarningCount' | 'storageWarnings' | 'evictionRequestCount' | 'evictionRequests'
> {
  const isNamed = ({ policy }: { readonly policy: StorageInventory['policy'] }): boolean =>
    policy.uid === named?.uid && policy.generation === named.generation;
  // Ordered by rank, and always listed: the controller evicts the first pod that it may evict.
  const ranked = pressure && isNamed(pressure) ? pressure.requests : [];
  const exceeding = storage && isNamed(storage) ? storage.evictionRequests : [];
  const warnings = storage?.warnings ?? [];
  const page = pageOf(exceeding, maxEntries - ranked.length, now);
  return {
    signals: pressure && signalsOf(pressure),
    storageWarningCount: warnings.length,
    storageWarnings: warnings.map(warningOf),
    evictionRequestCount: ranked.length + exceeding.length,
    evictionRequests: [...ranked, ...page].map(requestOf),
  };
}

/** Time for a few attempts of the controller, which a disruption budget may refuse. */
const pageMs = 5 * 60_000;

/** Lists a long list page by page over time: pods that a budget protects must not keep the other requests off the list. */
function pageOf(requests: readonly EvictionRequest[], length: number, now: Date): readonly EvictionRequest[] {
  const pages = Math.max(1, Math.ceil(requests.length / length));
  const first = (Math.floor(now.getTime() / pageMs) % pages) * length;
  return requests.slice(first, first + length);
}

function signalsOf({ states, readings }: PressureInventory): NodeGCReportStatusSignal[] {
  const known = new Map<string, SignalState>(states.map((state) => [state.reading.signal, state]));
  return readings.map((reading) => ({
    ...reading,
    name: reading.signal,
    availablePercent: Math.floor((100 * reading.available) / reading.capacity),
    measuredTime: timeText(reading.measuredAtMs),
    ...stateOf(known.get(reading.signal)),
  }));
}

function stateOf(state: SignalState | undefined): Partial<NodeGCReportStatusSignal> {
  if (state === undefined) return {};
  const { reading, ours, kubelets, growthPerMinute, crossedSinceMs } = state;
  const left = [ours, kubelets].flatMap((limit) => limit?.secondsLeft ?? []).filter((seconds) => seconds > 0);
  return {
    threshold: ours?.value,
    kubeletThreshold: kubelets?.value,
    growthPerMinute,
    thresholdTime: left.length === 0 ? undefined : timeText(reading.measuredAtMs + Math.min(...left) * 1000),
    crossedSince: crossedSinceMs === undefined ? undefined : timeText(crossedSinceMs),
  };
}

const warningOf = ({ pod, excess, percent, sinceMs }: StorageWarning): NodeGCReportStatusStorageWarning => ({
  pod,
  signal: excess.signal,
  subject: excess.subject,
  observedBytes: excess.usedBytes,
  limitBytes: excess.limit.bytes,
  percent,
  since: timeText(sinceMs),
});

const requestOf = ({ observedAtMs, ...request }: EvictionRequest): NodeGCReportStatusEvictionRequest => ({
  ...request,
  observedTime: timeText(observedAtMs),
});

/** The kubelet's clock may be wrong: an invalid time must not cost the whole report. */
function timeText(atMs: number): string {
  return metaTime(new Date(Math.abs(atMs) <= longestMs ? atMs : 0));
}

/** The last time with a year of four digits. */
const longestMs = Date.UTC(9999, 11, 31);
