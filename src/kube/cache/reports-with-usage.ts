import {
  readStatus,
  type NodeGCReport,
  type NodeGCReportStatus,
  type NodeGCReportStatusUsage,
} from '../../api/gen/nodegcreport.gen.ts';
import { sumOfKnown } from '../../runtime/sum.ts';
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
  /** undefined = not read. */
  readonly counts?: ObjectCounts | undefined;
}

/** Objects of a node; undefined = unknown. */
export interface ObjectCounts {
  readonly images: number | undefined;
  readonly imagesInUse: number | undefined;
  readonly containers: number | undefined;
  readonly runningContainers: number | undefined;
  /** EmptyDirs that are not in memory. */
  readonly volumes: number | undefined;
  readonly checkpoints: number | undefined;
  /** Directories and logs of pods that do not exist. */
  readonly orphans: number | undefined;
  readonly leftovers: number | undefined;
}

export function reportedUsage(report: unknown): ReportedUsage {
  const { metadata, status } = asObject<NodeGCReport>(report);
  const { reportTime, usage, ...inventories } = readStatus(status);
  const counts = countsOf(inventories, usage);
  return { node: asText(asObject(metadata).name), reportTime, usage, counts };
}

const countsOf = (
  {
    images,
    containers,
    checkpoints,
    orphans,
    leftovers,
  }: Pick<NodeGCReportStatus, 'images' | 'containers' | 'checkpoints' | 'orphans' | 'leftovers'>,
  usage: NodeGCReportStatusUsage | undefined,
): ObjectCounts => ({
  images: images?.total?.count,
  imagesInUse: images?.inUse?.count,
  containers: containers?.total,
  runningContainers: containers?.running,
  volumes: usage?.volumeCount,
  checkpoints: checkpoints?.total,
  orphans: orphanCount(orphans),
  leftovers: leftovers?.count,
});

const orphanCount = ({ podDirectories, logDirectories }: NonNullable<NodeGCReportStatus['orphans']> = {}) =>
  sumOfKnown([podDirectories?.count, logDirectories?.count]);

export interface ReportWithUsage extends NodeReportFacts {
  readonly reported: ReportedUsage;
  /** What shows the problems of the node: the conditions, the results of the units, their times, the policy to edit, and the images that pods wait for. */
  readonly state: NodeGCReport;
}

/** The reports of all nodes, for a command that ends: the controller has no memory for the usage. */
export function reportsWithUsage(): Resource<ReportWithUsage> {
  const { codec } = nodeReportsResource();
  return inJson({ name: 'nodegcreports', path: reportsPath }, (json) => {
    const { metadata, status } = asObject<NodeGCReport>(json);
    const { name, creationTimestamp } = asObject(metadata);
    const { reportTime, conditions, units, policy, usage, images } = readStatus(status);
    return {
      ...codec.fromJson(json),
      reported: { node: asText(name), reportTime, usage: usage && shownOf(usage) },
      state: {
        metadata: { name: asText(name), creationTimestamp: timeOrUnknown(creationTimestamp) },
        status: { reportTime, conditions, units, policy, images: { pulls: images?.pulls } },
      },
    };
  });
}

/** What a page needs. Usage without a time is unknown. */
function shownOf({ measuredTime, ...usage }: NodeGCReportStatusUsage): NodeGCReportStatusUsage | undefined {
  if (measuredTime === undefined) return undefined;
  const { unknown, fileSystems, namespaces, otherNamespaces, workloads, otherWorkloads, watchedSeconds } =
    usage;
  return {
    measuredTime,
    unknown,
    fileSystems: fileSystems?.filter(({ capacityBytes }) => capacityBytes > 0),
    namespaces,
    otherNamespaces,
    workloads,
    otherWorkloads,
    watchedSeconds,
  };
}

const timeOrUnknown = (value: unknown): string | undefined =>
  parseRfc3339(asText(value)) === undefined ? undefined : asText(value);
