import { printable } from '../../runtime/text/printable.ts';
import { compactQuantityText } from '../../runtime/text/size-text.ts';
import { modeChangeText } from '../../evaluation/plan/changes.ts';
import type { Changes, PlanDocument } from '../../evaluation/plan/document.ts';
import { objectText } from '../plan/table.ts';
import { comparisonText, unknownTexts } from '../../evaluation/plan/unknown.ts';
import { countText, freedText, policyTexts, type ReportData } from './data.ts';
import { changedObjects, maxRows, section, sectionsOf, type Cell, type Section } from './sections.ts';
import {
  afterText,
  diskName,
  fullText,
  growthText,
  partNames,
  percentText,
  usedParts,
  type UsageData,
} from './usage.ts';

/** The report as Markdown, for an issue or a pull request: the figures, and the first objects to remove. */
export function reportMarkdown(plan: PlanDocument, data: ReportData): string {
  const { remove, warn, waiting, keep } = data.total;
  const count = (of: number): string => countText(data.total, of);
  const { namespaces, ...tables } = sectionsOf(data);
  const removals = section(
    'To remove',
    plan.decisions.filter(({ order }) => order !== null),
    [
      { title: 'Object', cell: (decision) => ({ name: objectText(decision) }) },
      { title: 'Reason', cell: ({ reason }) => reason },
      { title: 'Explanation', cell: ({ detail }) => ({ prose: detail }) },
    ],
  );
  const parts = [
    `## What dustpan would remove\n\nPlanned for ${plan.generatedAt}: **${count(remove)} to remove** (${freedText(data.total)} on nodes), ${count(warn)} warnings, ${count(waiting)} wait for time, ${count(keep)} kept.`,
    unknownTexts(plan)
      .map((text) => `**${prose(text)}**`)
      .join(' '),
    bullets(plan.notes),
    bullets(policyTexts(plan)),
    ...(plan.changes === undefined ? [] : changesParts(plan.changes)),
    ...(data.usage === undefined ? [] : usageParts(data.usage, namespaces)),
    ...[...Object.values(tables), removals].map(table),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

/** Code is neither markup nor a mention of a person. */
const code = (text: string): string =>
  text === '' ? '' : `\`${printable(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``;

/** Prose without markup. */
const prose = (text: string): string =>
  printable(text)
    .replaceAll(/[\\`*_[\]<>|#~]/g, '\\$&')
    .replaceAll('@', '@\u200b');

const bullets = (items: readonly string[]): string => items.map((item) => `- ${prose(item)}`).join('\n');

function table({ title, heads, rows }: Section): string {
  if (rows.length === 0) return '';
  const shown = <T>(cells: readonly T[]): readonly T[] =>
    cells.filter((_, i) => heads[i]?.isOnlyOnPage !== true);
  const line = (cells: readonly string[]): string => `| ${shown(cells).join(' | ')} |`;
  const more = rows.length - maxRows;
  return [
    ...[`### ${title}`, '', line(heads.map((head) => head.title)), line(heads.map(() => '---'))],
    ...rows.slice(0, maxRows).map((row) => line(row.map(cellText))),
    ...(more > 0 ? ['', `And ${more} more.`] : []),
  ].join('\n');
}

function cellText(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if ('name' in cell) return code(cell.name);
  if ('percent' in cell) return `${cell.percent} %`;
  return [prose(cell.prose), code(cell.command ?? '')].filter(Boolean).join(': ');
}

function usageParts({ disks, curves, unknown }: UsageData, namespaces: Section): readonly string[] {
  const bars = section('What uses the disks', disks, [
    { title: 'Node', cell: ({ node }) => ({ name: node }) },
    { title: 'Disk', cell: diskName },
    { title: 'Used', cell: ({ usedPercent }) => percentText(usedPercent) },
    ...usedParts(disks).map((column) => ({
      title: partNames[column],
      cell: ({ parts }: (typeof disks)[number]) => {
        const found = parts.find(({ part }) => part === column);
        return found === undefined ? '' : compactQuantityText(found.bytes);
      },
    })),
  ]);
  const untilFull = section('Until the disks are full', curves, [
    { title: 'Node', cell: ({ node }) => ({ name: node }) },
    { title: 'Disk', cell: ({ name }) => name },
    { title: 'Used', cell: ({ usedPercent }) => percentText(usedPercent) },
    { title: 'Growth', cell: ({ growthBytesPerHour }) => growthText(growthBytesPerHour) },
    { title: 'Full', cell: ({ fullInMs }) => fullText(fullInMs) },
    { title: 'After collection', cell: ({ afterCollection }) => afterText(afterCollection) },
  ]);
  return [table(bars), bullets(unknown), table(namespaces), table(untilFull)];
}

const changesParts = (changes: Changes): readonly string[] => [
  `Compared with the policies in force: ${prose(comparisonText(changes))}`,
  bullets(changes.modes.map(modeChangeText)),
  table(changedObjects(changes)),
];
