import { columns, longSpanText, paragraph, type Column } from '../../process/table.ts';
import { printable } from '../../runtime/text/printable.ts';
import { quantityText } from '../../runtime/text/quantity.ts';
import { compactQuantityText } from '../../runtime/text/size-text.ts';
import { boundText, noteText } from '../top/table.ts';
import { workloadText } from '../top/workloads.ts';
import {
  partText,
  type NoValues,
  type Suggestion,
  type SuggestedPart,
  type SuggestView,
} from './suggestions.ts';

interface Line {
  readonly one: Suggestion;
  /** undefined = the pod as a whole. */
  readonly part: SuggestedPart | undefined;
}

const changeText = (before: number | undefined, after: number | undefined): string => {
  const [from, to] = [before, after].map((bytes) => (bytes === undefined ? '-' : quantityText(bytes)));
  return from === to ? (to ?? '') : `${from ?? ''} → ${to ?? ''}`;
};

function fitText({ podsPerNode }: Suggestion): string {
  if (podsPerNode === undefined) return '-';
  const { least, most } = podsPerNode;
  return least === most ? String(least) : `${least}-${most}`;
}

export const suggestLayout: readonly Column<Line>[] = [
  { title: 'NAMESPACE', text: ({ one, part }) => (part === undefined ? one.namespace : ''), max: 63 },
  { title: 'WORKLOAD', text: ({ one, part }) => (part === undefined ? workloadText(one) : ''), max: 253 },
  { title: 'PART', text: ({ part }) => (part === undefined ? 'pod' : partText(part)) },
  {
    title: 'HIGHEST',
    text: ({ one, part }) => (part === undefined ? highestText(one) : compactQuantityText(part.highestBytes)),
    right: true,
  },
  {
    title: 'REQUEST',
    text: ({ one, part }) =>
      changeText((part ?? one).present.requestBytes, (part ?? one).suggested.requestBytes),
  },
  {
    title: 'LIMIT',
    text: ({ one, part }) => changeText((part ?? one).present.limitBytes, (part ?? one).suggested.limitBytes),
  },
  { title: 'FIT', text: ({ one, part }) => (part === undefined ? fitText(one) : ''), right: true },
  {
    title: 'WATCHED',
    text: ({ one, part }) => (part === undefined ? longSpanText(one.watchedSeconds * 1000) : ''),
    right: true,
  },
];

const scriptLayout: readonly Column<Line>[] = [
  { title: 'NAMESPACE', text: ({ one }) => one.namespace },
  { title: 'WORKLOAD', text: ({ one }) => workloadText(one) },
  ...suggestLayout.slice(2),
];

/** A lower bound, if a node that does not list the workload may have a higher one, or is unknown. */
const highestText = ({ highestBytes, unlistedBytes, hasUnknownNodes }: Suggestion): string =>
  boundText(hasUnknownNodes || unlistedBytes > highestBytes, compactQuantityText(highestBytes));

/** The pod as a whole, then its parts. */
export const suggestLines = (given: readonly Suggestion[]): readonly Line[] =>
  given.flatMap((one) => [{ one, part: undefined }, ...one.parts.map((part) => ({ one, part }))]);

/** For scripts: each row has the names of its workload. */
export const suggestRows = ({ items }: SuggestView): readonly string[] =>
  columns(scriptLayout, suggestLines(items.filter(({ reason }) => reason === undefined)), Infinity)
    .slice(1)
    .map((line) => line.trimEnd());

/** The suggestions for people: what is unknown, the values, who was over a present limit, and why there are no values. */
export function suggestTable(view: SuggestView, width: number | undefined, isAll = false): readonly string[] {
  const { items, notes } = view;
  const lines = (text: string): readonly string[] => paragraph(text, width ?? 80);
  const given = items.filter(({ reason }) => reason === undefined);
  const rows = suggestLines(given);
  const blocks = [
    notes.flatMap((note) => lines(`! ${noteText(note)}`)),
    items.length === 0 ? lines(`${nothing}${isAll ? '' : ' -A lists those of all namespaces.'}`) : [],
    rows.length === 0 ? [] : columns(suggestLayout, rows, width ?? Infinity).map((line) => line.trimEnd()),
    items.flatMap((one) => lines(whyNone(one))).filter((line) => line !== ''),
    items.flatMap((one) => lines(exceededText(one))).filter((line) => line !== ''),
    nextLines(given).flatMap(lines),
  ];
  return blocks.filter((block) => block.length > 0).flatMap((block, i) => (i === 0 ? block : ['', ...block]));
}

/** Says what is known: it is not that none needs a limit. */
const nothing =
  'No workload is listed: on the nodes that agents have watched no pod has used 64Mi, or half of a limit.';

const reasons: Readonly<Record<NoValues, string>> = {
  WatchedLessThanADay: 'a day of watching is needed',
  NotMeasured: 'the kubelet has not measured each of its containers and emptyDirs',
  TooManyParts: 'it has more than 16 containers and emptyDirs',
  NoContainer: 'its containers are unknown',
};

/** '' = there are values. */
function whyNone({ reason, watchedSeconds, ...one }: Suggestion): string {
  if (reason === undefined) return '';
  const watched =
    reason === 'WatchedLessThanADay' ? `, and it was watched for ${longSpanText(watchedSeconds * 1000)}` : '';
  return `Nothing for ${workloadText(one)} in ${one.namespace}: ${reasons[reason]}${watched}.`;
}

/** '' = none was. */
function exceededText({ exceeded, highestPod = 'a pod', ...one }: Suggestion): string {
  const texts = exceeded.map(
    ({ subject, usedBytes, limitBytes }) =>
      `${subject === 'pod' ? `pod ${highestPod}` : subject} used ${compactQuantityText(usedBytes)} of ${quantityText(limitBytes)}`,
  );
  return texts.length === 0
    ? ''
    : `The present limits of ${workloadText(one)} in ${one.namespace} were exceeded, so the kubelet evicts: ${texts.join(', ')}.`;
}

function nextLines([first]: readonly Suggestion[]): readonly string[] {
  if (first === undefined) return [];
  const name = `${workloadText(first)} -n ${first.namespace}`;
  return [`Next: 'dustpan suggest ${name} -o yaml' writes a patch for kubectl. dustpan applies nothing.`];
}

/** The kinds whose pods follow a changed template. */
const templates: Readonly<Record<string, (pod: object) => object>> = {
  Deployment: (pod) => ({ spec: { template: { spec: pod } } }),
  StatefulSet: (pod) => ({ spec: { template: { spec: pod } } }),
  DaemonSet: (pod) => ({ spec: { template: { spec: pod } } }),
  CronJob: (pod) => ({ spec: { jobTemplate: { spec: { template: { spec: pod } } } } }),
};

export const isPatchable = ({ kind, reason }: Suggestion): boolean =>
  reason === undefined && Object.hasOwn(templates, kind);

/** A document for each workload that has a template: a strategic merge patch, below a comment that says what it changes. */
export function patchesText(items: readonly Suggestion[], yamlText: (value: object) => string): string {
  return items
    .filter(isPatchable)
    .map((one) => {
      const { kind, namespace, name, watchedSeconds, hasUnknownNodes } = one;
      const comments = [
        `${workloadText(one)} in ${namespace}, watched for ${longSpanText(watchedSeconds * 1000)}: the highest of one pod is ${highestText(one)}`,
        hasUnknownNodes
          ? 'A node was watched for less than a day, or not at all: a pod may have used more there'
          : '',
        exceededText(one),
        one.podsPerNode === undefined ? '' : `${fitText(one)} of its pods fit on a node`,
        `kubectl patch ${kind.toLowerCase()} ${name} -n ${namespace} --patch-file FILE`,
      ];
      const head = comments.filter((text) => text !== '').map((text) => `# ${printable(text)}\n`);
      return head.join('') + yamlText(templates[kind]?.(podOf(one)) ?? {});
    })
    .join('---\n');
}

const resource = 'ephemeral-storage';

function podOf({ parts }: Suggestion): object {
  const containersOf = (kind: SuggestedPart['kind']): readonly object[] =>
    parts.filter((part) => part.kind === kind).map(containerOf);
  const volumes = parts.filter(({ kind }) => kind === 'volume');
  const sidecars = containersOf('sidecar');
  return {
    containers: containersOf('container'),
    ...(sidecars.length === 0 ? undefined : { initContainers: sidecars }),
    ...(volumes.length === 0
      ? undefined
      : {
          volumes: volumes.map(({ name, suggested }) => ({
            name,
            emptyDir: { sizeLimit: quantityText(suggested.limitBytes ?? 0) },
          })),
        }),
  };
}

const containerOf = ({ name, suggested }: SuggestedPart): object => ({
  name,
  resources: {
    requests: { [resource]: quantityText(suggested.requestBytes ?? 0) },
    limits: { [resource]: quantityText(suggested.limitBytes ?? 0) },
  },
});
