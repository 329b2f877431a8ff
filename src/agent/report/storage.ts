import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { EvictionRequest, StorageInventory, StorageWarning } from '../../api/local-storage.ts';
import type {
  NodeGCReportStatus,
  NodeGCReportStatusEvictionRequest,
  NodeGCReportStatusStorageWarning,
} from '../../api/gen/nodegcreport.gen.ts';
import { bounds, bytes, count, cut, percent } from './bounds.ts';

interface StorageGiven {
  /** That the report names. */
  readonly policy: StorageInventory['policy'] | undefined;
  readonly now: Date;
}

/**
 * What a report says of local storage: the pods nearest to a limit, and those to be evicted; the latter only if that was decided by the very
 * policy that the report names, as the controller takes it to be.
 */
export function storageOf(
  { policy, warnings, evictionRequests: asked }: StorageInventory,
  { policy: named, now }: StorageGiven,
): Pick<
  NodeGCReportStatus,
  'storageWarningCount' | 'storageWarnings' | 'evictionRequestCount' | 'evictionRequests'
> {
  const isSame = policy.uid === named?.uid && policy.generation === named.generation;
  const evictionRequests = isSame ? asked : [];
  return {
    storageWarningCount: count(warnings.length),
    storageWarnings: warnings.slice(0, bounds.storageEntries).map(warningOf),
    evictionRequestCount: count(evictionRequests.length),
    evictionRequests: turnOf(evictionRequests, now).map(requestOf),
  };
}

/** Time for a few tries, of which a budget may refuse each. */
const turnMs = 5 * 60_000;

/** Of more than can be listed each has its turn: those that nobody may evict must not keep the rest from being asked for. */
function turnOf(requests: readonly EvictionRequest[], now: Date): readonly EvictionRequest[] {
  const turns = Math.max(1, Math.ceil(requests.length / bounds.storageEntries));
  const first = (Math.floor(now.getTime() / turnMs) % turns) * bounds.storageEntries;
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

/** The kubelet's clock is the node's; a time that is none must not cost the whole report. */
function timeText(atMs: number): string {
  return metaTime(new Date(Math.abs(atMs) <= longestMs ? atMs : 0));
}

/** The last moment that four digits of a year can tell. */
const longestMs = Date.UTC(9999, 11, 31);
