import type { NodeGCReportStatusUsageFileSystem } from '../../api/gen/nodegcreport.gen.ts';
import type { SortField } from './command.ts';
import { fastest, largest, type TopNode } from './facts.ts';
import { earlierFirst, timesOf, type SortValues } from './order.ts';

/** A node in `-o json`. Fields are those of its report; what is unknown is absent. */
export type NodeRow = ReturnType<typeof nodeRow>;
export type FileSystemRow = ReturnType<typeof fileSystemRow>;

export function nodeRow({ name, usage, stale }: TopNode) {
  const { measuredTime, fileSystems = [], namespaces = [], podCount, unknown, forecast } = usage ?? {};
  return {
    name,
    measuredTime,
    /** Whether the values are older than 15 minutes. */
    stale,
    /** What its agent could not read. */
    unknown,
    forecast,
    podCount,
    /** The fullest first. */
    fileSystems: fullestFirst(fileSystems),
    largestNamespace: largest(namespaces),
    /** Absent if none is known to grow. */
    fastestNamespace: fastest(namespaces),
  };
}

export const fullestFirst = (fileSystems: readonly NodeGCReportStatusUsageFileSystem[]) =>
  fileSystems.map(fileSystemRow).toSorted((a, b) => (b.usedPercent ?? -1) - (a.usedPercent ?? -1));

function fileSystemRow(disk: NodeGCReportStatusUsageFileSystem) {
  const { capacityBytes, availableBytes, fullTime, fullAfterCollectionTime, collectableBytes } = disk;
  const hasForecast = fullTime !== undefined && collectableBytes !== undefined;
  return {
    ...disk,
    /** As the kubelet counts: 100 = no byte is available. */
    usedPercent:
      capacityBytes === 0
        ? undefined
        : Math.max(0, Math.round((100 * (capacityBytes - availableBytes)) / capacityBytes)),
    /** Whether collection removes what grows, so that the disk does not fill up. */
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
