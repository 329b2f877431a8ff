import { counted, firstOf } from '../../gc/reasons/words.ts';
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
  type Column,
} from '../../process/table.ts';
import type { FileSystemRow, ImageRow, NamespaceRow, NodeRow, PodRow } from './rows.ts';
import { isAhead, type TopView } from './view.ts';

interface TopScreen extends Screen {
  readonly colours: boolean;
  readonly isWide: boolean;
}

const maxNotes = 5;

/** The rows for people, between what is unknown and when disks are full. */
export function topTable(view: TopView, screen: TopScreen): readonly string[] {
  const { width = 80, colours } = screen;
  const more = view.notes.length - maxNotes;
  const notes = [
    ...view.notes
      .slice(0, maxNotes)
      .map(({ nodes, message }) => `${nodes.length === 0 ? '' : `${firstOf(nodes, 3)}: `}${message}`),
    ...(more > 0 ? [`And ${more} more; -o json has all.`] : []),
  ].flatMap((note) => paragraph(`! ${note}`, width));
  const sections = [
    colours ? notes.map(red) : notes,
    view.forecasts.flatMap((forecast) => paragraph(forecastText(forecast, screen), width)),
    [...tableOf(view, screen), ...restLines(view)],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
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

/** For `-o name`: the arguments by which kubectl, and for images `dustpan why`, name each row. Not of names that no object can have: a shell may read them as options. */
export const nameLines = (view: TopView): readonly string[] =>
  namesOf(view).filter((line) => plainName.test(line));

const plainName = /^[a-z]+\/[A-Za-z0-9][A-Za-z0-9:._@/-]*( (-n |--node=)[a-z0-9][a-z0-9.-]*)?$/;

function namesOf(view: TopView): readonly string[] {
  switch (view.kind) {
    case 'TopNodes':
      return view.items.map(({ name }) => `node/${name}`);
    case 'TopNamespaces':
      return view.items.map(({ name }) => `namespace/${name}`);
    case 'TopPods':
      return view.items.map(({ name, namespace }) => `pod/${name} -n ${namespace}`);
    case 'TopImages':
      return view.items.flatMap(({ id, nodes }) => nodes.map(({ node }) => `image/${id} --node=${node}`));
  }
}

function tableOf(view: TopView, screen: TopScreen): readonly string[] {
  if (view.items.length === 0) return [emptyText[view.kind]];
  switch (view.kind) {
    case 'TopNodes':
      return linesOf(nodeLayout(screen, view.items), view.items.flatMap(disksOf), screen);
    case 'TopNamespaces':
      return linesOf(namespaceLayout(screen, view.items), view.items, screen);
    case 'TopPods':
      return linesOf(podLayout(screen), view.items, screen);
    case 'TopImages':
      return linesOf(imageLayout(screen), view.items, screen);
  }
}

const emptyText: Readonly<Record<TopView['kind'], string>> = {
  TopNodes: 'No rows.',
  TopNamespaces: 'No rows.',
  TopPods: 'No pods are listed. -A lists those of all namespaces.',
  // After its first pass over the images, at the next measurement.
  TopImages:
    'No agent of these nodes has reported images. An agent reports them within three minutes of its start.',
};

function linesOf<T>(
  layout: readonly TopColumn<T>[],
  rows: readonly T[],
  { isWide, width = Infinity }: TopScreen,
): readonly string[] {
  const shown = layout.filter(({ isOnlyWide }) => isWide || isOnlyWide !== true);
  return columns(shown, rows, isWide ? Infinity : width).map((line) => line.trimEnd());
}

function restLines(view: TopView): readonly string[] {
  if (view.kind === 'TopNodes' || view.rest.count === 0) return [];
  const { count, bytes } = view.rest;
  if (count === undefined)
    return ['and perhaps more: on some of these nodes the namespace is not among the largest'];
  if (bytes === undefined)
    return [`and ${count} more of the selected pods, which are not among the largest of these nodes`];
  const what = { TopNamespaces: 'namespace', TopPods: 'pod', TopImages: 'image' }[view.kind];
  const how = view.kind === 'TopPods' ? '' : ', counted on each node';
  return [`and ${counted(count, `smaller ${what}`)}${how}: ${compactQuantityText(bytes)}`];
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
    bytes('OF', ({ capacityBytes }) => capacityBytes),
    onlyWide(bytes('IMAGES', ({ imagesInUseBytes }) => imagesInUseBytes)),
    bytes('UNUSED', ({ imagesUnusedBytes }) => imagesUnusedBytes),
    onlyWide(bytes('LAYERS', ({ layersBytes }) => layersBytes)),
    onlyWide(bytes('VOLUMES', ({ volumesBytes }) => volumesBytes)),
    onlyWide(bytes('LOGS', ({ logsBytes }) => logsBytes)),
    onlyWide(bytes('ORPHANS', ({ orphansBytes }) => orphansBytes)),
    onlyWide(bytes('OTHER', ({ otherBytes }) => otherBytes)),
    onlyWide(bytes('COLLECTABLE', ({ collectableBytes }) => collectableBytes)),
    { title: 'LARGEST NS', text: (line) => namespaceText(line, screen) },
    onlyWide(number('BYTES', (line) => sizeOf(largestOn(line)?.bytes))),
    onlyWide({ title: 'FASTEST NS', text: ({ node }) => node.fastestNamespace?.name ?? unknown }),
    onlyWide(number('PODS', ({ node }) => String(node.podCount ?? unknown))),
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
  const atLeast = (row: NamespaceRow, text: string): string => `${row.lowerBound ? '≥' : ''}${text}`;
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

const podLayout = (screen: TopScreen): readonly TopColumn<PodRow>[] => [
  { title: 'NAMESPACE', text: ({ namespace }) => namespace, max: 63 },
  { title: 'POD', text: ({ name }) => name, max: 253 },
  number('BYTES', ({ bytes, lowerBound }) => `${lowerBound === true ? '≥' : ''}${sizeOf(bytes)}`),
  number('LAYERS', ({ layersBytes }) => sizeOf(layersBytes)),
  number('VOLUMES', ({ volumesBytes }) => sizeOf(volumesBytes)),
  number('LOGS', ({ logsBytes }) => sizeOf(logsBytes)),
  barColumn(screen, ({ usedPercent }) => usedPercent),
  number('LIMIT', ({ usedPercent }) => percentText(usedPercent)),
  onlyWide(number('OF', ({ limitBytes }) => sizeOf(limitBytes))),
  onlyWide({ title: 'NODE', text: ({ node }) => node }),
  onlyWide({ title: 'UID', text: ({ uid }) => uid }),
  number('AGE', (row) => agedText(row, screen.now)),
];

const imageLayout = (screen: TopScreen): readonly TopColumn<ImageRow>[] => [
  { title: 'IMAGE', text: ({ name, id }) => name ?? shortId(id), max: 256 },
  number('SIZE', ({ sizeBytes }) => sizeOf(sizeBytes)),
  number(
    'UNIQUE',
    ({ uniqueBytes, inexactBecause }) => `${inexactBecause === undefined ? '' : '≥'}${sizeOf(uniqueBytes)}`,
  ),
  onlyWide(
    number('SHARED', ({ sizeBytes, uniqueBytes }) =>
      sizeOf(uniqueBytes === undefined ? undefined : sizeBytes - uniqueBytes),
    ),
  ),
  onlyWide(number('PACKED', ({ packedBytes }) => sizeOf(packedBytes))),
  number('NODES', ({ nodes }) => String(nodes.length)),
  number('BYTES', ({ bytes }) => sizeOf(bytes)),
  number('UNUSED ON', ({ nodes }) => String(nodes.filter(({ inUse }) => !inUse).length)),
  number('SINCE', ({ unusedSince }) => ageText(unusedSince ?? null, screen.now)),
  onlyWide(number('KEPT ON', ({ nodes }) => String(nodes.filter(({ kept }) => kept).length))),
  number('GAIN', ({ gainBytes }) => sizeOf(gainBytes)),
  onlyWide({ title: 'ID', text: ({ id }) => shortId(id) }),
  onlyWide({
    title: 'ON',
    text: ({ nodes }) =>
      firstOf(
        nodes.map(({ node }) => node),
        3,
      ),
  }),
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
