import { printable } from '../../runtime/text/printable.ts';
import { shortSizeText } from '../../runtime/text/size-text.ts';
import { modeChangeText } from '../../evaluation/plan/changes.ts';
import type { Changes, Decision, PlanDocument } from '../../evaluation/plan/document.ts';
import { objectText } from '../plan/table.ts';
import { policyText, usedShare, type ReportData, type Share } from './data.ts';
import type { UsageBar, UsageData } from './usage.ts';
import {
  afterText,
  diskName,
  fullText,
  growthText,
  partNames,
  percentText,
  usedParts,
} from './usage-words.ts';

/** Rows of a table: GitHub accepts 65 536 characters in one comment. */
const maxRows = 20;

/** The report as Markdown, for an issue or a pull request: the figures, and the first objects to remove. */
export function reportMarkdown(plan: PlanDocument, data: ReportData): string {
  const { remove, bytes, warn, waiting, keep } = data.total;
  const removals = plan.decisions.filter(({ order }) => order !== null);
  const parts = [
    `## What dustpan would remove\n\nPlanned for ${plan.generatedAt}: **${remove} to remove** (${shortSizeText(bytes)} on nodes), ${warn} warnings, ${waiting} wait for time, ${keep} kept.`,
    bullets(plan.notes),
    bullets(plan.policies.map(policyText)),
    plan.changes === undefined ? '' : changesPart(plan.changes),
    ...(data.usage === undefined ? [] : usageParts(data.usage)),
    sharesPart('policy', data.byPolicy),
    sharesPart('reason', data.byReason),
    sharesPart('namespace', data.byNamespace),
    sharesPart('node', data.byNode),
    table('Disks', ['Node', 'Disk', 'Used'], data.disks.map(diskRow)),
    table(
      'Largest images',
      ['Image', 'Size', 'Nodes'],
      data.images.map((one) => [code(one.name), shortSizeText(one.bytes), String(one.nodes)]),
    ),
    table(
      'Largest logs',
      ['Pod directory', 'Size'],
      data.logs.map((one) => [code(one.name), shortSizeText(one.bytes)]),
    ),
    table(
      'Due in the next days',
      ['Day (UTC)', 'Objects'],
      data.due.map((one) => [one.day, String(one.objects)]),
    ),
    table(
      'Stuck pods',
      ['Pod', 'Cause', 'Since', 'Held by', 'Remedy'],
      data.stuck.map((one) => [
        ...[code(one.name), one.cause, one.since, prose(one.detail)],
        one.command === null ? prose(one.advice) : `${prose(one.advice)}: ${code(one.command)}`,
      ]),
    ),
    table('To remove', ['Object', 'Reason', 'Explanation'], removals.map(removalRow)),
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

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const more = rows.length - maxRows;
  return [
    ...[`### ${title}`, '', line(head), line(head.map(() => '---'))],
    ...rows.slice(0, maxRows).map(line),
    ...(more > 0 ? ['', `And ${more} more.`] : []),
  ].join('\n');
}

const sharesPart = (what: string, shares: readonly Share[]): string =>
  table(
    `By ${what}`,
    [what, 'Remove', 'Warn', 'Wait', 'Keep', 'Frees'],
    shares.map(({ name, remove, warn, waiting, keep, bytes }) => [
      ...[code(name), ...[remove, warn, waiting, keep].map(String)],
      bytes === 0 ? '' : shortSizeText(bytes),
    ]),
  );

function usageParts({ disks, namespaces, curves, unknown }: UsageData): readonly string[] {
  const columns = usedParts(disks);
  const sizes = ({ parts }: UsageBar): readonly string[] =>
    columns.map((column) => {
      const found = parts.find(({ part }) => part === column);
      return found === undefined ? '' : shortSizeText(found.bytes);
    });
  return [
    table(
      'What uses the disks',
      ['Node', 'Disk', 'Used', ...columns.map((part) => partNames[part])],
      disks.map((one) => [code(one.node), diskName(one), percentText(one.usedPercent), ...sizes(one)]),
    ),
    bullets(unknown),
    table(
      'Largest namespaces',
      ['Namespace', 'Size', 'Nodes', 'Growth'],
      namespaces.map((one) => [
        code(one.name),
        shortSizeText(one.bytes),
        String(one.nodes),
        growthText(one.growthBytesPerHour),
      ]),
    ),
    table(
      'Until the disks are full',
      ['Node', 'Disk', 'Used', 'Growth', 'Full', 'After collection'],
      curves.map((one) => [
        code(one.node),
        one.name,
        percentText(one.usedPercent),
        growthText(one.growthBytesPerHour),
        fullText(one.fullInMs),
        afterText(one.afterCollection),
      ]),
    ),
  ];
}

const diskRow = (disk: ReportData['disks'][number]): readonly string[] => [
  code(disk.node),
  disk.unit === 'inodes' ? `${disk.name}, inodes` : disk.name,
  `${Math.round(usedShare(disk) * 100)} %`,
];

const removalRow = (one: Decision): readonly string[] => [
  code(objectText(one)),
  one.reason,
  prose(one.detail),
];

function changesPart({ more, less, modes }: Changes): string {
  const rows = [...more.map((one) => ['more', one] as const), ...less.map((one) => ['less', one] as const)];
  const summary = `Compared with the policies in force: **${more.length} more removals, ${less.length} fewer**.`;
  const list = table(
    'Changes',
    ['Change', 'Object', 'Reason'],
    rows.map(([which, one]) => [which, code(objectText(one)), one.reason]),
  );
  return [summary, bullets(modes.map(modeChangeText)), list].filter(Boolean).join('\n\n');
}
