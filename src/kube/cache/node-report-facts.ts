import {
  readStatus,
  type NodeGCReport,
  type NodeGCReportStatus,
  type NodeGCReportStatusEvictionRequest,
  type NodeGCReportStatusImages,
  type NodeGCReportStatusUsage,
} from '../../api/gen/nodegcreport.gen.ts';
import { isLimitRequest, isPressureRequest, type EvictionRequest } from '../../api/local-storage.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { asObject, type Unchecked } from '../codec/json.ts';
import { MalformedError } from '../codec/frames.ts';
import { SharedValues } from '../codec/shared-values.ts';
import type { Identified } from './objects.ts';
import { identityOf, inJson, reportsPath, type Resource } from './resources.ts';

/** The controller's facts of a node's report: some hundred bytes of up to 50 KB. A missing number counts as 0. */
export interface NodeReportFacts extends Identified {
  /** undefined = never written, or not readable. */
  readonly reportedAtMs: number | undefined;
  /** '' = no policy governs the node, as its agent sees it. */
  readonly policyUid: string;
  readonly policyGeneration: number;
  readonly degraded: boolean;
  readonly keepListAtRisk: boolean;
  /** A large removal of images waits. */
  readonly holding: boolean;
  readonly imagesRemovable: number;
  readonly imageBytesRemovable: number;
  /** Total since the unit's `totalsSince`. */
  readonly imageBytesFreed: number;
  readonly containersRemovable: number;
  readonly storageWarnings: number;
  /** All of them, listed or not. */
  readonly evictionRequests: number;
  /** The listed ones, in the order of the report. The same array as long as their content is the same. */
  readonly requests: readonly EvictionRequest[];
  readonly removeList: readonly RemoveProgress[];
  /** By the lists of the policy above; undefined = unknown, as of an agent that does not report them. */
  readonly unmatched: UnmatchedEntries | undefined;
  /** The last known usage; undefined = unknown, or not kept. Up to 7 KB of a node with many namespaces. */
  readonly usage?: NamespacesUsage | undefined;
}

/** Entries of nodes.imageGC that match no image of a node, by their indexes in the lists. */
export interface UnmatchedEntries {
  readonly keep: readonly number[];
  readonly only: readonly number[];
  readonly maximumAgeByImage: readonly number[];
}

/** An entry of nodes.imageGC.remove, and how many images that it matches are left. */
interface RemoveProgress {
  readonly image: string;
  /** Whether it has matched an image of the node, also one that is removed by now; false also after a restart of the agent. */
  readonly matched: boolean;
  readonly inUse: number;
  /** Left for another reason. */
  readonly kept: number;
  /** Images without a tag of a repository of which the entry names a tag: a newer image may have taken it. */
  readonly untagged: number;
}

export interface NamespacesUsage {
  readonly measuredAtMs: number;
  /** The largest. */
  readonly namespaces: readonly { readonly name: string; readonly bytes: number }[];
  /** Every namespace that is not listed uses at most this much; 0 = all are listed. */
  readonly unlistedAtMostBytes: number;
  /** The largest of the node. */
  readonly pods: readonly { readonly namespace: string; readonly name: string; readonly bytes: number }[];
}

/** The reports of all nodes. The kind may be missing. `keepsUsage` is evaluated for each object: relist after a change. */
export function nodeReportsResource(keepsUsage = (): boolean => false): Resource<NodeReportFacts> {
  const names = new SharedValues<string>();
  const entries = new SharedValues<RemoveProgress>();
  const indexes = new SharedValues<readonly number[]>();
  return inJson({ name: 'nodegcreports', path: reportsPath }, (json, known) => {
    const identity = identityOf(json);
    if (identity.uid === '') throw new MalformedError('report without metadata.uid');
    const before = known?.get(identity.uid);
    const isUsageKept = keepsUsage();
    const isSame = before?.resourceVersion === identity.resourceVersion;
    if (isSame && (!isUsageKept || before.usage !== undefined)) return before;
    const status = readStatus(partOf(asObject(asObject<NodeGCReport>(json).status), isUsageKept));
    const facts: NodeReportFacts = {
      ...identity,
      ...conditionsOf(status),
      ...imageCountsOf(status),
      ...countsOf(status),
      requests: requestsOf(status, before?.requests),
      removeList: removeListOf(status.images).map((entry) => entries.share(entry)),
      unmatched: unmatchedOf(status.images, (list) => indexes.share(list)),
    };
    if (!isUsageKept) return facts;
    return { ...facts, usage: usageOf(status, (name) => names.share(name)) ?? before?.usage };
  });
}

/** Without the long parts that no fact needs: reading them would take longer than parsing the report. */
const partOf = (
  status: Unchecked<NodeGCReportStatus>,
  isUsageKept: boolean,
): Readonly<Partial<Record<keyof NodeGCReportStatus, unknown>>> => ({
  ...status,
  images: { ...asObject(status.images), lastRemoved: undefined },
  containers: { ...asObject(status.containers), lastRemoved: undefined },
  usage: isUsageKept ? { ...asObject(status.usage), images: undefined } : undefined,
  orphans: undefined,
  leftovers: undefined,
  largestOffenders: undefined,
  signals: undefined,
  storageWarnings: undefined,
});

function conditionsOf({ conditions = [] }: NodeGCReportStatus) {
  const isTrue = (condition: string): boolean =>
    conditions.some(({ type, status }) => type === condition && status === 'True');
  return {
    degraded: isTrue('Degraded'),
    keepListAtRisk: isTrue('KeepListAtRisk'),
    holding: isTrue('Holding'),
  };
}

function imageCountsOf({ images, units }: NodeGCReportStatus) {
  const imageGc = units?.find(({ name }) => name === 'imagegc');
  return {
    imagesRemovable: images?.removable?.count ?? 0,
    imageBytesRemovable: images?.removable?.bytes ?? 0,
    imageBytesFreed: imageGc?.freedBytesTotal ?? 0,
  };
}

function countsOf({
  reportTime = '',
  policy,
  containers,
  storageWarningCount = 0,
  evictionRequestCount = 0,
}: NodeGCReportStatus) {
  return {
    reportedAtMs: parseRfc3339(reportTime),
    policyUid: policy?.uid ?? '',
    policyGeneration: policy?.observedGeneration ?? 0,
    containersRemovable: containers?.removable ?? 0,
    storageWarnings: storageWarningCount,
    evictionRequests: evictionRequestCount,
  };
}

/** An agent that does not count images without their tag does not know whether all are gone. */
const removeListOf = ({ removeList = [] }: NodeGCReportStatusImages = {}): readonly RemoveProgress[] =>
  removeList.flatMap(({ image, matched = false, inUse, kept, untagged }) => {
    const areLeft = inUse + kept > 0;
    if (untagged === undefined && !areLeft) return [];
    return [{ image, matched: matched || areLeft, inUse, kept, untagged: untagged ?? 0 }];
  });

function unmatchedOf(
  { unmatched }: NodeGCReportStatusImages = {},
  share: (indexes: readonly number[]) => readonly number[],
): UnmatchedEntries | undefined {
  if (unmatched === undefined) return undefined;
  const { keep, only, maximumAgeByImage } = unmatched;
  return { keep: share(keep), only: share(only), maximumAgeByImage: share(maximumAgeByImage) };
}

const none: readonly EvictionRequest[] = Object.freeze([]);

/** The valid requests of a report. Returns `before` if its content is the same. */
function requestsOf(
  { evictionRequests = [] }: NodeGCReportStatus,
  before: readonly EvictionRequest[] | undefined,
): readonly EvictionRequest[] {
  const requests = evictionRequests.flatMap((request) => requestOf(request) ?? []);
  if (requests.length === 0) return none;
  return before !== undefined && JSON.stringify(before) === JSON.stringify(requests) ? before : requests;
}

/** Returns undefined for a request of no known form: then the controller does not evict. */
function requestOf({
  observedTime,
  subject,
  ...reported
}: NodeGCReportStatusEvictionRequest): EvictionRequest | undefined {
  const observedAtMs = parseRfc3339(observedTime);
  if (observedAtMs === undefined) return undefined;
  const { shortage, largest, gracePeriodSeconds } = reported;
  const request: EvictionRequest = {
    ...reported,
    observedAtMs,
    subject: subject === '' ? undefined : subject,
    shortage,
    largest,
    gracePeriodSeconds,
  };
  const isValid = shortage === undefined ? isLimitRequest(request) : isPressureRequest(request);
  return isValid ? request : undefined;
}

/** undefined = the agent could not measure it. */
function usageOf(
  { usage = {}, reportTime = '' }: NodeGCReportStatus,
  share: (name: string) => string,
): NamespacesUsage | undefined {
  const { measuredTime = '', namespaces, otherNamespaces, pods = [] }: NodeGCReportStatusUsage = usage;
  const times = [measuredTime, reportTime].flatMap((time) => parseRfc3339(time) ?? []);
  if (namespaces === undefined || times.length === 0) return undefined;
  const smallest = namespaces.map(({ bytes }) => bytes);
  return {
    measuredAtMs: Math.min(...times),
    namespaces: namespaces.map(({ name, bytes }) => ({ name: share(name), bytes })),
    unlistedAtMostBytes: Math.min(otherNamespaces?.bytes ?? 0, ...smallest),
    pods: pods.map(({ namespace, name, bytes }) => ({ namespace: share(namespace), name, bytes })),
  };
}
