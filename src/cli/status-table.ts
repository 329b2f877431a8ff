import { bytesText } from './plan-bytes.ts';
import type { Trouble } from './status-trouble.ts';
import type { NodeRow, PolicyRow, StatusView } from './status-view.ts';
import { columns, fitted, wrapped, type Column } from './text-table.ts';

export interface TableOptions {
  readonly now: Date;
  /** Characters of a line. */
  readonly width: number;
  readonly colours: boolean;
}

/** More than a few screens nobody reads; the other forms have all. */
const maxNodes = 50;
const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;

/** The status for a person: trouble, totals, policies, nodes. Lines are without their ends. */
export function statusTable(view: StatusView, options: TableOptions): readonly string[] {
  const { colours } = options;
  const troubles = view.trouble.flatMap((trouble) => troubleLines(trouble, options));
  const sections = [
    colours ? troubles.map(red) : troubles,
    totalLines(view),
    policyLines(view.policies, options),
    nodeLines(view.nodes, options),
  ].filter((lines) => lines.length > 0);
  return sections.flatMap((lines, i) => (i === 0 ? lines : ['', ...lines])).map((line) => line.trimEnd());
}

const maxNames = 3;
const margin = '  ';

function troubleLines(trouble: Trouble, options: TableOptions): readonly string[] {
  // A word that is longer than a line would be broken by the terminal.
  const words = troubleText(trouble, options).split(' ');
  const fitting = words.map((word) => fitted(word, options.width - margin.length)).join(' ');
  return wrapped(`! ${fitting}`, options.width, margin);
}

function troubleText(
  { kind, names, reason, message, since }: Trouble,
  { now }: Pick<TableOptions, 'now'>,
): string {
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  const age = since === null ? '' : ` (${ageText(since, now)})`;
  return `${kind} ${names.slice(0, maxNames).join(', ')}${more}: ${reason}${age}: ${message}`;
}

function totalLines({ totals, policies }: StatusView): readonly string[] {
  if (policies.length === 0) return ['There is no GCPolicy: nothing is removed.'];
  const { podsDue, podsDeleted, reclaimableBytes, reclaimedBytes } = totals;
  return [
    `${counted(totals.policies, 'policy', 'policies')}, ${counted(totals.nodes, 'node', 'nodes')}`,
    `pods: ${podsDue} due, ${podsDeleted} deleted`,
    `nodes: ${bytesText(reclaimableBytes)} can be freed, ${bytesText(reclaimedBytes)} were freed`,
  ];
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

function policyLines(policies: readonly PolicyRow[], { now, width }: TableOptions): readonly string[] {
  if (policies.length === 0) return [];
  const layout: readonly Column<PolicyRow>[] = [
    { title: 'POLICY', text: ({ name }) => name, max: 40 },
    { title: 'MODE', text: ({ mode }) => mode ?? 'invalid' },
    { title: 'DUE', text: ({ pods }) => figure(pods?.due), right: true },
    { title: 'DELETED', text: ({ pods }) => figure(pods?.deletedTotal), right: true },
    { title: 'NODES', text: ({ nodes }) => coverage(nodes), right: true },
    { title: 'CAN FREE', text: ({ nodes }) => bytes(nodes?.imageBytesReclaimable), right: true },
    { title: 'FREED', text: ({ nodes }) => bytes(nodes?.imageBytesReclaimed), right: true },
    { title: 'PASS', text: ({ lastPassTime }) => ageText(lastPassTime, now), right: true },
  ];
  return columns(layout, policies, width);
}

const figure = (count: number | undefined): string => (count === undefined ? '-' : String(count));
const bytes = (count: number | undefined): string => (count === undefined ? '-' : bytesText(count));

/** Of the nodes it governs, those that report under it. */
const coverage = (nodes: PolicyRow['nodes']): string =>
  nodes?.desired === undefined ? '-' : `${nodes.upToDate ?? 0}/${nodes.desired}`;

const policyWidth = 14;

function nodeLines(nodes: readonly NodeRow[] | null, { now, width }: TableOptions): readonly string[] {
  if (nodes === null) return ['The reports of nodes are not known.'];
  if (nodes.length === 0) return ['No agent has reported.'];
  const layout: readonly Column<NodeRow>[] = [
    { title: 'NODE', text: ({ name, inTrouble }) => `${inTrouble ? '! ' : ''}${name}`, max: 60 },
    { title: 'POLICY', text: ({ policy }) => fitted(policy ?? '-', policyWidth) },
    { title: 'DISK', text: ({ imageFsUsedPercent }) => percent(imageFsUsedPercent), right: true },
    { title: 'CAN FREE', text: ({ reclaimableBytes }) => bytesText(reclaimableBytes), right: true },
    { title: 'FREED', text: ({ reclaimedBytes }) => bytesText(reclaimedBytes), right: true },
    { title: 'PASS', text: ({ lastPassTime }) => ageText(lastPassTime, now), right: true },
    { title: 'REPORT', text: ({ reportTime }) => ageText(reportTime, now), right: true },
  ];
  const more = nodes.length - maxNodes;
  const rest = more > 0 ? [`… and ${more} more: dustpan status -o json has them all.`] : [];
  return [...columns(layout, nodes.slice(0, maxNodes), width), ...rest];
}

const percent = (used: number | null): string => (used === null ? '-' : `${used} %`);

const spans = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
] as const;

/** How long ago, in the largest unit that is full: `3m`. A clock that is behind gives 0. */
export function ageText(time: string | null, now: Date): string {
  const at = Date.parse(time ?? '');
  if (Number.isNaN(at)) return '-';
  const ms = Math.max(0, now.getTime() - at);
  const span = spans.find((one) => ms >= one.ms);
  return span === undefined ? `${Math.floor(ms / 1000)}s` : `${Math.floor(ms / span.ms)}${span.name}`;
}
