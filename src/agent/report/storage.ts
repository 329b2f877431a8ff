import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { EvictionRequest } from '../../api/local-storage.ts';
import type {
  NodeGCReportStatus,
  NodeGCReportStatusEvictionRequest,
  NodeGCReportStatusSignal,
  NodeGCReportStatusStorageWarning,
} from '../../api/gen/nodegcreport.gen.ts';
import type { ReportFacts } from './facts.ts';
import type { SignalState, PressureInventory } from '../nodepressure/facts.ts';
import type { StorageInventory, StorageWarning } from '../localstorage/facts.ts';

/** maxItems of storageWarnings and evictionRequests in crds/. */
const maxEntries = 32;

/**
 * The part of the report about local storage and node pressure: the pods nearest to a limit, what is available on the node, and the pods to
 * evict. Evictions are listed only if the policy that decided them is `named`, the policy that the report names: the controller assumes that.
 */
export function storageOf(
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
