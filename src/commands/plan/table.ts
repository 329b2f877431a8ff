import { counted, firstOf } from '../../gc/reasons/words.ts';
import { compactQuantityText, shortSizeText } from '../../runtime/text/size-text.ts';
import type { PlanFacts } from '../../snapshot/plan-facts.ts';
import { ageText, columns, paragraph, red, shortId, spanText, type Column } from '../../process/table.ts';
import type {
  Decision,
  PlanDocument,
  PlanObject,
  PlanOptions,
  PolicyCount,
  Summary,
  Totals,
} from '../../evaluation/plan/document.ts';
import { groupsOf, placeText, type Group } from './groups.ts';
import { modeChangeText } from '../../evaluation/plan/changes.ts';
import { comparisonText, unknownOf, unknownTexts } from '../../evaluation/plan/unknown.ts';

const margin = '  ';

export interface PlanTableOptions extends Pick<PlanOptions, 'kept' | 'assumeElapsed'> {
  readonly colours: boolean;
  /** false = only the rows of objects. */
  readonly headers?: boolean;
  /** Of the tables, in characters; Infinity = no cell is cut. */
  readonly width: number;
  readonly proseWidth: number;
  /** Of each list; Infinity = all. */
  readonly maxRows: number;
  readonly isWide: boolean;
  readonly createdAt: CreatedAt;
}

/** Unix milliseconds of the creation of an object, of an image those of the first pass that found it; undefined = not known. */
type CreatedAt = (object: PlanObject) => number | undefined;

export function createdAtIn({ pods, parts }: PlanFacts): CreatedAt {
  const onNodes = new Map(
    parts.flatMap(({ name, state, containers = [], sandboxes = [] }) => [
      ...[...state.images].map(([id, { firstDetectedMs }]) => [`${name} ${id}`, firstDetectedMs] as const),
      ...[...containers, ...sandboxes].map(
        ({ id, createdAtNs }) => [`${name} ${id}`, Number(createdAtNs / nsPerMs)] as const,
      ),
    ]),
  );
  return (object) =>
    object.kind === 'Pod'
      ? pods?.get(object.uid)?.createdAtMs
      : onNodes.get(`${object.node} ${object.id ?? ''}`);
}

const nsPerMs = 1_000_000n;

interface View extends Pick<PlanTableOptions, 'width' | 'proseWidth' | 'maxRows' | 'isWide' | 'createdAt'> {
  readonly now: Date;
}

export function planTable(plan: PlanDocument, { colours, ...given }: PlanTableOptions): string {
  const isMixed = new Set(plan.policies.map(({ mode }) => mode)).size > 1;
  const options = { ...given, now: new Date(plan.generatedAt) };
  if (given.headers === false)
    return groupsOf(plan)
      .flatMap((group) => table(group, isMixed, options).slice(1))
      .map((line) => `${line.trimEnd()}\n`)
      .join('');
  const prose = (text: string): string[] => paragraph(text, options.proseWidth);
  const troubles = troublesOf(plan).flatMap((trouble) => prose(`! ${trouble}`));
  const above = new Set(plan.changes?.more);
  const groups = groupsOf(plan).map((group) => withoutListed(group, above));
  const isListed = ({ decisions }: Group): boolean => decisions.length > 0;
  const sections = [
    [`Plan for ${plan.generatedAt}`],
    colours ? troubles.map(red) : troubles,
    plan.policies.flatMap((policy) => prose(modeSentence(policy, plan))),
    ...changeSections(plan, options),
    totalsTable(plan.totals, options),
    waitingHint(plan, options).flatMap(prose),
    reportedLines(plan, options.proseWidth),
    ...groups.filter(isListed).map((group) => rows(group, isMixed, options)),
    groups.filter((group) => !isListed(group)).flatMap(({ title }) => prose(title)),
    closing(plan, groups).flatMap(prose),
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.map((line) => line.trimEnd()).join('\n')).join('\n\n')}\n`;
}

/** An object that only the given policies remove is listed once, with these. */
function withoutListed({ fate, title, decisions }: Group, above: ReadonlySet<Decision>): Group {
  const left = decisions.filter((decision) => !above.has(decision));
  const count = decisions.length - left.length;
  return { fate, title: count === 0 ? title : `${title}, ${count} of them above`, decisions: left };
}

const isReported = ({ reportedAt }: Totals): boolean => reportedAt !== undefined;

function closing(plan: PlanDocument, groups: readonly Group[]): readonly string[] {
  if (plan.unknown.length > 0) return unknownTexts(plan);
  return groups.some(({ fate }) => fate === 'removed') ? [] : ['Nothing would be removed.'];
}

const troublesOf = (plan: PlanDocument): readonly string[] => [
  ...plan.totals.flatMap(trippedTroubles),
  ...plan.summary.flatMap(shortTrouble),
  ...degradedTrouble(plan),
  ...plan.notes,
];

const trippedTroubles = (totals: Totals): readonly string[] =>
  Object.entries(totals.tripped ?? {}).map(
    ([policy, percent]) =>
      `${placeText(totals)}: ${percent} % of the nodes are missing or were lost within an hour, more than GCPolicy ${policy} accepts: orphaned pods are kept.`,
  );

function shortTrouble(summary: Summary): readonly string[] {
  if (summary.state !== 'Short') return [];
  const texts = {
    bytes: `is ${summary.usedPercent ?? '?'} % full: removals for space must free ${shortSizeText(summary.wantedBytes)}, but can free only ${shortSizeText(summary.plannedBytes)}.`,
    inodes: `has ${summary.usedInodesPercent ?? '?'} % of its inodes in use: removals for space must free ${summary.wantedInodes}, but can free only about ${summary.plannedInodes}.`,
  };
  const isShort = {
    bytes: summary.plannedBytes < summary.wantedBytes,
    inodes: summary.plannedInodes < summary.wantedInodes,
  };
  const short = summary.crossed.filter((unit) => isShort[unit]);
  return (short.length > 0 ? short : summary.crossed).map(
    (unit) => `${placeText(summary)}: the image file system ${texts[unit]}`,
  );
}

/** The effect of a policy, so that nobody mistakes a dry run for a real one, or the reverse. */
function modeSentence({ name, mode, planned }: PolicyCount, plan: PlanDocument): string {
  const { proposed = false } = plan;
  const subject = `GCPolicy ${name} is in mode ${mode}`;
  const unknown = unknownOf(plan, name);
  if (planned === 0) return `${subject}: ${unknown ?? 'nothing listed here is due'}.`;
  const removals = `${unknown === undefined ? '' : 'at least '}${counted(planned, 'removal')}`;
  return mode === 'Enforce'
    ? `${subject}: controller and agents ${proposed ? 'would' : 'will'} make ${removals}.`
    : `${subject}, which removes nothing; in mode Enforce, controller and agents would make ${removals}.`;
}

/** What the policies of --policy remove more and less than those in force; empty without a comparison. */
function changeSections({ changes }: PlanDocument, view: View): readonly (readonly string[])[] {
  if (changes === undefined) return [];
  const { more, less, modes } = changes;
  const summary = `Compared with the policies in force: ${comparisonText(changes)}`;
  const group = (title: string, decisions: readonly Decision[]): readonly string[] =>
    decisions.length === 0 ? [] : rows({ fate: 'removed', title, decisions }, true, view);
  return [
    [summary, ...modes.map(modeChangeText)].flatMap((text) => paragraph(text, view.proseWidth)),
    group('Removed only with the given policies', more),
    group('Removed only with the policies in force', less),
  ];
}

/** Where nothing is removed, and known to be. */
const isQuiet = ({ planned, waiting, state = 'Idle' }: Totals): boolean =>
  planned === 0 && waiting === 0 && state === 'Idle';

function totalsTable(totals: readonly Totals[], { width, maxRows }: View): readonly string[] {
  const planned = totals.filter((total) => !isReported(total));
  const shown = planned.length > maxRows ? planned.filter((total) => !isQuiet(total)) : planned;
  const more = planned.length - shown.length;
  const number = (count: number | null): string => (count === null ? '?' : String(count));
  const layout: readonly Column<Totals>[] = [
    { title: 'UNIT', text: ({ unit }) => unit },
    { title: 'NODE', text: ({ node }) => node ?? '-', max: 24 },
    { title: 'REMOVE', text: (one) => number(one.planned), right: true },
    { title: 'KEEP', text: ({ kept }) => number(kept), right: true },
    { title: 'WAITING', text: ({ waiting }) => number(waiting), right: true },
    { title: 'FREES', text: ({ bytes = 0 }) => (bytes === 0 ? '' : compactQuantityText(bytes)), right: true },
    { title: 'STATE', text: ({ state = '' }) => stateWords[state] ?? state },
  ];
  return planned.length === 0
    ? []
    : [
        ...columns(layout, shown, width),
        ...(more > 0 ? [`${margin}and ${more} with nothing to remove; -o wide lists all`] : []),
      ];
}

/** `Free` of -o json would read as a disk with free space. */
const stateWords: Readonly<Record<string, string>> = { Free: 'Enough' };

const reportedImages = ({ totals }: PlanDocument): readonly Totals[] =>
  totals
    .filter(({ unit, reportedAt }) => unit === 'imagegc' && reportedAt !== undefined)
    .toSorted(
      (a, b) =>
        (b.removableBytes ?? 0) - (a.removableBytes ?? 0) || ((a.node ?? '') < (b.node ?? '') ? -1 : 1),
    );

/** About one screen; the other formats list all rows. */
const maxReported = 20;

/** What nodes that were not planned could free, due now or not. */
function reportedLines(plan: PlanDocument, width: number): readonly string[] {
  const now = new Date(plan.generatedAt);
  const nodes = reportedImages(plan);
  if (nodes.length === 0) return [];
  const containersOn = ({ node: name }: Totals): number =>
    plan.totals.find(({ unit, node }) => unit === 'containergc' && node === name)?.removable ?? 0;
  const layout: readonly Column<Totals>[] = [
    { title: 'NODE', text: ({ node }) => node ?? '', max: 40 },
    { title: 'IMAGES', text: ({ removable = 0 }) => String(removable), right: true },
    { title: 'CAN FREE', text: ({ removableBytes = 0 }) => compactQuantityText(removableBytes), right: true },
    { title: 'CONTAINERS', text: (images) => String(containersOn(images)), right: true },
    { title: 'STATE', text: ({ state = '' }) => state },
    { title: 'REPORT', text: ({ reportedAt = null }) => ageText(reportedAt, now), right: true },
  ];
  const more = nodes.length - maxReported;
  const isAnyPlanned = plan.totals.some(
    ({ unit, reportedAt }) => unit === 'imagegc' && reportedAt === undefined,
  );
  const under = plan.proposed === true ? ' under the policies in force' : '';
  return [
    ...paragraph(
      `Removable on ${isAnyPlanned ? 'other ' : ''}nodes, as their agents report${under}, due now or not:`,
      width,
    ),
    ...columns(layout, nodes.slice(0, maxReported), width),
    ...(more > 0 ? [`${margin}and ${more} more; -o json lists all`] : []),
  ];
}

function degradedTrouble(plan: PlanDocument): readonly string[] {
  const names = reportedImages(plan).flatMap(({ node, state }) => (state === undefined ? [] : (node ?? [])));
  return names.length === 0
    ? []
    : [`The agents of ${firstOf(names, 3)} report problems; dustpan status shows them.`];
}

/** Explains the column WAITING and how to see more; empty when nothing waits. */
function waitingHint(
  { totals }: PlanDocument,
  { kept, assumeElapsed }: Pick<PlanOptions, 'kept' | 'assumeElapsed'>,
): readonly string[] {
  const count = totals.reduce((sum, { waiting }) => sum + (waiting ?? 0), 0);
  if (count === 0) return [];
  const isQuarantined = totals.some(({ reasons }) => (reasons['Quarantined'] ?? 0) > 0);
  const subject = `${count} of the kept objects only ${count === 1 ? 'waits' : 'wait'} for time (WAITING)`;
  const when = kept ? 'UNTIL shows when they are due' : '--kept lists them with their times';
  const flag = '--assume-quarantine-elapsed plans as if quarantines were over';
  return [`${subject}: ${when}${isQuarantined && !assumeElapsed ? `; ${flag}` : ''}.`];
}

function rows(group: Group, isMixed: boolean, view: View): readonly string[] {
  const more = group.decisions.length - view.maxRows;
  return [
    ...paragraph(`${group.title}:`, view.proseWidth),
    ...table(group, isMixed, view),
    ...(more > 0 ? [`${margin}and ${more} more; -o wide lists all`] : []),
  ];
}

function table({ fate, decisions }: Group, isMixed: boolean, view: View): readonly string[] {
  const { width, maxRows, isWide } = view;
  const narrow = fate === 'removed' ? removedLayout(isMixed) : keptLayout;
  const layout = (isWide ? [...narrow, ...wideColumns(view)] : narrow).map((column) =>
    width === Infinity ? { ...column, max: Infinity } : column,
  );
  return columns(layout, decisions.slice(0, maxRows), width);
}

const reasonColumn: Column<Decision> = { title: 'REASON', text: ({ reason }) => reason };
const objectColumn: Column<Decision> = { title: 'OBJECT', text: objectText, max: 56 };

/** Without a column MODE where all policies have the same mode: the first lines name it. */
function removedLayout(isMixed: boolean): readonly Column<Decision>[] {
  return [
    { title: '#', text: ({ order }) => String(order ?? ''), right: true },
    { title: 'VERDICT', text: ({ verdict }) => verdict },
    reasonColumn,
    { title: 'MODE', text: ({ mode }) => (isMixed ? (mode ?? '') : '') },
    { title: 'BYTES', text: ({ bytes }) => (bytes === null ? '' : compactQuantityText(bytes)), right: true },
    objectColumn,
  ];
}

const keptLayout: readonly Column<Decision>[] = [
  reasonColumn,
  { title: 'UNTIL', text: ({ eligibleAt }) => eligibleAt ?? '' },
  objectColumn,
];

const wideColumns = ({ createdAt, now }: View): readonly Column<Decision>[] => [
  {
    title: 'AGE',
    text: ({ object }) => {
      const at = createdAt(object);
      return at === undefined || at <= 0 ? '' : spanText(now.getTime() - at);
    },
    right: true,
  },
  { title: 'NODE', text: ({ object }) => object.node ?? '' },
  { title: 'POLICY', text: ({ policy }) => policy ?? '' },
  { title: 'DETAIL', text: ({ detail }) => detail },
];

/** The arguments by which kubectl (pods) or `dustpan why` (images, containers, logs) names the object. */
export function nameText({ object }: Decision): string {
  if (object.kind === 'Pod') return `pod/${object.name} -n ${object.namespace}`;
  if (object.kind === 'Node') return `node/${object.node}`;
  if (object.kind === 'Leftover') return `'container/${object.id ?? ''}' --node=${object.node}`;
  const kind = object.kind === 'Image' ? 'image' : 'container';
  return `${kind}/${object.path ?? object.id ?? ''} --node=${object.node}`;
}

export function objectText({ object }: Decision): string {
  return object.kind === 'Pod' ? `${object.namespace}/${object.name}` : nodeObjectTexts[object.kind](object);
}

type NodeObject = Exclude<PlanObject, { readonly kind: 'Pod' }>;

const nodeObjectTexts: Readonly<Record<NodeObject['kind'], (object: NodeObject) => string>> = {
  Node: ({ node }) => node,
  Image: ({ name, id = '' }) => joined(name, shortId(id)),
  Container: ({ pod, name, id = '' }) => joined(pod, name, shortId(id)),
  Sandbox: ({ pod, id = '' }) =>
    pod === undefined ? joined('sandbox', shortId(id)) : joined('sandbox of', pod, shortId(id)),
  LogDirectory: ({ path }) => pathEnd(path, 1),
  LogLink: ({ path }) => pathEnd(path, 1),
  LogFile: ({ path }) => pathEnd(path, 3).replace(podUid, ''),
  // Whole: the UID is all that is left of the pod.
  PodDirectory: ({ path }) => joined('pod directory', lastName(path)),
  PodCgroup: ({ path }) => joined('control group', lastName(path)),
  Checkpoint: ({ path }) => lastName(path),
  Leftover: ({ name = '', id = '' }) => (id.endsWith(name) ? id : joined(name, id)),
};

const joined = (...words: readonly (string | undefined)[]): string => words.filter(Boolean).join(' ');

const lastName = (path = ''): string => path.slice(path.lastIndexOf('/') + 1);

/** The end of a path distinguishes it: all paths of a kind are in one directory. */
function pathEnd(path = '', parts: number): string {
  const all = path.split('/');
  const end = all.length > parts + 1 ? `…/${all.slice(-parts).join('/')}` : path;
  return end.replace(longId, '$1…');
}

/** A UID or the id of a container: eight characters suffice for people. */
const longId = /(?<![0-9a-z])([0-9a-f]{8})[0-9a-f-]{20,}/;
const podUid = /_[0-9a-f]{8}…/;
