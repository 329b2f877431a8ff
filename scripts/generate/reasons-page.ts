import { upstreamReason as imageWords } from '../../src/agent/imagegc/metrics.ts';
import { evictionSignals } from '../../src/api/local-storage.ts';
import { diskSignals } from '../../src/api/node-pressure.ts';
import {
  containerKeepReasons,
  containerRemoveReasons,
  containerWarnReasons,
  evictionKeepReasons,
  imageKeepReasons,
  imageRemoveReasons,
  leftoverKeepReasons,
  leftoverRemoveReasons,
  nodeKeepReasons,
  podDeleteReasons,
  podKeepReasons,
  pressureKeepReasons,
  storageKeepReasons,
} from '../../src/api/reasons.ts';
import { evictionReasons } from '../../src/controllers/eviction/words.ts';
import { containerReasons } from '../../src/agent/containergc/words.ts';
import { imageReasons } from '../../src/agent/imagegc/words.ts';
import { leftoverReasons } from '../../src/agent/leftovers/words.ts';
import { storageReasons } from '../../src/agent/localstorage/words.ts';
import { pressureReasons } from '../../src/agent/nodepressure/words.ts';
import { podReasons } from '../../src/controllers/podgc/words.ts';
import { upstreamReason as podWords } from '../../src/controllers/podgc/metrics.ts';
import { code, heading, page, table } from './markdown.ts';

type Verdict = 'Delete' | 'Remove' | 'Evict' | 'Warn' | 'Keep' | 'Not evicted';

/** The sentences of reasons, and the file that has them. */
interface Texts {
  readonly file: string;
  readonly of: Readonly<Record<string, { readonly meaning: string; readonly change: string } | undefined>>;
}

interface ReasonTable {
  readonly verdict: Verdict;
  readonly reasons: readonly string[];
  readonly texts: Texts;
  /** The paragraph above the table. */
  readonly intro?: string;
}

const podTexts: Texts = { file: 'src/controllers/podgc/words.ts', of: podReasons };
const imageTexts: Texts = { file: 'src/agent/imagegc/words.ts', of: imageReasons };
const containerTexts: Texts = { file: 'src/agent/containergc/words.ts', of: containerReasons };
const leftoverTexts: Texts = { file: 'src/agent/leftovers/words.ts', of: leftoverReasons };
const storageTexts: Texts = { file: 'src/agent/localstorage/words.ts', of: storageReasons };
const pressureTexts: Texts = { file: 'src/agent/nodepressure/words.ts', of: pressureReasons };
const evictionTexts: Texts = { file: 'src/controllers/eviction/words.ts', of: evictionReasons };

const sections: readonly (readonly [title: string, ...tables: readonly ReasonTable[]])[] = [
  [
    'Pods (podgc)',
    {
      intro:
        'Verdict `Delete` or `Keep`; the rules apply in the order of the first table, and the first match decides.',
      verdict: 'Delete',
      reasons: podDeleteReasons,
      texts: podTexts,
    },
    { verdict: 'Keep', reasons: podKeepReasons, texts: podTexts },
  ],
  [
    'Images (imagegc)',
    {
      intro:
        'Verdict `Remove` or `Keep`; by age first, then for space. `NoPolicy` and the reasons below it concern the whole node.',
      verdict: 'Remove',
      reasons: imageRemoveReasons,
      texts: imageTexts,
    },
    { verdict: 'Keep', reasons: [...imageKeepReasons, ...nodeKeepReasons], texts: imageTexts },
  ],
  [
    'Containers, sandboxes and logs (containergc)',
    {
      intro:
        'Verdict `Remove` or `Keep`. `NoPolicy` and the reasons below it concern the whole node; only `RuleOff` may also concern only sandboxes or logs.',
      verdict: 'Remove',
      reasons: containerRemoveReasons,
      texts: containerTexts,
    },
    {
      intro: 'A running container may have a warning as well, with the verdict `Warn`.',
      verdict: 'Warn',
      reasons: containerWarnReasons,
      texts: containerTexts,
    },
    { verdict: 'Keep', reasons: [...containerKeepReasons, ...nodeKeepReasons], texts: containerTexts },
  ],
  [
    'Leftovers of containerd (leftovers)',
    {
      intro: 'Verdict `Remove` or `Keep`. `NoPolicy` and the reasons below it concern the whole node.',
      verdict: 'Remove',
      reasons: leftoverRemoveReasons,
      texts: leftoverTexts,
    },
    {
      verdict: 'Keep',
      reasons: distinct([...leftoverKeepReasons, ...nodeKeepReasons]),
      texts: leftoverTexts,
    },
  ],
  [
    'Pods on their nodes (localstorage)',
    {
      intro:
        'Verdict `Evict` or `Keep`; the limits are checked in the order of the first table, and the first exceeded one decides. `NoPolicy` and the reasons below\nit concern the whole node. The agent only requests an eviction; the controller verifies it.',
      verdict: 'Evict',
      reasons: evictionSignals,
      texts: storageTexts,
    },
    { verdict: 'Keep', reasons: distinct([...storageKeepReasons, ...nodeKeepReasons]), texts: storageTexts },
  ],
  [
    'Pods of nodes under pressure (nodepressure)',
    {
      intro:
        'Verdict `Evict` or `Keep`, only with `nodes.nodePressure.evictPods: true`; the signals are those of the kubelet. A `Warn` about a node has the signal as its\nreason too, or `memory.available`. `NoPolicy` and the reasons below it concern the whole node. The agent only requests an eviction; the controller verifies it.',
      verdict: 'Evict',
      reasons: diskSignals,
      texts: pressureTexts,
    },
    {
      verdict: 'Keep',
      reasons: distinct([...pressureKeepReasons, ...nodeKeepReasons]),
      texts: pressureTexts,
    },
  ],
  [
    'Requested evictions (localstorage and nodepressure)',
    {
      intro:
        'Verdict `Keep`: the controller verifies each eviction that an agent requests, and has its own reasons to keep a pod.',
      verdict: 'Not evicted',
      reasons: evictionKeepReasons,
      texts: evictionTexts,
    },
  ],
];

/** One line for each reason that has no sentences yet. */
export const reasonsWithoutText = (): readonly string[] =>
  sections
    .flatMap(([, ...tables]) => tables)
    .flatMap(({ reasons, texts }) =>
      reasons
        .filter((reason) => texts.of[reason] === undefined)
        .map((reason) => `${texts.file}: ${reason} of src/api/reasons.ts has no text`),
    );

/** docs/reference/reasons.md. */
export function reasonsPage(): string {
  return page('Reasons', 'src/api/reasons.ts', [
    'Every object has one verdict and one reason in every pass: the same word in logs, metrics, Events, `dustpan plan` and `dustpan why`. A policy in mode',
    '`DryRun` has the same verdicts as one in mode `Enforce`, but nothing is changed. Right before each deletion or removal dustpan verifies the object live;',
    'the metrics `…_skipped_…` count the objects that it then keeps.',
    ...sections.flatMap(([title, ...tables]) => [...heading(2, title), ...tables.flatMap(linesOf)]),
    ...upstreamSection(),
  ]);
}

function linesOf({ intro, verdict, reasons, texts }: ReasonTable): readonly string[] {
  const isKept = verdict === 'Keep' || verdict === 'Not evicted';
  const acted = verdict === 'Warn' ? 'Change that ends it' : 'Change that keeps it';
  const change = isKept ? 'Change that makes it due' : acted;
  const rows = reasons.map((reason) => [
    code(reason),
    texts.of[reason]?.meaning ?? '',
    texts.of[reason]?.change ?? '',
  ]);
  return [...(intro === undefined ? [] : [intro]), ...table([`${verdict}, because`, '', change], rows)];
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}

function upstreamSection(): readonly string[] {
  const rowsOf = (words: Readonly<Record<string, string>>, ours: string, theirs: string) =>
    Object.entries(words).map(([reason, word]) => [
      code(reason),
      code(ours),
      code(`reason="${word}"`),
      upstreamWords.has(word) ? code(theirs) : 'none',
    ]);
  return [
    ...heading(2, "Reasons in upstream's words"),
    "Metrics that correspond to one of upstream have upstream's values of the label `reason`, so that dashboards and alerts only need another name.",
    "dustpan's own reasons are written in the same form there. All other metrics have the reasons unchanged.",
    ...table(
      ['Reason', 'Our metric', 'Its label', "Upstream's metric with this value"],
      [
        ...rowsOf(
          podWords,
          'dustpan_pod_gc_force_delete_pods_total',
          'pod_gc_collector_force_delete_pods_total',
        ),
        ...rowsOf(
          imageWords,
          'dustpan_image_garbage_collected_total',
          'kubelet_image_garbage_collected_total',
        ),
      ],
    ),
    '',
    '`dustpan_pod_gc_force_delete_pod_errors_total` has the same values as `dustpan_pod_gc_force_delete_pods_total`.',
  ];
}

/** pkg/controller/podgc/metrics and pkg/kubelet/metrics. */
const upstreamWords: ReadonlySet<string> = new Set([
  ...['terminated', 'out-of-service', 'orphaned', 'unscheduled'],
  ...['age', 'space'],
]);
