import { firstValues } from '../../api/report/fresh.ts';
import { counted, firstOf } from '../../gc/reasons/words.ts';
import { sum } from '../../runtime/sum.ts';
import { compactQuantityText } from '../../runtime/text/size-text.ts';
import type { Screen } from '../cli/live.ts';
import {
  ageText,
  columns,
  shortened,
  longSpanText,
  paragraph,
  red,
  shortId,
  slotsText,
  type Column,
} from '../../process/table.ts';
import { diskKinds, type DiskRow } from './disk.ts';
import { diskTitle, nextLines } from './disk-title.ts';
import { workloadText, type WorkloadRow } from './workloads.ts';
import type { FileSystemRow, ImageRow, NamespaceRow, NodeRow, PodRow, VolumeRow } from './rows.ts';
import { isAhead, type TopDisk, type TopView } from './view.ts';

interface TopScreen extends Screen {
  readonly colours: boolean;
  readonly isWide: boolean;
  /** All namespaces are selected: -A would list no more. */
  readonly isAll?: boolean;
  /** The rows are in the order of eviction. */
  readonly isByPlace?: boolean;
}

const maxNotes = 5;

/** The rows for people, between what is unknown and when disks are full. */
export function topTable(view: TopView, screen: TopScreen): readonly string[] {
  const { width = 80, colours } = screen;
  // In other tables nothing shows the places.
  const shown = view.notes.filter(({ reason }) => reason !== 'NoPlaces' || screen.isWide || screen.isByPlace);
  const more = shown.length - maxNotes;
  const notes = [
    ...shown.slice(0, maxNotes).map(noteText),
    ...(more > 0 ? [`And ${more} more; -o json has all.`] : []),
  ].flatMap((note) => paragraph(`! ${note}`, width));
  const linesWith = (table: readonly string[]): readonly string[] =>
    [
      colours ? notes.map(red) : notes,
      view.forecasts.flatMap((forecast) => paragraph(forecastText(forecast, screen), width)),
      view.kind === 'TopDisk' ? diskTitle(view, width) : [],
      [...table, ...restLines(view)],
      view.kind === 'TopDisk' ? nextLines(view, width) : [],
    ]
      .filter((lines) => lines.length > 0)
      .flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
  const around = linesWith(['a title']).length - 1;
  return linesWith(fitting(tableOf(view, screen), screen.height, around));
}

export const noteText = ({ nodes, message }: TopView['notes'][number]): string =>
  nodes.length === 0 ? message : `${firstOf(nodes, 3)}: ${message}`;

interface Table {
  /** The titles, then the rows. */
  readonly lines: readonly string[];
  /** Of each row; undefined = unknown. */
  readonly bytes: readonly (number | undefined)[];
}

/** Fewer rows say nothing: a small terminal scrolls. */
const fewestRows = 3;

/** As many rows as a terminal of this height has lines for, and the sum of the others. */
function fitting({ lines, bytes }: Table, height: number | undefined, around: number): readonly string[] {
  // The prompt needs a line, too.
  const room = height === undefined ? Infinity : height - around - 1;
  const shown = Math.max(fewestRows, room - 2);
  if (lines.length <= room || bytes.length <= shown) return lines;
  const hidden = bytes.slice(shown);
  const size = compactQuantityText(sum(hidden.map((one = 0) => one)));
  return [...lines.slice(0, shown + 1), `${hidden.length} more, ${size}; -o wide shows all`];
}

function forecastText(
  { node, forecast, growthBytesPerHour, ...measured }: TopView['forecasts'][number],
  { now }: Screen,
): string {
  const age = agedText(measured, now);
  if (forecast !== undefined) return `${node} (${age}): ${forecast}`;
  return measured.measuredTime === undefined
    ? `${node}: when its disks are full is unknown.`
    : `${node} (${age}): ${growthBytesPerHour === undefined ? 'nothing grows, or the growth is not known yet' : 'no disk is full within a week'}.`;
}

export function tableOf(view: TopView, screen: TopScreen): Table {
  if (view.items.length === 0) return { lines: [emptyLine(view.kind, screen)], bytes: [] };
  const bytesOf = ({ bytes }: { readonly bytes?: number | undefined }): number | undefined => bytes;
  switch (view.kind) {
    case 'TopDisk':
      return made(
        diskLayout,
        screen.isWide ? allDiskLines(view) : view.items.map((row) => ({ row })),
        screen,
        ({ row }) => row.bytes,
      );
    case 'TopNodes':
      return made(
        nodeLayout(screen, view.items),
        view.items.flatMap(disksOf),
        screen,
        ({ disk }) => disk?.usedBytes,
      );
    case 'TopNamespaces':
      return made(namespaceLayout(screen, view.items), view.items, screen, bytesOf);
    case 'TopWorkloads':
      return made(workloadLayout(screen), view.items, screen, bytesOf);
    case 'TopPods':
      return made(podLayout(screen), view.items, screen, bytesOf);
    case 'TopVolumes':
      return made(volumeLayout(screen), view.items, screen, ({ usedBytes }) => usedBytes);
    case 'TopImages':
      return made(imageLayout(screen), view.items, screen, bytesOf);
  }
}

const emptyText: Readonly<Record<TopView['kind'], string>> = {
  TopDisk: 'No rows.',
  TopNodes: 'No rows.',
  TopNamespaces: 'No rows.',
  TopWorkloads: 'No pod of these workloads has used 64Mi, or half of a limit.',
  TopPods: 'No pods are listed.',
  TopVolumes: 'No volumes are listed.',
  TopImages: `No agent of these nodes has reported images. ${firstValues}`,
};

const otherNamespaces: Readonly<Partial<Record<TopView['kind'], string>>> = {
  TopWorkloads: ' -A lists the workloads of all namespaces.',
  TopPods: ' -A lists those of all namespaces.',
  TopVolumes: ' -A lists those of all namespaces.',
};

const emptyLine = (kind: TopView['kind'], { isAll = false }: TopScreen): string =>
  `${emptyText[kind]}${isAll ? '' : (otherNamespaces[kind] ?? '')}`;

function made<T>(
  layout: readonly TopColumn<T>[],
  rows: readonly T[],
  { isWide, width = Infinity }: TopScreen,
  bytesOf: (row: T) => number | undefined,
): Table {
  const shown = layout.filter(({ isOnlyWide }) => isWide || isOnlyWide !== true);
  const lines = columns(shown, rows, isWide ? Infinity : width).map((line) => line.trimEnd());
  return { lines, bytes: rows.map(bytesOf) };
}

function restLines(view: TopView): readonly string[] {
  if (view.kind === 'TopDisk' || view.kind === 'TopNodes' || view.rest.count === 0) return [];
  if (view.kind === 'TopWorkloads') {
    const and = view.items.length === 0 ? '' : 'and ';
    const others = `${and}${counted(view.rest.count, 'workload')} of all namespaces, counted on each node`;
    return [`${others}: no pod has used more than ${compactQuantityText(view.rest.highestBytes)}`];
  }
  if (view.kind === 'TopVolumes') return [otherVolumesText(view)];
  const { count, bytes } = view.rest;
  if (count === undefined)
    return ['and perhaps more: on some of these nodes the namespace is not among the largest'];
  if (bytes === undefined)
    return [`and ${count} more of the selected pods, which are not among the largest of these nodes`];
  const what = { TopNamespaces: 'namespace', TopPods: 'pod', TopImages: 'image' }[view.kind];
  const how = view.kind === 'TopPods' ? '' : ', counted on each node';
  return [`and ${counted(count, `smaller ${what}`)}${how}: ${compactQuantityText(bytes)}`];
}

function otherVolumesText({ items, rest }: TopView & { readonly kind: 'TopVolumes' }): string {
  const { count, highestPercent, unknownCount, fillingCount } = rest;
  const and = items.length === 0 ? '' : 'and ';
  const none = unknownCount === 0 ? 'none' : 'none of the others';
  const parts = [
    unknownCount === 0 ? '' : `the percentage of ${unknownCount} is unknown`,
    highestPercent === undefined
      ? ''
      : `${none} is fuller than ${highestPercent}% of its limit, or of the disk without one`,
    fillingCount === 0 ? '' : `${fillingCount} will be full within a week`,
  ].filter((part) => part !== '');
  return `${and}${counted(count, 'volume')} of all namespaces, counted on each node: ${parts.join('; ')}`;
}

const unknown = '-';

const sizeOf = (bytes: number | undefined): string =>
  bytes === undefined ? unknown : compactQuantityText(bytes);
const rateOf = (bytes: number | undefined): string =>
  bytes === undefined ? unknown : `${compactQuantityText(bytes)}/h`;
const percentText = (percent: number | undefined): string =>
  percent === undefined ? unknown : `${percent}%`;

const number = <T>(title: string, text: (row: T) => string): Column<T> => ({ title, text, right: true });

interface TopColumn<T> extends Column<T> {
  readonly isOnlyWide?: boolean;
}

const onlyWide = <T>(column: Column<T>): TopColumn<T> => ({ ...column, isOnlyWide: true });

interface DiskLine {
  readonly row: DiskRow;
  /** undefined = of all nodes. */
  readonly node?: string;
}

function allDiskLines({ items, byNode }: TopDisk): readonly DiskLine[] {
  const ofNodes = byNode.flatMap(({ node, items: own }) => own.map((row) => ({ row, node })));
  return byNode.length === 1 ? ofNodes : [...items.map((row) => ({ row })), ...ofNodes];
}

const diskLayout: readonly TopColumn<DiskLine>[] = [
  onlyWide({ title: 'NODE', text: ({ node }) => node ?? 'all' }),
  { title: 'KIND', text: ({ row }) => row.name },
  number('TOTAL', ({ row }) =>
    boundText(row.totalLowerBound, knownText(diskKinds[row.name].total, row.total, String)),
  ),
  number('ACTIVE', ({ row }) =>
    boundText(row.activeLowerBound, knownText(diskKinds[row.name].active, row.active, String)),
  ),
  number('SIZE', ({ row }) => boundText(row.lowerBound, knownText(row, row.bytes, compactQuantityText))),
  number('RECLAIMABLE', ({ row: { name, bytes, lowerBound, reclaimableBytes, reclaimableLowerBound } }) => {
    const whole = lowerBound || reclaimableLowerBound ? undefined : bytes; // lower bounds have no share of each other
    const text = knownText(diskKinds[name].collectable, reclaimableBytes, (known) => shareText(known, whole));
    return boundText(reclaimableLowerBound, text);
  }),
];

export const boundText = (isLower: boolean, text: string): string =>
  isLower && text !== 'unknown' && text !== unknown ? `≥${text}` : text;

/** `-` if a kind has no such value. */
function knownText(has: unknown, value: number | undefined, text: (value: number) => string): string {
  if (has === undefined) return '-';
  return value === undefined ? 'unknown' : text(value);
}

const shareText = (bytes: number, of = 0): string =>
  of === 0
    ? compactQuantityText(bytes)
    : `${compactQuantityText(bytes)} (${Math.round((100 * bytes) / of)}%)`;

interface NodeLine {
  readonly node: NodeRow;
  /** undefined = its disks are unknown. */
  readonly disk: FileSystemRow | undefined;
}

const disksOf = (node: NodeRow): readonly NodeLine[] =>
  node.fileSystems.length === 0
    ? [{ node, disk: undefined }]
    : node.fileSystems.map((disk) => ({ node, disk }));

function nodeLayout(screen: TopScreen, items: readonly NodeRow[]): readonly TopColumn<NodeLine>[] {
  const { now } = screen;
  const hasTwo = items.some(({ fileSystems }) => fileSystems.length > 1);
  const bytes = (title: string, read: (disk: FileSystemRow) => number | undefined): Column<NodeLine> =>
    number(title, ({ disk }) => sizeOf(disk && read(disk)));
  return [
    { title: 'NODE', text: ({ node }) => node.name, max: 63 },
    { title: 'DISK', text: ({ disk }) => (hasTwo ? (disk?.name ?? unknown) : '') },
    barColumn(screen, ({ disk }) => disk?.usedPercent),
    number('USED', ({ disk }) => percentText(disk?.usedPercent)),
    onlyWide(bytes('BYTES', ({ usedBytes }) => usedBytes)),
    onlyWide(
      bytes('RESERVED', ({ capacityBytes, availableBytes, usedBytes }) =>
        Math.max(0, capacityBytes - availableBytes - usedBytes),
      ),
    ),
    bytes('OF', ({ capacityBytes }) => capacityBytes),
    onlyWide(bytes('IMAGES', ({ imagesInUseBytes }) => imagesInUseBytes)),
    bytes('UNUSED', ({ imagesUnusedBytes }) => imagesUnusedBytes),
    onlyWide(bytes('LAYERS', ({ layersBytes }) => layersBytes)),
    onlyWide(
      number('VOLUMES', ({ node, disk }) =>
        boundText(node.volumesLowerBound === true, sizeOf(disk?.volumesBytes)),
      ),
    ),
    onlyWide(bytes('LOGS', ({ logsBytes }) => logsBytes)),
    onlyWide(bytes('ORPHANS', ({ orphansBytes }) => orphansBytes)),
    onlyWide(bytes('OTHER', ({ otherBytes }) => otherBytes)),
    onlyWide(bytes('COLLECTABLE', ({ collectableBytes }) => collectableBytes)),
    { title: 'LARGEST NS', text: (line) => namespaceText(line, screen) },
    onlyWide(number('BYTES', (line) => sizeOf(largestOn(line)?.bytes))),
    onlyWide({ title: 'FASTEST NS', text: ({ node }) => node.fastestNamespace?.name ?? unknown }),
    onlyWide(number('PODS', ({ node: { podSlotsTaken, podSlots } }) => slotsText(podSlotsTaken, podSlots))),
    number('GROWTH', ({ disk }) => rateOf(disk?.growthBytesPerHour)),
    number('FULL IN', ({ node, disk }) => untilText(disk?.fullTime, node, now)),
    number('AFTER GC', ({ node, disk }) =>
      disk?.collectionKeepsUp === true && !node.stale
        ? 'never'
        : untilText(disk?.fullAfterCollectionTime, node, now),
    ),
    onlyWide(number('ERROR', ({ disk }) => percentText(disk?.forecastErrorPercent))),
    number('AGE', ({ node }) => agedText(node, now)),
  ];
}

/** With two disks, the largest namespace of the node may use only one of them. */
function largestOn({ node: { largestNamespace: largest }, disk }: NodeLine): NodeRow['largestNamespace'] {
  const classes = ['layersBytes', 'volumesBytes', 'logsBytes'] as const;
  const isOn = classes.some((size) => (disk?.[size] ?? 0) > 0 && (largest?.[size] ?? 0) > 0);
  return isOn ? largest : undefined;
}

/** Short, so that the names of nodes have room; nothing in a narrow terminal. */
function namespaceText(line: NodeLine, { width, isWide }: TopScreen): string {
  const name = largestOn(line)?.name ?? unknown;
  if (isWide || width === undefined) return name;
  return width < wideEnough ? '' : shortened(name, 16);
}

function namespaceLayout(
  screen: TopScreen,
  items: readonly NamespaceRow[],
): readonly TopColumn<NamespaceRow>[] {
  const most = Math.max(1, ...items.map(({ bytes }) => bytes));
  const atLeast = ({ lowerBound }: NamespaceRow, text: string): string => boundText(lowerBound, text);
  return [
    { title: 'NAMESPACE', text: ({ name }) => name, max: 63 },
    barColumn(screen, ({ bytes }) => (100 * bytes) / most),
    number('BYTES', (row) => atLeast(row, sizeOf(row.bytes))),
    number('LAYERS', ({ layersBytes }) => sizeOf(layersBytes)),
    number('VOLUMES', ({ volumesBytes }) => sizeOf(volumesBytes)),
    number('LOGS', ({ logsBytes }) => sizeOf(logsBytes)),
    number('GROWTH', ({ growthBytesPerHour }) => rateOf(growthBytesPerHour)),
    number('PODS', (row) => atLeast(row, String(row.pods))),
    number('NODES', (row) => atLeast(row, String(row.nodes))),
    onlyWide(
      number('BYTES/POD', ({ bytes, pods }) => sizeOf(pods === 0 ? undefined : Math.round(bytes / pods))),
    ),
    number('AGE', (row) => agedText(row, screen.now)),
  ];
}

export const workloadLayout = (screen: TopScreen): readonly TopColumn<WorkloadRow>[] => {
  const atLeast = ({ lowerBound }: WorkloadRow, text: string): string => boundText(lowerBound, text);
  const unlessNarrow = (text: string): string =>
    screen.isWide || (screen.width ?? wideEnough) >= wideEnough ? text : '';
  return [
    { title: 'NAMESPACE', text: ({ namespace }) => namespace, max: 63 },
    { title: 'WORKLOAD', text: workloadText, max: 253 },
    number('NOW', (row) => atLeast(row, sizeOf(row.bytes))),
    number('HIGHEST', (row) => boundText(row.highestLowerBound, sizeOf(row.highestBytes))),
    number('REQUEST', ({ requestBytes }) => sizeOf(requestBytes)),
    number('LIMIT', ({ limitBytes }) => sizeOf(limitBytes)),
    barColumn(screen, ({ highestPercent }) => highestPercent),
    onlyWide(number('USED', ({ highestPercent }) => percentText(highestPercent))),
    number('GROWTH', ({ growthBytesPerHour }) => rateOf(growthBytesPerHour)),
    number('PODS', (row) => atLeast(row, String(row.pods ?? unknown))),
    number('NODES', (row) => unlessNarrow(atLeast(row, String(row.nodes)))),
    number('WATCHED', ({ watchedSeconds }) => unlessNarrow(longSpanText(watchedSeconds * 1000))),
    onlyWide({ title: 'HIGHEST POD', text: ({ highestPod }) => highestPod ?? unknown }),
    number('AGE', (row) => agedText(row, screen.now)),
  ];
};

/** The place in which the kubelet would evict the pod from its full node, and why. */
function evictionText({ evictionPlace, requestBytes, rankedBytes, priority }: PodRow): string {
  if (evictionPlace === undefined) return unknown;
  const use = useText(requestBytes, rankedBytes);
  return [`${evictionPlace}. ${use}`, ...(priority === undefined ? [] : [`priority ${priority}`])].join(', ');
}

function useText(requestBytes: number | undefined, rankedBytes: number | undefined): string {
  if (requestBytes === undefined) return 'no request';
  if (rankedBytes === undefined) return 'request';
  return rankedBytes > requestBytes ? 'over request' : 'in request';
}

const podLayout = (screen: TopScreen): readonly TopColumn<PodRow>[] => [
  { title: 'NAMESPACE', text: ({ namespace }) => namespace, max: 63 },
  { title: 'POD', text: ({ name }) => name, max: 253 },
  number('BYTES', ({ bytes, lowerBound }) => boundText(lowerBound === true, sizeOf(bytes))),
  number('LAYERS', ({ layersBytes }) => sizeOf(layersBytes)),
  number('VOLUMES', ({ volumesBytes }) => sizeOf(volumesBytes)),
  number('LOGS', ({ logsBytes }) => sizeOf(logsBytes)),
  barColumn(screen, ({ usedPercent }) => usedPercent),
  number('LIMIT', ({ usedPercent }) => percentText(usedPercent)),
  onlyWide(number('OF', ({ limitBytes }) => sizeOf(limitBytes))),
  onlyWide(number('REQUEST', ({ requestBytes }) => sizeOf(requestBytes))),
  onlyWide({ title: 'EVICTION', text: evictionText }),
  onlyWide({ title: 'NODE', text: ({ node }) => node }),
  onlyWide({ title: 'UID', text: ({ uid }) => uid }),
  number('AGE', (row) => agedText(row, screen.now)),
];

function volumeLayout(screen: TopScreen): readonly TopColumn<VolumeRow>[] {
  const { now, width = Infinity, isWide } = screen;
  const unlessNarrow = (text: string): string => (isWide || width >= wideEnough ? text : '');
  const atLeast = ({ lowerBound }: VolumeRow, count: number): string => boundText(lowerBound, String(count));
  return [
    { title: 'NAMESPACE', text: ({ namespace }) => namespace, max: 63 },
    // A short one leaves space for the volume.
    { title: 'POD', text: ({ pod }) => shortened(pod, isWide ? Infinity : Math.round(width / 5)) },
    { title: 'VOLUME', text: ({ name }) => name, max: 253 },
    { title: 'KIND', text: ({ kind }) => unlessNarrow(kind) },
    number('BYTES', ({ usedBytes }) => sizeOf(usedBytes)),
    number('OF', ({ limitBytes }) => sizeOf(limitBytes)),
    barColumn(screen, ({ usedPercent }) => usedPercent),
    number('USED', ({ usedPercent }) => percentText(usedPercent)),
    number('INODES', ({ inodesPercent }) => percentText(inodesPercent)),
    number('GROWTH', ({ growthBytesPerHour }) => unlessNarrow(rateOf(growthBytesPerHour))),
    number('FULL IN', (row) => untilText(row.fullTime, row, now)),
    number('PODS', (row) => unlessNarrow(atLeast(row, row.pods))),
    onlyWide(number('NODES', (row) => atLeast(row, row.nodes.length))),
    onlyWide({ title: 'ON', text: ({ nodes }) => firstOf(nodes, 3) }),
    number('AGE', (row) => agedText(row, now)),
  ];
}

const copiesText = (
  { nodes, lowerBound }: ImageRow,
  counts: (on: ImageRow['nodes'][number]) => boolean,
): string => boundText(lowerBound, String(nodes.filter(counts).length));

const namesOn = ({ nodes }: ImageRow): readonly string[] => nodes.map(({ node }) => node);

const imageLayout = (screen: TopScreen): readonly TopColumn<ImageRow>[] => [
  { title: 'IMAGE', text: ({ name, id }) => name ?? shortId(id), max: 256 },
  number('SIZE', ({ sizeBytes }) => sizeOf(sizeBytes)),
  number('UNIQUE', ({ uniqueBytes, inexactBecause }) =>
    boundText(inexactBecause !== undefined, sizeOf(uniqueBytes)),
  ),
  onlyWide(
    number('SHARED', ({ sizeBytes, uniqueBytes }) =>
      sizeOf(uniqueBytes === undefined ? undefined : sizeBytes - uniqueBytes),
    ),
  ),
  onlyWide(number('PACKED', ({ packedBytes }) => sizeOf(packedBytes))),
  number('NODES', (row) => copiesText(row, () => true)),
  number('BYTES', ({ lowerBound, bytes }) => boundText(lowerBound, sizeOf(bytes))),
  number('UNUSED ON', (row) => copiesText(row, ({ inUse }) => !inUse)),
  number('SINCE', ({ unusedSince }) => ageText(unusedSince ?? null, screen.now)),
  onlyWide(number('KEPT ON', (row) => copiesText(row, ({ kept }) => kept))),
  number('GAIN', ({ lowerBound, gainBytes }) => boundText(lowerBound, sizeOf(gainBytes))),
  onlyWide({ title: 'ID', text: ({ id }) => shortId(id) }),
  onlyWide({ title: 'ON', text: (row) => firstOf(namesOn(row), 3) }),
  number('AGE', (row) => agedText(row, screen.now)),
];

const barLength = 10;
/** In a narrower terminal only the most important columns have room. */
const wideEnough = 100;

/** Ten characters, one for each begun tenth; only on a terminal. */
const barColumn = <T>(
  { width = 0, isWide }: TopScreen,
  percentOf: (row: T) => number | undefined,
): Column<T> => ({
  title: '',
  text: (row) => {
    const percent = percentOf(row);
    if (width < wideEnough || isWide || percent === undefined) return '';
    const full = Math.min(barLength, Math.ceil((percent * barLength) / 100));
    return '█'.repeat(full) + '░'.repeat(barLength - full);
  },
});

interface Measured {
  readonly measuredTime: string | undefined;
  readonly stale: boolean;
}

/** The age, marked if it is stale; unknown if the clock of the node is ahead. */
const agedText = ({ measuredTime, stale }: Measured, now: Date): string =>
  isAhead(measuredTime, now) ? unknown : `${ageText(measuredTime ?? null, now)}${stale ? '!' : ''}`;

/** The time left. Of a node whose clock is ahead: what was left when it measured. Unknown if the forecast is stale. */
function untilText(time: string | undefined, { measuredTime, stale }: Measured, now: Date): string {
  if (time === undefined || stale) return unknown;
  const left = Date.parse(time) - Math.max(now.getTime(), Date.parse(measuredTime ?? '') || 0);
  return left <= 0 ? 'now' : longSpanText(left);
}
