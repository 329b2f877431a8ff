import { bytesText } from './bytes.ts';
import type { Decision, PlanDocument, PlanOptions, Summary, Totals } from './document.ts';
import { groupsOf, placeText, type Group } from './groups.ts';
import { waitingHint } from './hints.ts';
import { modeSentences } from './modes.ts';
import { degradedTrouble, reportedLines } from './reported.ts';
import { columns, paragraph as paragraphOf, type Column } from '../cli/table.ts';

const width = 80;
const margin = '  ';
/** More than a screen nobody reads; the other forms have all. */
const maxRows = 20;
const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;

export interface PlanTableOptions extends Pick<PlanOptions, 'kept' | 'assumeElapsed'> {
  readonly colours: boolean;
}

/** The plan for a person: trouble first, then what will really happen, the sums, what goes and what stays. */
export function planTable(plan: PlanDocument, { colours, ...options }: PlanTableOptions): string {
  const troubles = troublesOf(plan).flatMap((trouble) => paragraph(`! ${trouble}`));
  const groups = groupsOf(plan);
  const isMixed = new Set(plan.policies.map(({ mode }) => mode)).size > 1;
  const isListed = ({ decisions }: Group): boolean => decisions.length > 0;
  const sections = [
    [`Plan for ${plan.generatedAt}`],
    colours ? troubles.map(red) : troubles,
    modeSentences(plan.policies).flatMap(paragraph),
    sums(plan.totals),
    waitingHint(plan, options).flatMap(paragraph),
    reportedLines(plan, width),
    ...groups.filter(isListed).map((group) => rows(group, isMixed)),
    groups.filter((group) => !isListed(group)).flatMap(({ title }) => paragraph(title)),
    groups.some(({ goes }) => goes) ? [] : [nothing(plan)],
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.map((line) => line.trimEnd()).join('\n')).join('\n\n')}\n`;
}

const isReported = ({ reportedAt }: Totals): boolean => reportedAt !== undefined;

const nothing = ({ totals }: PlanDocument): string =>
  totals.some(isReported) ? 'Nothing that was looked into would be removed.' : 'Nothing would be removed.';

const paragraph = (text: string): string[] => paragraphOf(text, width);

const troublesOf = (plan: PlanDocument): readonly string[] => [
  ...plan.totals.flatMap(trippedTroubles),
  ...plan.summary.flatMap(shortTrouble),
  ...plan.totals.flatMap(unknownTrouble),
  ...degradedTrouble(plan),
  ...plan.notes,
];

const trippedTroubles = (one: Totals): readonly string[] =>
  Object.entries(one.tripped ?? {}).map(
    ([policy, percent]) =>
      `${placeText(one)}: ${percent} % of the nodes are missing, and GCPolicy ${policy} does not believe it: orphans stay.`,
  );

function shortTrouble(one: Summary): readonly string[] {
  if (one.state !== 'Short') return [];
  const { wantedBytes, plannedBytes, usedPercent } = one;
  const need = `is ${usedPercent ?? '?'} % full and ${bytesText(wantedBytes)} are wanted`;
  return [`${placeText(one)}: the image file system ${need}, but only ${bytesText(plannedBytes)} can go.`];
}

const unknownTrouble = (one: Totals): readonly string[] =>
  one.state === 'Unknown' ? [`${placeText(one)}: too little is known to decide.`] : [];

function sums(totals: readonly Totals[]): readonly string[] {
  const looked = totals.filter((one) => !isReported(one));
  const number = (count: number | null): string => (count === null ? '?' : String(count));
  const layout: readonly Column<Totals>[] = [
    { title: 'UNIT', text: ({ unit }) => unit },
    { title: 'NODE', text: ({ node }) => node ?? '-', max: 24 },
    { title: 'GO', text: ({ planned }) => number(planned), right: true },
    { title: 'STAY', text: ({ kept }) => number(kept), right: true },
    { title: 'WAIT', text: ({ waiting }) => number(waiting), right: true },
    { title: 'FREES', text: ({ bytes = 0 }) => (bytes === 0 ? '' : bytesText(bytes)), right: true },
    { title: 'STATE', text: ({ state }) => state ?? '' },
  ];
  return looked.length === 0 ? [] : columns(layout, looked, width);
}

function rows({ goes, title, decisions }: Group, isMixed: boolean): readonly string[] {
  const more = decisions.length - maxRows;
  return [
    ...paragraph(`${title}:`),
    ...columns(goes ? goingLayout(isMixed) : stayingLayout, decisions.slice(0, maxRows), width),
    ...(more > 0 ? [`${margin}and ${more} more; -o json lists all`] : []),
  ];
}

const reasonColumn: Column<Decision> = { title: 'REASON', text: ({ reason }) => reason };
const objectColumn: Column<Decision> = { title: 'OBJECT', text: objectText, max: 56 };

/** Where there is one mode, the first lines have told it. */
function goingLayout(isMixed: boolean): readonly Column<Decision>[] {
  return [
    { title: '#', text: ({ order }) => String(order ?? ''), right: true },
    { title: 'VERDICT', text: ({ verdict }) => verdict },
    reasonColumn,
    { title: 'MODE', text: ({ mode }) => (isMixed ? (mode ?? '') : '') },
    { title: 'BYTES', text: ({ bytes }) => (bytes === null ? '' : bytesText(bytes)), right: true },
    objectColumn,
  ];
}

const stayingLayout: readonly Column<Decision>[] = [
  reasonColumn,
  { title: 'UNTIL', text: ({ eligibleAt }) => eligibleAt ?? '' },
  objectColumn,
];

function objectText({ object }: Decision): string {
  if (object.kind === 'Pod') return `${object.namespace}/${object.name}`;
  const id = shortId(object.id ?? '');
  switch (object.kind) {
    case 'Image':
      return joined(object.name, id);
    case 'Container':
      return joined(object.pod, object.name, id);
    case 'Sandbox':
      return object.pod === undefined ? joined('sandbox', id) : joined('sandbox of', object.pod, id);
    case 'LogDirectory':
    case 'LogLink':
      return pathEnd(object.path, 1);
    case 'LogFile':
      return pathEnd(object.path, 3).replace(podUid, '');
  }
}

const joined = (...words: readonly (string | undefined)[]): string => words.filter(Boolean).join(' ');

/** All of a kind lie in one directory; the start of their paths would leave no room for what tells them apart. */
function pathEnd(path = '', parts: number): string {
  const all = path.split('/');
  const end = all.length > parts + 1 ? `…/${all.slice(-parts).join('/')}` : path;
  return end.replace(longId, '$1…');
}

/** A UID or a container's id: the rest of it tells a person nothing. */
const longId = /(?<![0-9a-z])([0-9a-f]{8})[0-9a-f-]{20,}/;
const podUid = /_[0-9a-f]{8}…/;

/** As docker and crictl cut them. */
const shortId = (id: string): string => id.replace(/^sha256:/, '').slice(0, 12);
