import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { EvictionRequest, StorageInventory, StorageWarning } from '../../api/local-storage.ts';
import type {
  NodeGCReportStatus,
  NodeGCReportStatusEvictionRequest,
  NodeGCReportStatusStorageWarning,
} from '../../api/gen/nodegcreport.gen.ts';
import { bounds, bytes, count, cut, percent } from './bounds.ts';

/**
 * The part of the report about local storage: the pods nearest to a limit, and those to evict. Evictions are listed only if the policy that
 * decided them is `named`, the policy that the report names: the controller assumes that.
 */
export function storageOf(
  { policy, warnings, evictionRequests: planned }: StorageInventory,
  named: StorageInventory['policy'] | undefined,
  now: Date,
): Pick<
  NodeGCReportStatus,
  'storageWarningCount' | 'storageWarnings' | 'evictionRequestCount' | 'evictionRequests'
> {
  const isSame = policy.uid === named?.uid && policy.generation === named.generation;
  const evictionRequests = isSame ? planned : [];
  return {
    storageWarningCount: count(warnings.length),
    storageWarnings: warnings.slice(0, bounds.storageEntries).map(warningOf),
    evictionRequestCount: count(evictionRequests.length),
    evictionRequests: pageOf(evictionRequests, now).map(requestOf),
  };
}

/** Time for a few attempts of the controller, which a disruption budget may refuse. */
const pageMs = 5 * 60_000;

/** Lists a long list page by page over time: pods that a budget protects must not keep the other requests off the list. */
function pageOf(requests: readonly EvictionRequest[], now: Date): readonly EvictionRequest[] {
  const pages = Math.max(1, Math.ceil(requests.length / bounds.storageEntries));
  const first = (Math.floor(now.getTime() / pageMs) % pages) * bounds.storageEntries;
  return requests.slice(first, first + bounds.storageEntries);
}

function warningOf({
  pod,
  excess,
  percent: level,
  sinceMs,
}: StorageWarning): NodeGCReportStatusStorageWarning {
  return {
    ...limitOf(pod, excess),
    signal: excess.signal,
    observedBytes: bytes(excess.usedBytes),
    limitBytes: bytes(excess.limit.bytes),
    percent: percent(level),
    since: timeText(sinceMs),
  };
}

function requestOf(request: EvictionRequest): NodeGCReportStatusEvictionRequest {
  const { observedBytes, limitBytes, observedAtMs, gracePeriodSeconds } = request;
  return {
    ...limitOf(request.pod, request),
    observedBytes: bytes(observedBytes),
    limitBytes: bytes(limitBytes),
    observedTime: timeText(observedAtMs),
    ...(gracePeriodSeconds !== undefined && {
      gracePeriodSeconds: Math.min(count(gracePeriodSeconds), bounds.gracePeriodSeconds),
    }),
  };
}

function limitOf(
  { namespace, name, uid }: EvictionRequest['pod'],
  { signal, subject }: Pick<EvictionRequest, 'signal' | 'subject'>,
): Pick<NodeGCReportStatusEvictionRequest, 'pod' | 'signal' | 'subject'> {
  return {
    pod: {
      namespace: cut(namespace, bounds.namespace),
      name: cut(name, bounds.podName),
      uid: cut(uid, bounds.podUid),
    },
    signal,
    ...(subject !== undefined && { subject: cut(subject, bounds.subject) }),
  };
}

/** The kubelet's clock may be wrong: an invalid time must not cost the whole report. */
function timeText(atMs: number): string {
  return metaTime(new Date(Math.abs(atMs) <= longestMs ? atMs : 0));
}

/** The last time with a year of four digits. */
const longestMs = Date.UTC(9999, 11, 31);
