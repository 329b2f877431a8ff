import { ageText } from '../cli/age-text.ts';
import { bytesText } from './bytes.ts';
import type { PlanDocument, Totals } from './document.ts';
import { columns, type Column } from '../cli/table.ts';

/** A node of which only its agent's report was read. */
interface ReportedNode {
  readonly node: string;
  readonly images: number;
  readonly containers: number;
  readonly bytes: number;
  readonly state: string | undefined;
  readonly reportedAt: string | null;
}

/** More than a screen nobody reads; the other forms have all. */
const maxRows = 20;

/** What could be removed on nodes that were not looked into, those with most to free first; not what would go now. */
export function reportedLines(plan: PlanDocument, width: number): readonly string[] {
  const now = new Date(plan.generatedAt);
  const nodes = reportedNodes(plan.totals);
  if (nodes.length === 0) return [];
  const layout: readonly Column<ReportedNode>[] = [
    { title: 'NODE', text: ({ node }) => node, max: 40 },
    { title: 'IMAGES', text: ({ images }) => String(images), right: true },
    { title: 'CAN FREE', text: ({ bytes }) => bytesText(bytes), right: true },
    { title: 'CONTAINERS', text: ({ containers }) => String(containers), right: true },
    { title: 'STATE', text: ({ state = '' }) => state },
    { title: 'REPORT', text: ({ reportedAt }) => ageText(reportedAt, now), right: true },
  ];
  const more = nodes.length - maxRows;
  return [
    'What agents report as removable, whether it is due now or not:',
    ...columns(layout, nodes.slice(0, maxRows), width),
    ...(more > 0 ? [`  and ${more} more; -o json has all`] : []),
  ];
}

/** Told once for all such nodes: each agent's own words are in `dustpan status`. */
export function degradedTrouble({ totals }: PlanDocument): readonly string[] {
  const names = reportedNodes(totals).flatMap(({ node, state }) => (state === undefined ? [] : [node]));
  if (names.length === 0) return [];
  const shown = names.slice(0, maxNames).join(', ');
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return [`The agents of ${shown}${more} report trouble: dustpan status tells what it is.`];
}

const maxNames = 3;

function reportedNodes(totals: readonly Totals[]): readonly ReportedNode[] {
  const nodes = new Map<string, ReportedNode>();
  for (const { unit, node, state, reportedAt, removable = 0, removableBytes = 0 } of totals) {
    if (node === null || reportedAt === undefined) continue;
    const known = nodes.get(node) ?? { ...{ node, state, reportedAt }, images: 0, containers: 0, bytes: 0 };
    nodes.set(
      node,
      unit === 'imagegc'
        ? { ...known, images: removable, bytes: removableBytes }
        : { ...known, containers: removable },
    );
  }
  return [...nodes.values()].toSorted((a, b) => b.bytes - a.bytes || (a.node < b.node ? -1 : 1));
}
