import type {
  NodeGCReport,
  NodeGCReportStatusCondition,
  NodeGCReportStatusUnit,
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageFileSystem,
  NodeGCReportStatusUsageNamespace,
} from '../../api/gen/nodegcreport.gen.ts';
import { isObject } from '../../api/json.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { asObject, asText } from '../codec/json.ts';
import { nodeReportsResource, type NodeReportFacts } from './node-report-facts.ts';
import { inJson, reportsPath, type Resource } from './resources.ts';

export interface ReportedUsage {
  readonly node: string;
  /** RFC 3339. */
  readonly reportTime: string | undefined;
  /** undefined = the agent is older, or has not measured yet. */
  readonly usage: NodeGCReportStatusUsage | undefined;
}

/** Reads a NodeGCReport. Its usage is as the schema in crds/ has it: the API server has validated it against that schema. */
export function reportedUsage(report: unknown): ReportedUsage {
  const { metadata, status: stored } = asObject<NodeGCReport>(report);
  const { name } = asObject(metadata);
  const { reportTime, usage } = asObject(stored);
  return {
    node: asText(name),
    reportTime: asText(reportTime) || undefined,
    usage: isUsage(usage) ? usage : undefined,
  };
}

const isUsage = (value: unknown): value is NodeGCReportStatusUsage => isObject(value);

export interface ReportWithUsage extends NodeReportFacts {
  readonly reported: ReportedUsage;
  /** What shows the problems of the node: the conditions, the results of the units, and their times. */
  readonly state: NodeGCReport;
}

/** The reports of all nodes, for a command that ends: the controller has no memory for the usage. */
export function reportsWithUsage(): Resource<ReportWithUsage> {
  const { codec } = nodeReportsResource();
  return inJson({ name: 'nodegcreports', path: reportsPath }, (json) => {
    const { usage, ...reported } = reportedUsage(json);
    return {
      ...codec.fromJson(json),
      reported: { ...reported, usage: usage && possible(usage) },
      state: stateIn(json),
    };
  });
}

/** Keeps what a page needs. No server has validated a file of a snapshot: usage without a time, or a list with an impossible value, is unknown. */
function possible(usage: NodeGCReportStatusUsage): NodeGCReportStatusUsage | undefined {
  const { measuredTime, unknown, fileSystems, namespaces, otherNamespaces } = usage;
  if (!isTime(measuredTime)) return undefined;
  return {
    measuredTime,
    unknown: asText(unknown) || undefined,
    fileSystems: isListOf(fileSystems, isFileSystem) ? fileSystems : undefined,
    namespaces: isListOf(namespaces, isNamespace) ? namespaces : undefined,
    otherNamespaces,
  };
}

/** A list with an impossible entry is unknown. */
function stateIn(json: unknown): NodeGCReport {
  const { metadata, status: stored } = asObject<NodeGCReport>(json);
  const { name, creationTimestamp } = asObject(metadata);
  const { reportTime, conditions, units } = asObject(stored);
  return {
    metadata: { name: asText(name), creationTimestamp: timeOrUnknown(creationTimestamp) },
    status: {
      reportTime: timeOrUnknown(reportTime),
      conditions: isListOf(conditions, isCondition) ? conditions : undefined,
      units: isListOf(units, isUnit) ? units : undefined,
    },
  };
}

const timeOrUnknown = (value: unknown): string | undefined => (isTime(value) ? value : undefined);

const isCondition = (value: unknown): value is NodeGCReportStatusCondition =>
  isObject(value) &&
  ['type', 'status', 'reason', 'message'].every((field) => typeof value[field] === 'string') &&
  isTime(value['lastTransitionTime']);

const isUnit = (value: unknown): value is NodeGCReportStatusUnit =>
  isObject(value) && typeof value['result'] === 'string' && isTime(value['lastPassTime']);

const isTime = (value: unknown): value is string => parseRfc3339(asText(value)) !== undefined;

const isListOf = <T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] =>
  Array.isArray(value) && value.every(isItem);

const isFileSystem = (value: unknown): value is NodeGCReportStatusUsageFileSystem =>
  isObject(value) &&
  (value['name'] === 'nodefs' || value['name'] === 'imagefs') &&
  areSizes(value, ['availableBytes', 'capacityBytes', 'usedBytes']) &&
  value['capacityBytes'] !== 0;

const isNamespace = (value: unknown): value is NodeGCReportStatusUsageNamespace =>
  isObject(value) && asText(value['name']) !== '' && areSizes(value, ['bytes']);

/** Whether all sizes and times are possible, and these sizes are there. A field of a newer agent may be anything. */
const areSizes = (value: Readonly<Record<string, unknown>>, required: readonly string[]): boolean =>
  required.every((field) => field in value) &&
  Object.entries(value).every(([field, one]) => {
    if (field.endsWith('Time')) return isTime(one);
    return !/bytes/i.test(field) || (Number.isSafeInteger(one) && Number(one) >= 0);
  });
