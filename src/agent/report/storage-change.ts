import type { NodeGCReportStatus } from '../../api/gen/nodegcreport.gen.ts';

type Listed = NonNullable<
  NodeGCReportStatus['storageWarnings'] | NodeGCReportStatus['evictionRequests']
>[number];
type Named = NodeGCReportStatus['policy'];

/** Whether somebody waits for it: a request to evict a pod is new or gone, a pod has come nearer to a limit. */
export function isStorageNews(previous: NodeGCReportStatus, next: NodeGCReportStatus): boolean {
  return requestsOf(previous) !== requestsOf(next) || isNearer(previous, next);
}

/** Whether it asks for an eviction that a report which names the same policy has not asked for yet: until one does, nobody evicts. */
export function hasNewRequests(previous: NodeGCReportStatus | undefined, next: NodeGCReportStatus): boolean {
  const { evictionRequests = [], evictionRequestCount = 0 } = next;
  const told = isSamePolicy(previous?.policy, next.policy) ? previous : undefined;
  if (evictionRequestCount > evictionRequests.length)
    return evictionRequestCount > (told?.evictionRequestCount ?? 0);
  const known = new Set((told?.evictionRequests ?? []).map(keyOf));
  return evictionRequests.some((request) => !known.has(keyOf(request)));
}

const isSamePolicy = (one: Named, other: Named): boolean =>
  one?.uid === other?.uid && one?.observedGeneration === other?.observedGeneration;

/** What may wait for a minute: a warning that is over; and figures, while a request is only believed as long as they are fresh. */
export function storageFigures({ storageWarnings = [], evictionRequests = [] }: NodeGCReportStatus): string {
  const levels = storageWarnings.map((warning) => `${keyOf(warning)} ${warning.percent ?? 0}`).sort();
  const measured = evictionRequests.map((request) => `${keyOf(request)} ${request.observedTime}`).sort();
  return JSON.stringify([levels, measured]);
}

/** Of more than can be listed the number alone: which of them are listed changes with every figure. */
function requestsOf({ evictionRequests = [], evictionRequestCount }: NodeGCReportStatus): string {
  const isAll = (evictionRequestCount ?? 0) <= evictionRequests.length;
  return isAll ? evictionRequests.map(keyOf).sort().join() : String(evictionRequestCount);
}

function isNearer(previous: NodeGCReportStatus, next: NodeGCReportStatus): boolean {
  const { storageWarnings = [], storageWarningCount = 0 } = next;
  if (storageWarningCount > storageWarnings.length)
    return storageWarningCount > (previous.storageWarningCount ?? 0);
  const before = new Map(
    (previous.storageWarnings ?? []).map((warning) => [keyOf(warning), warning.percent ?? 0]),
  );
  return storageWarnings.some((warning) => (warning.percent ?? 0) > (before.get(keyOf(warning)) ?? -1));
}

const keyOf = ({ pod, signal, subject = '' }: Listed): string => `${pod.uid}/${signal}/${subject}`;
