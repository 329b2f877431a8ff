import { formatDuration } from '../../runtime/text/duration.ts';
import { printable } from '../../runtime/text/printable.ts';
import { shortSizeText } from '../../runtime/text/size-text.ts';
import { explainPull } from '../../agent/imagegc/pull-words.ts';
import { counted, firstOf } from '../../gc/reasons/words.ts';
import { ageText, shortId, wrapped } from '../../process/table.ts';
import type {
  Explanation,
  ExplanationDocument,
  ImageOnDisk,
  ImageUser,
} from '../../evaluation/why/explain.ts';
import type { StuckView } from '../../evaluation/plan/stuck.ts';
import type { NodeView } from '../../evaluation/why/node.ts';
import type { Removal } from '../../evaluation/why/removed.ts';

const labelWidth = 11;
const indent = 2;

export function whyTable(document: ExplanationDocument, width = 80): string {
  const { explanations, removed, stuck, node, notes, generatedAt, idle = false } = document;
  const nowMs = Date.parse(generatedAt);
  const sections = [
    ...explanations.map((explanation, i) =>
      section(explanation, { subject: subjectOf(explanation, explanations[i - 1]), nowMs, idle, width }),
    ),
    stuck === undefined ? [] : stuckSection(stuck, document, width),
    node === undefined ? [] : nodeSection(node, document, width),
    pullSection(document, width),
    ...removed.slice(0, maxRemovals).map((removal) => removalSection(removal, new Date(nowMs), width)),
    removed.length > maxRemovals
      ? [`and ${removed.length - maxRemovals} more removals; -o json lists all`]
      : [],
    explanations.length === 0 && removed.length === 0 && node === undefined ? [nothingText(document)] : [],
    notes.flatMap((note) => wrapped(`! ${note}`, width, '  ')),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function nothingText({ object }: ExplanationDocument): string {
  if (object.kind === 'Pod') return 'Whether it would be deleted is not known.';
  if (object.kind === 'Node') return 'Whether the node has problems is not known.';
  return 'There is no decision about it alone: it is kept or removed with the object that it belongs to.';
}

/** The object's name once, then `It`: the sections about one object are one story. */
function subjectOf(explanation: Explanation, before: Explanation | undefined): string {
  const name = nameOf(explanation);
  return before !== undefined && nameOf(before) === name ? 'It' : name;
}

interface Section {
  readonly subject: string;
  readonly nowMs: number;
  /** No controller acts now. */
  readonly idle: boolean;
  readonly width: number;
}

function section(explanation: Explanation, { subject, nowMs, idle, width }: Section): readonly string[] {
  const row = rowOf(width);
  return [
    ...wrapped(
      `${subject} ${verdictOf(explanation)} by ${explanation.unit}: ${explanation.reason}`,
      width,
      '    ',
    ),
    ...row('Why', explanation.detail),
    ...row('Policy', policyText(explanation)),
    ...row('Field', explanation.field ?? ''),
    ...row('When', whenText(explanation, nowMs, idle)),
    ...row(changeLabel(explanation), explanation.change),
    ...row('Held by', usersText(explanation.heldBy ?? [])),
    ...row('Size', explanation.onDisk === undefined ? '' : sizeText(explanation.onDisk)),
    ...row('Caution', explanation.caution ?? ''),
  ];
}

function sizeText({ uniqueBytes, sharedBytes, packedBytes, held, inexactBecause }: ImageOnDisk): string {
  const all = shortSizeText(uniqueBytes + sharedBytes);
  const own = sharedBytes === 0 ? '' : `; ${shortSizeText(uniqueBytes)} that no other image has`;
  const kept = held.map(({ by, bytes }) => `; ${by} keeps ${shortSizeText(bytes)}`).join('');
  const doubt = inexactBecause === null ? '' : `; not exact: ${inexactBecause}`;
  return `${all} on the disk, ${shortSizeText(packedBytes)} of them packed${own}${kept}${doubt}`;
}

function stuckSection(
  { cause, since, detail, advice, command }: StuckView,
  { object, explanations, generatedAt }: ExplanationDocument,
  width: number,
): readonly string[] {
  const row = rowOf(width);
  const subject = explanations.length === 0 && object.kind === 'Pod' ? nameOf({ object }) : 'It';
  return [
    `${subject} is stuck: ${cause}`,
    ...row('Since', agoText(since, new Date(generatedAt))),
    ...row('Held by', detail),
    ...row('Remedy', command === null ? advice : `${advice}:`),
    ...commandLines(command),
  ];
}

function nodeSection(
  view: NodeView,
  { object, explanations, generatedAt }: ExplanationDocument,
  width: number,
): readonly string[] {
  const row = rowOf(width);
  const now = new Date(generatedAt);
  const subject = 'text' in object ? `Node ${object.text}` : 'Its node';
  const { ready, problems, taint, advice, command, stuckPods } = view;
  return [
    `${subject} is ${ready ? 'ready' : 'not ready'}${remarkOn(view, explanations.length)}`,
    ...problems.flatMap((problem) => [
      ...row('Problem', `${problem.reason}: ${problem.message}`),
      ...row('Since', problem.since === null ? '' : agoText(problem.since, now)),
      ...commandLines(problem.command),
    ]),
    ...row('Taint', taint ?? ''),
    ...row('Stuck pods', firstOf(stuckPods, maxNames)),
    ...row('Remedy', advice === null ? '' : `${advice}:`),
    ...commandLines(command),
  ];
}

function pullSection(
  { object, generatedAt, pulls = [] }: ExplanationDocument,
  width: number,
): readonly string[] {
  const [first] = pulls;
  if (first === undefined) return [];
  const { reportTime } = first;
  const row = rowOf(width);
  const subject = object.kind === 'Node' ? 'Its pods wait for' : 'It waits for';
  return [
    `${subject} ${counted(pulls.length, 'image')}`,
    ...row('Reported', reportTime === null ? '' : agoText(reportTime, new Date(generatedAt))),
    ...pulls.flatMap((pull) => row('Pull', `${explainPull(pull)}.`)),
  ];
}

/** That nothing is wrong is known only if its objects and its report are. */
function remarkOn({ read, reported, problems, taint }: NodeView, warnings: number): string {
  if (!reported) return ', and no report of its agent is known';
  const isFine = read && warnings === 0 && problems.length === 0 && taint === null;
  return isFine ? ', and dustpan does not warn about it' : '';
}

/** The other formats list all. */
const maxRemovals = 3;

function removalSection(removal: Removal, now: Date, width: number): readonly string[] {
  const row = rowOf(width);
  const { verdict, reason, sentence, policy, bytes, at, evidence } = removal;
  const title = `${nameOf(removal)} was ${participles[verdict]}${reason === null ? '' : `: ${reason}`}`;
  return [
    ...wrapped(title, width, '    '),
    ...row('Meaning', sentence ?? ''),
    ...row('Policy', policy === null ? '' : `GCPolicy ${policy}`),
    ...row('Size', bytes === null ? '' : shortSizeText(bytes)),
    ...row('When', agoText(at, now)),
    ...row('Evidence', evidence),
  ];
}

const agoText = (time: string, now: Date): string => `${time}, ${ageText(time, now)} ago`;

/** Not wrapped, so that it can be copied. */
const commandLines = (command: string | null): readonly string[] =>
  command === null ? [] : [`    ${printable(command)}`];

const rowOf =
  (width: number) =>
  (label: string, text: string): readonly string[] => {
    if (text === '') return [];
    const lines = wrapped(text, width - labelWidth - indent, '');
    return lines.map((line, i) => `${' '.repeat(indent)}${(i === 0 ? label : '').padEnd(labelWidth)}${line}`);
  };

const isRemoved = ({ verdict }: Explanation): boolean => verdict !== 'Keep' && verdict !== 'Warn';

function changeLabel(explanation: Explanation): string {
  if (explanation.verdict === 'Warn') return 'Ends when';
  return isRemoved(explanation) ? 'Kept by' : 'Due when';
}

function verdictOf(explanation: Explanation): string {
  if (explanation.verdict === 'Warn') return 'is warned about';
  if (explanation.verdict === 'Keep') return 'is kept';
  return `${explanation.mode === 'Enforce' ? 'will' : 'would'} be ${participles[explanation.verdict]}`;
}

const participles = { Delete: 'deleted', Remove: 'removed', Evict: 'evicted' } as const;

function nameOf({ object }: Pick<Explanation | Removal, 'object'>): string {
  if (object.kind === 'Pod') {
    const name = `Pod ${object.namespace}/${object.name}`;
    if (!('node' in object)) return name;
    return `${name} (${object.node === null ? 'on no node' : `node ${object.node}`})`;
  }
  const { kind, node, id, path, name, pod } = object;
  if (path !== undefined) return `${kindText[kind]} ${path} on ${node}`;
  if (kind === 'Leftover') return `${kindText[kind]} ${id ?? ''} on ${node}`;
  const short = shortId(id ?? '');
  const known = [name, pod === undefined ? undefined : `of pod ${pod}`].filter((text) => text !== undefined);
  return known.length === 0
    ? `${kindText[kind]} ${short} on ${node}`
    : `${kindText[kind]} ${known.join(' ')} (${short}) on ${node}`;
}

const kindText = {
  Leftover: 'Leftover',
  Node: 'Node',
  Image: 'Image',
  Container: 'Container',
  Sandbox: 'Sandbox',
  LogDirectory: 'Log directory',
  LogLink: 'Log link',
  LogFile: 'Log',
  PodDirectory: 'Pod directory',
  PodCgroup: 'Control group',
  Checkpoint: 'Checkpoint',
} as const;

function policyText({ policy, mode }: Explanation): string {
  if (policy === null) return 'none';
  if (mode === null) return `GCPolicy ${policy} (invalid: it keeps what it governs)`;
  return mode === 'DryRun'
    ? `GCPolicy ${policy} (DryRun: nothing is removed)`
    : `GCPolicy ${policy} (Enforce)`;
}

function whenText(explanation: Explanation, nowMs: number, idle: boolean): string {
  const { mode, eligibleAt } = explanation;
  if (explanation.verdict === 'Warn') return 'Once for this level, by an Event, in mode DryRun as well.';
  if (isRemoved(explanation)) {
    const pass = passText(explanation);
    if (mode === 'Enforce' && idle && (explanation.unit === 'podgc' || explanation.verdict === 'Evict'))
      return `When a controller leads again, ${pass}; none acts now.`;
    return mode === 'Enforce' ? `Now, ${pass}.` : `Never in mode DryRun; in mode Enforce now, ${pass}.`;
  }
  if (eligibleAt === null) return 'Not by time alone.';
  const until = `${eligibleAt}, ${awayText(Date.parse(eligibleAt) - nowMs)}, if nothing else changes`;
  return mode === 'Enforce' ? `${until}.` : `${until}; in mode DryRun it is only counted then.`;
}

function passText({ unit, verdict }: Explanation): string {
  if (unit === 'podgc') return 'in the next pass of the controller';
  const pass = 'in the next pass of the agent';
  return verdict === 'Evict' ? `${pass}: it requests the eviction, the controller verifies and evicts` : pass;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;
const secondMs = 1000;

/** To the minute, or to the second below an hour. */
function awayText(ms: number): string {
  if (ms <= 0) return 'now';
  if (ms >= 2 * dayMs) return `in ${Math.round(ms / dayMs)} days`;
  const step = ms >= hourMs ? minuteMs : secondMs;
  return `in ${formatDuration(Math.ceil(ms / step) * step)}`;
}

/** The other formats list all. */
const maxNames = 4;

function usersText(users: readonly ImageUser[]): string {
  // The line "Why" names a single one.
  if (users.length < 2) return '';
  const shown = users.slice(0, maxNames).map(userText);
  const more = users.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more (-o json lists all)`] : [])].join(', ');
}

function userText({ container, pod }: ImageUser): string {
  const owner = pod === null ? '' : `pod ${pod}`;
  if (container === null) return `${owner} (names it)`;
  return `container ${container.name}${owner === '' ? '' : ` of ${owner}`} (${container.state})`;
}
