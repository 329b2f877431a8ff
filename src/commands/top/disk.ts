import type {
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageFileSystem,
  NodeGCReportStatusUsageFileSystemCollectable,
} from '../../api/gen/nodegcreport.gen.ts';
import type { ObjectCounts, ReportedUsage } from '../../kube/cache/reports-with-usage.ts';
import { sum, sumIfKnown, sumOfKnown } from '../../runtime/sum.ts';

interface MeasuredNode extends Pick<ReportedUsage, 'usage' | 'counts'> {
  readonly stale: boolean;
}

type SizeField = keyof NodeGCReportStatusUsageFileSystem & `${string}Bytes`;
type CollectableField = keyof NodeGCReportStatusUsageFileSystemCollectable;

interface Kind {
  /** Each is unknown if one of them is. */
  readonly sizes: readonly SizeField[];
  readonly collectable?: CollectableField;
  /** Each disk has some of it; of another kind only one disk of the node may have. */
  readonly isOnEach?: boolean;
  readonly total?: (counts: ObjectCounts) => number | undefined;
  readonly active?: (counts: ObjectCounts) => number | undefined;
  /** Whether the agent has not measured all of it. */
  readonly isPartial?: (usage: NodeGCReportStatusUsage) => boolean | undefined;
}

/** In the order of the rows. */
const kinds = {
  images: {
    sizes: ['imagesInUseBytes', 'imagesUnusedBytes'],
    collectable: 'imagesUnusedBytes',
    total: ({ images }) => images,
    active: ({ imagesInUse }) => imagesInUse,
  },
  'packed copies': { sizes: ['packedBytes'], collectable: 'packedBytes' },
  'writable layers': {
    sizes: ['layersBytes'],
    total: ({ containers }) => containers,
    active: ({ runningContainers }) => runningContainers,
  },
  volumes: {
    sizes: ['volumesBytes'],
    total: ({ volumes }) => volumes,
    isPartial: ({ volumesLowerBound }) => volumesLowerBound,
  },
  logs: { sizes: ['logsBytes'], collectable: 'logsBytes' },
  checkpoints: {
    sizes: ['checkpointsBytes'],
    collectable: 'checkpointsBytes',
    total: ({ checkpoints }) => checkpoints,
  },
  orphans: { sizes: ['orphansBytes'], collectable: 'orphansBytes', total: ({ orphans }) => orphans },
  leftovers: {
    sizes: ['leftoversBytes'],
    collectable: 'leftoversBytes',
    total: ({ leftovers }) => leftovers,
  },
  'other namespaces': { sizes: ['namespacesBytes'] },
  other: { sizes: ['otherBytes'], isOnEach: true },
} satisfies Readonly<Record<string, Kind>>;
type DiskKind = keyof typeof kinds;
export const diskKinds: Readonly<Record<DiskKind, Kind>> = kinds;

export type DiskRow = ReturnType<typeof rowOf>;
export interface DiskSummary {
  /** Nodes whose usage is counted. */
  readonly nodes: number;
  /** Nodes whose usage is unknown or stale. */
  readonly otherNodes: number;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  /** Of the disks of which it is known; undefined = of none. */
  readonly reclaimableBytes: number | undefined;
  /** Whether this sum lacks disks of which it is unknown. */
  readonly reclaimableLowerBound: boolean;
  readonly kinds: readonly DiskRow[];
}

interface NextStep {
  readonly kind: DiskKind;
  readonly command: string;
  /** Of these nodes, which a plan reads only if they are named. */
  readonly planCommand: string;
}

/** Adds up the disks of these nodes, without those whose usage is unknown or stale. */
export function diskSummary(nodes: readonly MeasuredNode[]): DiskSummary {
  const included = nodes.filter(({ usage, stale }) => usage?.fileSystems !== undefined && !stale);
  const disks = included.flatMap(({ usage }) => usage?.fileSystems ?? []);
  const sumOf = (field: 'usedBytes' | 'capacityBytes'): number => sum(disks.map((disk) => disk[field]));
  const collectable = disks.map(({ collectableBytes }) => collectableBytes);
  return {
    nodes: included.length,
    otherNodes: nodes.length - included.length,
    capacityBytes: sumOf('capacityBytes'),
    usedBytes: sumOf('usedBytes'),
    reclaimableBytes: sumOfKnown(collectable),
    reclaimableLowerBound: collectable.includes(undefined),
    kinds: included.length === 0 ? [] : kindNames.map((name) => rowOf(name, included)),
  };
}

const kindNames = Object.keys(kinds) as DiskKind[];

function rowOf(name: DiskKind, nodes: readonly MeasuredNode[]) {
  const { sizes, collectable, isOnEach = false, total, active, isPartial } = diskKinds[name];
  const sizesOf = (read: (disk: NodeGCReportStatusUsageFileSystem) => number | undefined) =>
    nodes.flatMap(({ usage }) => sizesOn((usage?.fileSystems ?? []).map(read), isOnEach));
  const bytes = sizesOf((disk) => sumIfKnown(sizes.map((field) => disk[field])));
  const reclaimable = collectable && sizesOf((disk) => disk.collectable?.[collectable]);
  const countOf = (read: Kind['total']) =>
    read &&
    nodes.map(({ counts, usage }) => {
      const count = counts && read(counts);
      // A pass that has found nothing yet counts 0, and nothing is measured.
      const isMeasured = usage?.fileSystems?.some((disk) => sizes.some((size) => disk[size] !== undefined));
      return count === 0 && isMeasured !== true ? undefined : count;
    });
  const [totals, actives] = [countOf(total), countOf(active)];
  const hasPartial = nodes.some(({ usage }) => usage !== undefined && isPartial?.(usage) === true);
  return {
    name,
    total: sumOfKnown(totals ?? []),
    active: sumOfKnown(actives ?? []),
    bytes: sumOfKnown(bytes),
    reclaimableBytes: sumOfKnown(reclaimable ?? []),
    /** Whether these sums lack nodes or disks of which they are unknown. */
    totalLowerBound: hasPartial || hasUnknown(totals),
    activeLowerBound: hasUnknown(actives),
    lowerBound: hasPartial || hasUnknown(bytes),
    reclaimableLowerBound: hasUnknown(reclaimable),
  };
}

const hasUnknown = (numbers: readonly (number | undefined)[] = []): boolean => numbers.includes(undefined);

/** Of the disks of a node. What only one of them may have is unknown if it is known of none. */
function sizesOn(all: readonly (number | undefined)[], isOnEach: boolean): readonly (number | undefined)[] {
  const known = all.filter((one) => one !== undefined);
  if (known.length === 0) return [undefined];
  return isOnEach ? all : known;
}

/** The command that shows the objects of a kind. */
const listings: Readonly<Partial<Record<DiskKind, string>>> = {
  images: 'images --sort-by=gain',
  'packed copies': 'images --sort-by=gain',
  'writable layers': 'pods -A --sort-by=layers',
  volumes: 'pods -A --sort-by=volumes',
  logs: 'pods -A --sort-by=logs',
};

/** Names the next command: that of the kind of which most can be reclaimed, or if nothing can, of the largest one. */
export function nextStep(
  { kinds: rows }: DiskSummary,
  nodes: readonly string[] | undefined,
): NextStep | undefined {
  const listed = rows.filter(({ name }) => listings[name] !== undefined);
  const largest = (read: (row: DiskRow) => number | undefined): DiskRow | undefined =>
    listed.filter((row) => (read(row) ?? 0) > 0).toSorted((a, b) => (read(b) ?? 0) - (read(a) ?? 0))[0];
  const kind = largest(({ reclaimableBytes }) => reclaimableBytes) ?? largest(({ bytes }) => bytes);
  if (kind === undefined) return undefined;
  const ofNodes = nodes === undefined ? '' : ` --node=${nodes.join()}`;
  return {
    kind: kind.name,
    command: `dustpan top ${listings[kind.name] ?? ''}${ofNodes}`,
    planCommand: `dustpan plan${ofNodes}`,
  };
}
