import { bytesText } from './plan-bytes.ts';
import type { Decision, PlanDocument, Summary } from './plan-document.ts';
import { columns, wrapped, type Column } from './text-table.ts';

const width = 80;
/** More than a screen nobody reads; the other forms have all. */
const maxRows = 20;
const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;

/** The plan for a person: trouble first, then the sums, then what goes and, when it is listed, what stays. */
export function planTable(plan: PlanDocument, { colours }: { readonly colours: boolean }): string {
  const troubles = troublesOf(plan).flatMap((trouble) => wrapped(`! ${trouble}`, width, '  '));
  const sections = [
    [`Plan for ${plan.generatedAt}`],
    colours ? troubles.map(red) : troubles,
    sums(plan.summary),
    reasons(plan.summary),
    ...groups(plan.decisions).map(rows),
    plan.decisions.some(({ order }) => order !== null) ? [] : ['Nothing would be removed.'],
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.map((line) => line.trimEnd()).join('\n')).join('\n\n')}\n`;
}

function troublesOf({ summary, notes }: PlanDocument): readonly string[] {
  return [...summary.flatMap(troubleOf), ...notes];
}

function troubleOf(one: Summary): readonly string[] {
  const where = nameOf(one);
  const tripped = Object.entries(one.tripped ?? {}).map(
    ([policy, percent]) =>
      `${where}: ${percent} % of the nodes are missing, and GCPolicy ${policy} does not believe it: orphans stay.`,
  );
  if (one.state === 'Short') return [...tripped, `${where}: ${shortText(one)}.`];
  if (one.state === 'Unknown') return [...tripped, `${where}: too little is known to decide.`];
  return tripped;
}

const shortText = ({ wantedBytes, plannedBytes, usedPercent }: Summary): string =>
  `the image file system is ${usedPercent ?? '?'} % full and ${bytesText(wantedBytes ?? 0)} are wanted, but only ${bytesText(plannedBytes ?? 0)} can go`;

const nameOf = ({ unit, node }: Pick<Summary, 'unit' | 'node'>): string =>
  node === null ? unit : `${unit} on ${node}`;

function sums(summary: readonly Summary[]): readonly string[] {
  const number = (count: number | null): string => (count === null ? '?' : String(count));
  const bytes = (count: number | null | undefined): string => (count == null ? '' : bytesText(count));
  const layout: readonly Column<Summary>[] = [
    { title: 'UNIT', text: ({ unit }) => unit },
    { title: 'NODE', text: ({ node }) => node ?? '-', max: 24 },
    { title: 'GO', text: ({ planned, removable }) => number(planned ?? removable ?? null), right: true },
    { title: 'STAY', text: ({ kept }) => number(kept), right: true },
    { title: 'WAIT', text: ({ waiting }) => number(waiting), right: true },
    {
      title: 'FREES',
      text: ({ plannedBytes, removableBytes }) => bytes(plannedBytes ?? removableBytes),
      right: true,
    },
    { title: 'STATE', text: ({ state }) => state ?? '' },
  ];
  return summary.length === 0 ? [] : columns(layout, summary, width);
}

function reasons(summary: readonly Summary[]): readonly string[] {
  return summary.flatMap((one) => {
    const counts = Object.entries(one.reasons).map(([reason, count]) => `${reason} ${count}`);
    return counts.length === 0 ? [] : wrapped(`${nameOf(one)}: ${counts.join(', ')}`, width, '  ');
  });
}

interface Group {
  readonly title: string;
  readonly decisions: readonly Decision[];
}

/** Each unit's on each node, what goes apart from what stays. */
function groups(decisions: readonly Decision[]): readonly Group[] {
  const found = new Map<string, Decision[]>();
  for (const one of decisions) {
    const where = nameOf({ unit: one.unit, node: one.object.kind === 'Pod' ? null : one.object.node });
    const title = one.order === null ? `${where}, stays` : `${where}, goes`;
    const group = found.get(title);
    if (group === undefined) found.set(title, [one]);
    else group.push(one);
  }
  const all = [...found].map(([title, own]) => ({ title, decisions: own }));
  return [...all.filter(isGoing), ...all.filter((group) => !isGoing(group))];
}

const isGoing = ({ decisions }: Group): boolean => decisions[0]?.order !== null;

function rows(group: Group): readonly string[] {
  const shown = group.decisions.slice(0, maxRows);
  const more = group.decisions.length - shown.length;
  return [
    ...wrapped(`${group.title}:`, width, '  '),
    ...columns(isGoing(group) ? goingLayout : stayingLayout, shown, width),
    ...(more > 0 ? [`  and ${more} more; -o json lists all`] : []),
  ];
}

const reasonColumn: Column<Decision> = { title: 'REASON', text: ({ reason }) => reason };
const objectColumn: Column<Decision> = { title: 'OBJECT', text: objectText, max: 56 };

const goingLayout: readonly Column<Decision>[] = [
  { title: '#', text: ({ order }) => String(order ?? ''), right: true },
  { title: 'VERDICT', text: ({ verdict }) => verdict },
  reasonColumn,
  { title: 'MODE', text: ({ mode }) => mode ?? '' },
  { title: 'BYTES', text: ({ bytes }) => (bytes === null ? '' : bytesText(bytes)), right: true },
  objectColumn,
];

const stayingLayout: readonly Column<Decision>[] = [
  reasonColumn,
  { title: 'UNTIL', text: ({ eligibleAt }) => eligibleAt ?? '' },
  objectColumn,
];

function objectText({ object }: Decision): string {
  if (object.kind === 'Pod') return `${object.namespace}/${object.name}`;
  if (object.path !== undefined) return object.path;
  const id = shortId(object.id ?? '');
  return [object.kind === 'Image' ? undefined : object.pod, object.name, id].filter(Boolean).join(' ');
}

/** As docker and crictl cut them. */
const shortId = (id: string): string => id.replace(/^sha256:/, '').slice(0, 12);
