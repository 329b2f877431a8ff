import { ageText } from './age-text.ts';
import { paragraph } from './paragraph.ts';
import { bytesText } from './plan-bytes.ts';
import type { Trouble } from './status-trouble.ts';
import type { NodeRow, PolicyRow, StatusTotals, StatusView } from './status-view.ts';
import { columns, fitted, type Column } from './text-table.ts';

interface TableOptions {
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

function troubleLines(trouble: Trouble, options: TableOptions): readonly string[] {
  return paragraph(`! ${troubleText(trouble, options)}`, options.width);
}

function troubleText(
  { kind, names, reason, message, since }: Trouble,
  { now }: Pick<TableOptions, 'now'>,
): string {
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  const age = since === null ? '' : ` (${ageText(since, now)})`;
  return `${kind} ${names.slice(0, maxNames).join(', ')}${more}: ${reason}${age}: ${message}`;
}

function totalLines({ totals, policies, nodes }: StatusView): readonly string[] {
  if (policies.length === 0) return ['There is no GCPolicy: nothing is removed.'];
  const { podsDeleted, reclaimableBytes, reclaimedBytes } = totals;
  const isSilent = nodes?.length === 0;
  const freed = `nodes: ${bytesText(reclaimableBytes)} can be freed, ${bytesText(reclaimedBytes)} were freed`;
  return [
    `${counted(totals.policies, 'policy', 'policies')}, ${isSilent ? 'no node reports' : counted(totals.nodes, 'node', 'nodes')}`,
    `pods: ${dueText(totals)} ${podsDeleted} deleted`,
    ...(isSilent ? [] : [freed]),
  ];
}

/** Due is one thing, going another. */
function dueText({ podsDue, podsDueInDryRun }: StatusTotals): string {
  if (podsDueInDryRun === 0) return `${podsDue} due,`;
  const which = podsDueInDryRun === podsDue ? 'none' : `${podsDueInDryRun} of them not`;
  return `${podsDue} due, ${which} to be touched (DryRun);`;
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
    { title: 'CAN FREE', text: ({ reclaimableBytes }) => bytes(reclaimableBytes), right: true },
    { title: 'FREED', text: ({ reclaimedBytes }) => bytes(reclaimedBytes), right: true },
    { title: 'CHANGED', text: ({ lastPassTime }) => ageText(lastPassTime, now), right: true },
  ];
  return columns(layout, policies, width);
}

const figure = (count: number | undefined): string => (count === undefined ? '-' : String(count));
const bytes = (count: number | null): string => (count === null ? '-' : bytesText(count));

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
