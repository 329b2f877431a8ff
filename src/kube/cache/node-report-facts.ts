import type { EvictionRequest } from '../../api/local-storage.ts';
import { bounded, bounds } from '../../runtime/bounds.ts';
import { asList, asObject, asText } from '../codec/json.ts';
import type { Codec } from '../codec/list.ts';
import { evictionRequestsOf } from '../actions/eviction-requests.ts';
import { MalformedError } from '../codec/frames.ts';
import type { Identified } from './objects.ts';
import type { Resource } from './resources.ts';
import { acceptJson } from '../http/media-types.ts';

/** What the controller keeps of a node's report: some hundred bytes of up to 50 KB. What the report does not say counts as 0. */
export interface NodeReportFacts extends Identified {
  /** undefined = never written, or not readable. */
  readonly reportedAtMs: number | undefined;
  /** '' = no policy governs the node, as its agent sees it. */
  readonly policyUid: string;
  readonly policyGeneration: number;
  readonly degraded: boolean;
  readonly keepListAtRisk: boolean;
  readonly imagesRemovable: number;
  readonly imageBytesRemovable: number;
  /** Since the agent started. */
  readonly imageBytesFreed: number;
  readonly containersRemovable: number;
  readonly storageWarnings: number;
  /** All of them, listed or not. */
  readonly evictionRequests: number;
  /** Those that are listed, the most excessive first; the same array as long as they say the same. */
  readonly requests: readonly EvictionRequest[];
}

/** The reports of all nodes; the kind may be missing. */
export function nodeReportsResource(): Resource<NodeReportFacts> {
  return {
    name: 'nodegcreports',
    path: '/apis/gc.dustpan.dev/v1alpha1/nodegcreports',
    query: {},
    accept: acceptJson,
    optional: true,
    codec: nodeReportCodec,
  };
}

type JsonObject = Readonly<Record<string, unknown>>;

const nodeReportCodec: Codec<NodeReportFacts> = {
  fromProtobuf: () => {
    throw new MalformedError('custom resources have no protobuf form');
  },
  fromJson: (json, known) => {
    const report = asObject(json);
    const meta = asObject(report['metadata']);
    const identity = {
      uid: asText(meta['uid']),
      name: asText(meta['name']),
      resourceVersion: asText(meta['resourceVersion']),
    };
    if (identity.uid === '') throw new MalformedError('report without metadata.uid');
    const before = known?.get(identity.uid);
    const isSame = before?.resourceVersion === identity.resourceVersion;
    if (before !== undefined && isSame) return before;
    const status = asObject(report['status']);
    const requests = evictionRequestsOf(status['evictionRequests'], before?.requests);
    return { ...identity, ...figuresOf(status), requests };
  },
};

function figuresOf(status: JsonObject): Omit<NodeReportFacts, keyof Identified | 'requests'> {
  const reportedAtMs = Date.parse(asText(status['reportTime']));
  const policy = asObject(status['policy']);
  const removable = asObject(asObject(status['images'])['removable']);
  const imagegc = objects(status['units']).find((unit) => unit['name'] === 'imagegc');
  return {
    reportedAtMs: Number.isNaN(reportedAtMs) ? undefined : reportedAtMs,
    policyUid: bounded(asText(policy['uid']), bounds.uid),
    policyGeneration: asNumber(policy['observedGeneration']),
    degraded: holds(status, 'Degraded'),
    keepListAtRisk: holds(status, 'KeepListAtRisk'),
    imagesRemovable: asNumber(removable['count']),
    imageBytesRemovable: asNumber(removable['bytes']),
    imageBytesFreed: asNumber(imagegc?.['freedBytesTotal']),
    containersRemovable: asNumber(asObject(status['containers'])['removable']),
    storageWarnings: asNumber(status['storageWarningCount']),
    evictionRequests: asNumber(status['evictionRequestCount']),
  };
}

const holds = (status: JsonObject, type: string): boolean =>
  objects(status['conditions']).some((one) => one['type'] === type && one['status'] === 'True');

const objects = (value: unknown): readonly JsonObject[] => asList(value).map(asObject);
const asNumber = (value: unknown): number => (typeof value === 'number' ? value : 0);
