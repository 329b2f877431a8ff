import type { V1ObjectMeta } from '@kubernetes/client-node';
import type {
  NodeGCReport,
  NodeGCReportStatus,
  NodeGCReportStatusUsage,
} from '../../api/gen/nodegcreport.gen.ts';
import { isObject } from '../../api/json.ts';
import { asObject, asText, type Unchecked } from '../codec/json.ts';

/** What uses the disks of a node, as its agent reported it last. */
export interface ReportedUsage {
  readonly node: string;
  /** RFC 3339. */
  readonly reportTime: string | undefined;
  /** undefined = the agent is older, or has not measured yet. */
  readonly usage: NodeGCReportStatusUsage | undefined;
}

/** Reads a NodeGCReport. Its usage is as the schema in crds/ has it: the API server has validated it against that schema. */
export function reportedUsage(report: unknown): ReportedUsage {
  const { metadata, status: stored }: Unchecked<NodeGCReport> = asObject(report);
  const { name }: Unchecked<V1ObjectMeta> = asObject(metadata);
  const { reportTime, usage }: Unchecked<NodeGCReportStatus> = asObject(stored);
  return {
    node: asText(name),
    reportTime: asText(reportTime) || undefined,
    usage: isUsage(usage) ? usage : undefined,
  };
}

const isUsage = (value: unknown): value is NodeGCReportStatusUsage => isObject(value);
