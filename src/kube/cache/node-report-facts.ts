import type {
  NodeGCReport,
  NodeGCReportStatus,
  NodeGCReportStatusEvictionRequest,
} from '../../api/gen/nodegcreport.gen.ts';
import {
  isLimitRequest,
  isPressureRequest,
  requestSignals,
  type EvictionRequest,
} from '../../api/local-storage.ts';
import { bounded, bounds } from '../../runtime/bounds.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { asObject, asObjects, asText, numberFromJson, type Unchecked } from '../codec/json.ts';
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
export interface RemoveProgress {
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
  const readUsage = usageReader();
  const entries = new SharedValues<RemoveProgress>();
  const indexes = new SharedValues<readonly number[]>();
  return inJson({ name: 'nodegcreports', path: reportsPath }, (json, known) => {
    const identity = identityOf(json);
    const { uid, resourceVersion } = identity;
    if (uid === '') throw new MalformedError('report without metadata.uid');
    const before = known?.get(uid);
    const isUsageKept = keepsUsage();
    if (before?.resourceVersion === resourceVersion && (!isUsageKept || before.usage !== undefined))
      return before;
    const status = asObject(asObject<NodeGCReport>(json).status);
    const requests = requestsOf(status, before?.requests);
    const removeList = removeListOf(status).map((entry) => entries.share(entry));
    const facts = {
      ...identity,
      ...countsOf(status),
      requests,
      removeList,
      unmatched: unmatchedOf(status, (list) => indexes.share(list)),
    };
    return isUsageKept ? { ...facts, usage: readUsage(status, before?.usage) } : facts;
  });
}

function countsOf(
  status: Unchecked<NodeGCReportStatus>,
): Omit<NodeReportFacts, keyof Identified | 'requests' | 'removeList' | 'unmatched' | 'usage'> {
  const reportedAtMs = Date.parse(asText(status.reportTime));
  const policy = asObject(status.policy);
  const removable = asObject(asObject(status.images).removable);
  const imageGc = asObjects(status.units).find(({ name }) => name === 'imagegc');
  return {
    reportedAtMs: Number.isNaN(reportedAtMs) ? undefined : reportedAtMs,
    policyUid: bounded(asText(policy.uid), bounds.uid),
    policyGeneration: numberOrZero(policy.observedGeneration),
    degraded: isTrue(status, 'Degraded'),
    keepListAtRisk: isTrue(status, 'KeepListAtRisk'),
    holding: isTrue(status, 'Holding'),
    imagesRemovable: numberOrZero(removable.count),
    imageBytesRemovable: numberOrZero(removable.bytes),
    imageBytesFreed: numberOrZero(imageGc?.freedBytesTotal),
    containersRemovable: numberOrZero(asObject(status.containers).removable),
    storageWarnings: numberOrZero(status.storageWarningCount),
    evictionRequests: numberOrZero(status.evictionRequestCount),
  };
}

const isTrue = ({ conditions }: Unchecked<NodeGCReportStatus>, condition: string): boolean =>
  asObjects(conditions).some(({ type, status }) => type === condition && status === 'True');

const numberOrZero = (value: unknown): number => numberFromJson(value) ?? 0;

/** The complete entries. An agent that does not count images without their tag does not know whether all are gone. */
function removeListOf({ images }: Unchecked<NodeGCReportStatus>): readonly RemoveProgress[] {
  const listed = asObjects(asObject(images).removeList);
  return listed.slice(0, maxRequests).flatMap((one) => {
    const [inUse, kept] = [countOf(one.inUse), countOf(one.kept)];
    if (inUse === undefined || kept === undefined) return [];
    const untagged = countOf(one.untagged) ?? (inUse + kept > 0 ? 0 : undefined);
    if (untagged === undefined) return [];
    const matched = one.matched === true || inUse + kept > 0;
    return [{ image: bounded(asText(one.image), maxPattern), matched, inUse, kept, untagged }];
  });
}

/** Returns undefined if a list is missing: without it its entries would count as matched. */
function unmatchedOf(
  { images }: Unchecked<NodeGCReportStatus>,
  share: (indexes: readonly number[]) => readonly number[],
): UnmatchedEntries | undefined {
  const { keep, only, maximumAgeByImage } = asObject(asObject(images).unmatched);
  if (!Array.isArray(keep) || !Array.isArray(only) || !Array.isArray(maximumAgeByImage)) return undefined;
  const indexesOf = (list: readonly unknown[]): readonly number[] =>
    share(list.slice(0, maxIndexes).flatMap((index) => countOf(index) ?? []));
  return { keep: indexesOf(keep), only: indexesOf(only), maximumAgeByImage: indexesOf(maximumAgeByImage) };
}

/** Bound of the longest of these lists in crds/. */
const maxIndexes = 256;

/** Bound of a pattern in crds/. */
const maxPattern = 512;

/** Bound of both lists in crds/: a longer list was not written by a dustpan agent. */
const maxRequests = 32;

const none: readonly EvictionRequest[] = Object.freeze([]);

/** The complete requests of a report. Returns `before` if its content is the same. */
function requestsOf(
  { evictionRequests }: Unchecked<NodeGCReportStatus>,
  before: readonly EvictionRequest[] | undefined,
): readonly EvictionRequest[] {
  const requests = asObjects(evictionRequests)
    .slice(0, maxRequests)
    .flatMap((item) => requestOf(item) ?? []);
  if (requests.length === 0) return none;
  return before !== undefined && JSON.stringify(before) === JSON.stringify(requests) ? before : requests;
}

/** Returns undefined if any part is missing or invalid: then the controller does not evict. */
function requestOf(json: Request): EvictionRequest | undefined {
  const signal = requestSignals.find((one) => one === json.signal);
  const pod = podOf(json.pod);
  const observedAtMs = parseRfc3339(asText(json.observedTime));
  const [observedBytes, limitBytes] = [countOf(json.observedBytes), countOf(json.limitBytes)];
  if (signal === undefined || pod === undefined || observedAtMs === undefined) return undefined;
  if (observedBytes === undefined || limitBytes === undefined) return undefined;
  const subject = bounded(asText(json.subject), bounds.name);
  const request: EvictionRequest = {
    pod,
    signal,
    observedBytes,
    limitBytes,
    observedAtMs,
    subject: subject === '' ? undefined : subject,
    shortage: shortageOf(json),
    largest: largestOf(json),
    gracePeriodSeconds: countOf(json.gracePeriodSeconds),
  };
  const isValid = json.shortage === undefined ? isLimitRequest(request) : isPressureRequest(request);
  return isValid ? request : undefined;
}

type Request = Unchecked<NodeGCReportStatusEvictionRequest>;

function shortageOf(json: Request): EvictionRequest['shortage'] {
  const shortage = asObject(json.shortage);
  const [available, threshold] = [countOf(shortage.available), countOf(shortage.threshold)];
  return available === undefined || threshold === undefined ? undefined : { available, threshold };
}

/** Only for people: an incomplete one is left out. */
function largestOf(json: Request): EvictionRequest['largest'] {
  const largest = asObject(json.largest);
  const [name, amount] = [bounded(asText(largest.name), bounds.name), countOf(largest.amount)];
  return name === '' || amount === undefined ? undefined : { name, amount };
}

/** Bounds of the lists in crds/. */
const maxNamespaces = 64;
const maxPods = 20;

/** Returns a function that reads the usage in a report; `before` if the report has none: the agent could not measure it. */
function usageReader() {
  const names = new SharedValues<string>();
  const nameOf = (value: unknown): string => names.share(bounded(asText(value), bounds.label));
  return (
    { usage: json, reportTime }: Unchecked<NodeGCReportStatus>,
    before: NamespacesUsage | undefined,
  ): NamespacesUsage | undefined => {
    const usage = asObject(json);
    const times = [usage.measuredTime, reportTime].flatMap((time) => parseRfc3339(asText(time)) ?? []);
    if (!Array.isArray(usage.namespaces) || times.length === 0) return before;
    const rest = asObject(usage.otherNamespaces);
    const namespaces = asObjects(usage.namespaces)
      .slice(0, maxNamespaces)
      .flatMap((namespace) => {
        const bytes = countOf(namespace.bytes);
        return bytes === undefined ? [] : [{ name: nameOf(namespace.name), bytes }];
      });
    const pods = asObjects(usage.pods);
    return {
      measuredAtMs: Math.min(...times),
      namespaces,
      unlistedAtMostBytes: Math.min(countOf(rest.bytes) ?? 0, ...namespaces.map(({ bytes }) => bytes)),
      pods: pods.slice(0, maxPods).flatMap((one) => {
        const bytes = countOf(one.bytes);
        const name = bounded(asText(one.name), bounds.name);
        return bytes === undefined ? [] : [{ namespace: nameOf(one.namespace), name, bytes }];
      }),
    };
  };
}

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

function podOf(json: unknown): EvictionRequest['pod'] | undefined {
  const pod = asObject<EvictionRequest['pod']>(json);
  const [namespace, name, uid] = [asText(pod.namespace), asText(pod.name), asText(pod.uid)];
  const isComplete = isText(namespace, bounds.name) && isText(name, bounds.name) && isText(uid, bounds.uid);
  return isComplete ? { namespace, name, uid } : undefined;
}

const isText = (text: string, maxLength: number): boolean => text !== '' && text.length <= maxLength;
