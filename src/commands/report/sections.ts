import { objectText } from '../plan/table.ts';
import { compactQuantityText } from '../../runtime/text/size-text.ts';
import type { Changes } from '../../evaluation/plan/document.ts';
import { countText, freedText, usedShare, type Large, type ReportData, type Share } from './data.ts';
import { growthText } from './usage.ts';
import { capital } from '../../gc/reasons/words.ts';
import type { Column as TerminalColumn } from '../../process/table.ts';
import { suggestLayout, suggestLines } from '../suggest/table.ts';
import { boundText, workloadLayout } from '../top/table.ts';

export interface Section {
  readonly title: string;
  readonly heads: readonly Head[];
  readonly rows: readonly (readonly Cell[])[];
}

interface Head {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Markdown has less room. */
  readonly isOnlyOnPage?: boolean;
  readonly isUntitledOnPage?: boolean;
}

export type Cell =
  | string
  | { readonly name: string }
  | { readonly prose: string; readonly command?: string | null }
  | { readonly percent: number; readonly label: string };

interface Column<T> extends Head {
  readonly cell: (row: T) => Cell;
}

/** Rows of a table that are shown: GitHub accepts 65 536 characters in one comment. */
export const maxRows = 20;

export const section = <T>(title: string, rows: readonly T[], columns: readonly Column<T>[]): Section => ({
  title,
  heads: columns,
  rows: rows.map((row) => columns.map(({ cell }) => cell(row))),
});

const number = <T>(title: string, text: (row: T) => string): Column<T> => ({
  title,
  cell: text,
  isNumber: true,
});
const onlyOnPage = <T>(column: Column<T>): Column<T> => ({ ...column, isOnlyOnPage: true });

export const changedObjects = (changes: Changes): Section =>
  section(
    'Changes',
    (['more', 'less'] as const).flatMap((which) => changes[which].map((decision) => ({ which, decision }))),
    [
      { title: 'Change', cell: ({ which }) => which, isUntitledOnPage: true },
      { title: 'Object', cell: ({ decision }) => ({ name: objectText(decision) }) },
      { title: 'Reason', cell: ({ decision }) => decision.reason },
      onlyOnPage({ title: 'Policy', cell: ({ decision }) => decision.policy ?? '' }),
    ],
  );

/** These columns of the table of a command. Their texts may be names from the cluster. */
const ofCommand = <T>(
  layout: readonly TerminalColumn<T>[],
  ...titles: readonly string[]
): readonly Column<T>[] =>
  layout
    .filter(({ title }) => titles.includes(title))
    .map(({ title, text, right = false }) => ({
      title: capital(title.toLowerCase()),
      isNumber: right,
      cell: (row) => (right ? text(row) : { name: text(row) }),
    }));

const workloadColumns = (now: Date) =>
  ofCommand(
    workloadLayout({ now, colours: false, isWide: true, width: undefined }),
    ...['NAMESPACE', 'WORKLOAD', 'NOW', 'HIGHEST', 'REQUEST', 'LIMIT', 'GROWTH', 'PODS', 'WATCHED'],
  );

/** The tables that the page and Markdown share, in the order of Markdown. */
export const sectionsOf = (data: ReportData) => ({
  namespaces: section('Largest namespaces', data.usage?.namespaces ?? [], [
    { title: 'Namespace', cell: ({ name }) => ({ name }) },
    number('Size', ({ lowerBound, bytes }) => boundText(lowerBound, compactQuantityText(bytes))),
    number('Nodes', ({ lowerBound, nodes }) => boundText(lowerBound, String(nodes))),
    number('Growth', ({ growthBytesPerHour }) => growthText(growthBytesPerHour)),
  ]),
  workloads: section('Largest workloads', data.usage?.workloads ?? [], workloadColumns(data.now)),
  suggestions: section(
    'Suggested requests and limits',
    suggestLines((data.usage?.suggestions ?? []).filter(({ reason }) => reason === undefined)),
    ofCommand(suggestLayout, 'NAMESPACE', 'WORKLOAD', 'PART', 'HIGHEST', 'REQUEST', 'LIMIT'),
  ),
  byPolicy: shares('policy', data.byPolicy),
  byReason: shares('reason', data.byReason),
  byNamespace: shares('namespace', data.byNamespace),
  byNode: shares('node', data.byNode),
  disks: section('Disks', data.disks, [
    { title: 'Node', cell: ({ node }) => ({ name: node }) },
    { title: 'Disk', cell: ({ name, unit }) => (unit === 'inodes' ? `${name}, inodes` : name) },
    {
      title: 'Used',
      cell: (disk) => ({
        percent: percentOf(disk),
        label: `${disk.name} of ${disk.node}, ${disk.unit} used`,
      }),
    },
    onlyOnPage(number('Used %', (disk) => `${percentOf(disk)} %`)),
    onlyOnPage(
      number('Of', ({ unit, capacity }) =>
        unit === 'inodes' ? String(capacity) : compactQuantityText(capacity),
      ),
    ),
  ]),
  images: section('Largest images', data.images, [
    { title: 'Image', cell: ({ name }) => ({ name }) },
    size,
    number('Nodes', ({ nodes }) => String(nodes)),
    removed,
  ]),
  logs: section('Largest logs', data.logs, [
    { title: 'Pod directory', cell: ({ name }) => ({ name }) },
    size,
    onlyOnPage(number('Nodes', ({ nodes }) => String(nodes))),
    removed,
  ]),
  due: section('Due in the next days', data.due, [
    { title: 'Day (UTC)', cell: ({ day }) => day },
    number('Objects', ({ objects }) => String(objects)),
    onlyOnPage(number('Size', ({ bytes }) => sizeOrNone(bytes))),
  ]),
  stuck: section('Stuck pods', data.stuck, [
    { title: 'Pod', cell: ({ name }) => ({ name }) },
    { title: 'Cause', cell: ({ cause }) => cause },
    { title: 'Since', cell: ({ since }) => since },
    { title: 'Held by', cell: ({ detail }) => ({ prose: detail }) },
    { title: 'Remedy', cell: ({ advice, command }) => ({ prose: advice, command }) },
  ]),
});

const percentOf = (disk: ReportData['disks'][number]): number => Math.round(usedShare(disk) * 100);
const sizeOrNone = (bytes: number): string => (bytes === 0 ? '' : compactQuantityText(bytes));

const size = number<Large>('Size', ({ bytes }) => compactQuantityText(bytes));
const removed = onlyOnPage(number<Large>('Remove', ({ removedOn }) => String(removedOn)));

const shares = (what: string, rows: readonly Share[]): Section =>
  section(`By ${what}`, rows, [
    { title: what, cell: ({ name }) => ({ name }) },
    number('Remove', (share) => countText(share, share.remove)),
    number('Warn', (share) => countText(share, share.warn)),
    number('Wait', (share) => countText(share, share.waiting)),
    number('Keep', (share) => countText(share, share.keep)),
    number('Frees', (share) => (share.bytes === 0 ? '' : freedText(share))),
  ]);
