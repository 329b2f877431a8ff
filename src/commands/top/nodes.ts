import type {
  NodeGCReportStatusUsageFileSystem,
  NodeGCReportStatusUsageNamespace,
} from '../../api/gen/nodegcreport.gen.ts';
import type { SortField } from './command.ts';
import { fastest, largest, type TopNode } from './facts.ts';
import { earlierFirst, timesOf, type SortValues } from './order.ts';

/** A node in `-o json`. Fields are those of its report; what is unknown is absent. */
export interface NodeRow {
  readonly name: string;
  readonly measuredTime: string | undefined;
  /** Whether the values are older than 15 minutes. */
  readonly stale: boolean;
  /** What its agent could not read. */
  readonly unknown: string | undefined;
  readonly forecast: string | undefined;
  readonly podCount: number | undefined;
  /** The fullest first. */
  readonly fileSystems: readonly FileSystemRow[];
  readonly largestNamespace: NodeGCReportStatusUsageNamespace | undefined;
  /** Absent if none is known to grow. */
  readonly fastestNamespace: NodeGCReportStatusUsageNamespace | undefined;
}

export interface FileSystemRow extends NodeGCReportStatusUsageFileSystem {
  /** As the kubelet counts: 100 = no byte is available. */
  readonly usedPercent: number | undefined;
  /** Whether collection removes what grows, so that the disk does not fill up. */
  readonly collectionKeepsUp: boolean | undefined;
}

export function nodeRow({ name, usage, stale }: TopNode): NodeRow {
  const { measuredTime, fileSystems = [], namespaces = [], podCount, unknown, forecast } = usage ?? {};
  return {
    name,
    measuredTime,
    stale,
    unknown,
    forecast,
    podCount,
    fileSystems: fullestFirst(fileSystems),
    largestNamespace: largest(namespaces),
    fastestNamespace: fastest(namespaces),
  };
}

export const fullestFirst = (
  fileSystems: readonly NodeGCReportStatusUsageFileSystem[],
): readonly FileSystemRow[] =>
  fileSystems.map(fileSystemRow).toSorted((a, b) => (b.usedPercent ?? -1) - (a.usedPercent ?? -1));

function fileSystemRow(disk: NodeGCReportStatusUsageFileSystem): FileSystemRow {
  const { capacityBytes, availableBytes, fullTime, fullAfterCollectionTime, collectableBytes } = disk;
  const hasForecast = fullTime !== undefined && collectableBytes !== undefined;
  return {
    ...disk,
    usedPercent:
      capacityBytes === 0
        ? undefined
        : Math.max(0, Math.round((100 * (capacityBytes - availableBytes)) / capacityBytes)),
    collectionKeepsUp: hasForecast ? fullAfterCollectionTime === undefined : undefined,
  };
}

/** Of the fullest file system. */
const fullest =
  <T>(read: (disk: FileSystemRow) => T) =>
  ({ fileSystems: [first] }: NodeRow): T | undefined =>
    first && read(first);

export const nodeSort: SortValues<SortField<'nodes'>, NodeRow> = {
  percent: fullest(({ usedPercent }) => usedPercent),
  bytes: fullest(({ usedBytes }) => usedBytes),
  growth: fullest(({ growthBytesPerHour }) => growthBytesPerHour),
  full: ({ fileSystems }) => earlierFirst(timesOf(fileSystems.map(({ fullTime }) => fullTime))[0]),
  'full-after-collection': ({ fileSystems }) =>
    earlierFirst(timesOf(fileSystems.map(({ fullAfterCollectionTime }) => fullAfterCollectionTime))[0]),
  age: ({ measuredTime }) => earlierFirst(measuredTime),
  name: ({ name }) => name,
};
