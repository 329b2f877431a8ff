import { chart, isStarting } from '../../evaluation/installation/problems.ts';
import { firstValues } from '../../api/report/fresh.ts';
import { printable } from '../../runtime/text/printable.ts';
import { compactQuantityText, shortSizeText } from '../../runtime/text/size-text.ts';
import { counted, firstOf } from '../../gc/reasons/words.ts';
import { ageText, columns, paragraph, red, slotsText, type Column } from '../../process/table.ts';
import { isOfInstallation, type Trouble } from '../../evaluation/installation/trouble.ts';
import type { StatusView } from './view.ts';

interface Screen {
  readonly now: Date;
  /** undefined = not a terminal. */
  readonly width: number | undefined;
  readonly colours: boolean;
  readonly isWide?: boolean;
}

/** The status for people, in lines: the verdict, problems, totals, nodes. */
export function statusTable(view: StatusView, screen: Screen): readonly string[] {
  const { now, width = 80, colours } = screen;
  const troubles = view.trouble.slice(0, maxTroubles).flatMap((trouble) => [
    ...paragraph(`! ${troubleText(trouble, now)}`, width).map((line) => (colours ? red(line) : line)),
    // Not wrapped, so that it can be copied.
    `    ${printable(trouble.command)}`,
  ]);
  const namesChart = view.trouble.slice(0, maxTroubles).some(({ command }) => command.includes(chart));
  const more = view.trouble.length - maxTroubles;
  const sections = [
    [
      ...paragraph(verdictText(view, now), width),
      ...troubles,
      ...(namesChart
        ? paragraph(
            `${chart} is the chart in a checkout of dustpan: run the command there, or name your chart.`,
            width,
          )
        : []),
      ...(more > 0 ? [`And ${more} more problems; -o json has all.`] : []),
    ],
    [...totalLines(view), ...limitLines(view)].flatMap((line) => paragraph(line, width)),
    nodeLines(view, screen),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
}

/** A broken cluster can have thousands. */
const maxTroubles = 20;

const verdicts = {
  Works: 'dustpan works',
  WorksInPart: 'dustpan works in part',
  DoesNotWork: 'dustpan does not work: nothing acts now',
  NotInstalled: 'dustpan is not installed in this cluster',
  Unknown: 'It is not known whether dustpan works',
} as const satisfies Record<StatusView['verdict'], string>;

function verdictText(view: StatusView, now: Date): string {
  const { controllers, agents, signs, noAgents, trouble } = view;
  const parts = [
    ...(controllers ?? []).map(({ version, leader, leaderSince }) =>
      leader === null
        ? `controller ${version}`
        : // Without the UUID of the process.
          `controller ${version}, leader ${leader.replace(/_.*/, '')} for ${ageText(leaderSince, now)}`,
    ),
    ...(agents ?? []).map(({ ready, desired }) => `agents ready on ${ready} of ${counted(desired, 'node')}`),
    ...signs,
    ...(noAgents === null
      ? []
      : [`no agents on nodes: ${noAgents}, so spec.nodes of policies has no effect`]),
    ...(trouble.length > 0 ? [counted(trouble.length, 'problem')] : []),
  ];
  return `${[headline(view, now), ...parts].join('; ')}.`;
}

function headline({ verdict, controllers, trouble }: StatusView, now: Date): string {
  if (verdict === 'NotInstalled') return verdicts[verdict];
  // A Deployment that is only just there has no problem yet, and matters more than what a node has.
  const isYoung =
    !trouble.some(isOfInstallation) &&
    controllers?.some((controller) => controller.ready === 0 && isStarting(controller, now)) === true;
  if (verdict === 'DoesNotWork' && (isYoung || trouble.length === 0))
    return 'dustpan starts: nothing acts yet';
  if (isYoung) return `${verdicts[verdict]}; the controller starts, and none of its pods is ready yet`;
  return `${verdicts[verdict]}${worstText(trouble)}`;
}

/** The first problem, so that nobody reads only that dustpan works. */
function worstText([worst]: readonly Trouble[]): string {
  return worst === undefined ? '' : `; worst problem: ${worst.reason} (${subjectText(worst)})`;
}

const subjectText = ({ kind, names }: Pick<Trouble, 'kind' | 'names'>): string =>
  `${kind} ${firstOf(names, 3)}`;

function troubleText({ kind, names, reason, message, since, reportTime }: Trouble, now: Date): string {
  const times = [
    ...(since === null ? [] : [ageText(since, now)]),
    ...(reportTime === null ? [] : [`reported ${ageText(reportTime, now)} ago`]),
  ];
  const age = times.length === 0 ? '' : ` (${times.join(', ')})`;
  return `${subjectText({ kind, names })}: ${reason}${age}: ${message}`;
}

function totalLines(view: StatusView): readonly string[] {
  const { totals, nodes } = view;
  const { policies, podsDeleted, podsDeletedSince } = totals;
  const pods = [
    policiesText(policies),
    `pods: ${dueText(totals)} ${podsDeleted} deleted by the present policies${sinceText(podsDeletedSince)}${ageMarks(view)}`,
  ];
  const ofPolicies = policies === 0 ? ['There is no GCPolicy: nothing is removed.'] : pods;
  return [
    ...(view.policies === null ? [] : ofPolicies),
    ...((nodes === null && view.policies === null) || (nodes?.length === 0 && view.noAgents !== null)
      ? []
      : [
          nodes?.length === 0
            ? `No agent has reported.${view.agents?.length === 0 ? '' : ` ${firstValues}`}`
            : `${counted(totals.nodes, 'node')}: ${freedText(view)}`,
        ]),
  ];
}

/** Why the totals of pods may be old. */
function ageMarks({ totals: { podsStaleSince: time }, trouble }: StatusView): string {
  const stale = time === null ? [] : [`the last pass ended${sinceText(time, ' at')}`];
  const isLacking = trouble.some(({ kind, reason }) => kind === 'Controller' && reason === 'MissingRights');
  const marks = [...stale, ...(isLacking ? ['perhaps old: the controller lacks rights'] : [])];
  return marks.length === 0 ? '' : ` (${marks.join('; ')})`;
}

/** Without the reports, the sums in the policies count images alone: 0 says nothing. */
function freedText({ totals, nodes }: StatusView): string {
  const { reclaimableBytes, reclaimedBytes, reclaimedSince } = totals;
  if (nodes === null && reclaimableBytes === 0)
    return 'the removable bytes are unknown, as their reports may not be read';
  return `${shortSizeText(reclaimableBytes)} removable, due now or not, ${shortSizeText(reclaimedBytes)} were freed${sinceText(reclaimedSince)}`;
}

/** The pods that are due and held; before the first pass they are not known, and not 0. */
function dueText({ podsDue, podsDueInDryRun, podsHeld, awaitingPass }: StatusView['totals']): string {
  const names = firstOf(awaitingPass, 3);
  if (podsDue + podsHeld === 0 && awaitingPass.length > 0)
    return `those that are due are not known before the first pass under ${names};`;
  const held = podsHeld === 0 ? '' : `, ${podsHeld} held until the end of a hold`;
  const unknown = awaitingPass.length === 0 ? '' : `, not known before the first pass under ${names}`;
  const share = podsDueInDryRun === podsDue ? 'all' : `${podsDueInDryRun} of them`;
  const dryRun = podsDueInDryRun === 0 ? '' : `, ${share} under DryRun policies`;
  const end = dryRun === '' && held === '' && unknown === '' ? ',' : ';';
  return `${podsDue} due${dryRun}${held}${unknown}${end}`;
}

const limitLines = ({ unread, withoutAgent, nodes }: StatusView): readonly string[] => [
  ...withoutAgent.map(({ names, why }) => {
    const reported = names.filter((node) => nodes?.some(({ name }) => name === node));
    const left =
      reported.length === 0
        ? ''
        : ` An agent has run on ${firstOf(reported, 3)}: 'dustpan unpin' there removes its pins, if it has left any.`;
    return `Without an agent: ${firstOf(names, 3)} (${why}).${left}`;
  }),
  ...(unread.length === 0 ? [] : [`You may not read: ${unread.join(', ')}.`]),
];

/** More are for `dustpan top`. */
const maxNodes = 10;

function nodeLines(view: StatusView, screen: Screen): readonly string[] {
  const isCut = screen.isWide !== true;
  const known = byDisk(view).filter(({ diskUsedPercent }) => !isCut || diskUsedPercent !== null);
  if (known.length === 0) return [];
  const more = isCut ? known.length - maxNodes : 0;
  const nodes = isCut ? known.slice(0, maxNodes) : known;
  return [
    ...nodeRows({ nodes }, { ...screen, width: screen.width ?? 80 }),
    ...(more > 0 ? [`${more} more: dustpan top nodes`] : []),
  ];
}

/** The fullest first, those of unknown usage last. */
const byDisk = ({ nodes }: Pick<StatusView, 'nodes'>): readonly NodeRow[] =>
  (nodes ?? []).toSorted((a, b) => (b.diskUsedPercent ?? -1) - (a.diskUsedPercent ?? -1));

/** For `-o name`. */
export const nodeNames = (view: Pick<StatusView, 'nodes'>): readonly string[] =>
  byDisk(view).map(({ name }) => `node/${name}`);

/** The titles, then the nodes. Only a terminal cuts names. */
export function nodeRows(
  view: Pick<StatusView, 'nodes'>,
  { now, width = Infinity, isWide = false }: Screen,
): readonly string[] {
  const layout = [...nodeLayout(now), ...(isWide ? wideColumns(now) : [])];
  const isCut = width !== Infinity && !isWide;
  const shown = isCut ? layout : layout.map((column) => ({ ...column, max: Infinity }));
  return columns(shown, byDisk(view), isCut ? width : Infinity).map((line) => line.trimEnd());
}

type NodeRow = NonNullable<StatusView['nodes']>[number];

const nodeLayout = (now: Date): readonly Column<NodeRow>[] => [
  { title: 'NODE', text: ({ name }) => name, max: 40 },
  {
    title: 'DISK',
    text: ({ disk, diskUsedPercent }) => (diskUsedPercent === null ? '-' : `${disk} ${diskUsedPercent}%`),
    right: true,
  },
  {
    title: 'PODS',
    text: ({ podSlots, podSlotsTaken }) => slotsText(podSlotsTaken, podSlots),
    right: true,
  },
  {
    title: 'MEASURED',
    text: ({ diskMeasuredTime: time }) => (time === null ? '-' : `${ageText(time, now)} ago`),
  },
  {
    title: 'LARGEST USER',
    text: ({ largestUser }) =>
      largestUser === null ? '-' : `${largestUser.name} ${compactQuantityText(largestUser.bytes)}`,
  },
];

const wideColumns = (now: Date): readonly Column<NodeRow>[] => [
  { title: 'POLICY', text: ({ policy }) => policy ?? '-' },
  { title: 'MODE', text: ({ mode }) => mode ?? '-' },
  { title: 'REMOVABLE', text: ({ reclaimableBytes }) => compactQuantityText(reclaimableBytes), right: true },
  { title: 'FREED', text: ({ reclaimedBytes }) => compactQuantityText(reclaimedBytes), right: true },
  {
    title: 'REPORTED',
    text: ({ reportTime }) => (reportTime === null ? '-' : `${ageText(reportTime, now)} ago`),
  },
];

/** To the minute. */
const sinceText = (time: string | null, word = ' since'): string =>
  time === null ? '' : `${word} ${time.slice(0, 'YYYY-MM-DD'.length)} ${time.slice(11, 16)} UTC`;
const policiesText = (count: number): string => (count === 1 ? '1 policy' : `${count} policies`);
