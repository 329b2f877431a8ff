import { shortSizeText } from '../../runtime/text/size-text.ts';
import { firstOf } from '../../gc/reasons/words.ts';
import { ageText, columns, paragraph, type Column } from '../../process/table.ts';
import type { PlanDocument, Totals } from '../../evaluation/plan/document.ts';

/** A node of which only its agent's report was read. */
interface ReportedNode {
  readonly node: string;
  readonly images: number;
  readonly containers: number;
  readonly bytes: number;
  readonly state: string | undefined;
  readonly reportedAt: string | null;
}

/** About one screen; the other formats list all rows. */
const maxRows = 20;

/** What nodes that were not planned could free, most first; due now or not. */
export function reportedLines(plan: PlanDocument, width: number): readonly string[] {
  const now = new Date(plan.generatedAt);
  const nodes = reportedNodes(plan.totals);
  if (nodes.length === 0) return [];
  const layout: readonly Column<ReportedNode>[] = [
    { title: 'NODE', text: ({ node }) => node, max: 40 },
    { title: 'IMAGES', text: ({ images }) => String(images), right: true },
    { title: 'CAN FREE', text: ({ bytes }) => shortSizeText(bytes), right: true },
    { title: 'CONTAINERS', text: ({ containers }) => String(containers), right: true },
    { title: 'STATE', text: ({ state = '' }) => state },
    { title: 'REPORT', text: ({ reportedAt }) => ageText(reportedAt, now), right: true },
  ];
  const more = nodes.length - maxRows;
  return [
    ...paragraph(
      `Removable on other nodes, as their agents report${plan.proposed === true ? ' under the policies in force' : ''}, due now or not:`,
      width,
    ),
    ...columns(layout, nodes.slice(0, maxRows), width),
    ...(more > 0 ? [`  and ${more} more; -o json lists all`] : []),
  ];
}

/** One sentence for all nodes whose agents report a problem. */
export function degradedTrouble({ totals }: PlanDocument): readonly string[] {
  const names = reportedNodes(totals).flatMap(({ node, state }) => (state === undefined ? [] : [node]));
  return names.length === 0
    ? []
    : [`The agents of ${firstOf(names, 3)} report problems; dustpan status shows them.`];
}

function reportedNodes(totals: readonly Totals[]): readonly ReportedNode[] {
  const nodes = new Map<string, ReportedNode>();
  for (const { unit, node, state, reportedAt, removable = 0, removableBytes = 0 } of totals) {
    if (node === null || reportedAt === undefined) continue;
    const known = nodes.get(node) ?? { node, state, reportedAt, images: 0, containers: 0, bytes: 0 };
    nodes.set(
      node,
      unit === 'imagegc'
        ? { ...known, images: removable, bytes: removableBytes }
        : { ...known, containers: removable },
    );
  }
  return [...nodes.values()].toSorted((a, b) => b.bytes - a.bytes || (a.node < b.node ? -1 : 1));
}
