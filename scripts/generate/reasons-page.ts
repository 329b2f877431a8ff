import { upstreamReason as imageWords } from '../../src/agent/imagegc/metrics.ts';
import { evictionSignals } from '../../src/api/local-storage.ts';
import {
  containerKeepReasons,
  containerRemoveReasons,
  evictionKeepReasons,
  imageKeepReasons,
  imageRemoveReasons,
  nodeKeepReasons,
  podDeleteReasons,
  podKeepReasons,
  storageKeepReasons,
} from '../../src/api/reasons.ts';
import { evictionReasons } from '../../src/gc/reasons/evictions.ts';
import { containerReasons } from '../../src/gc/reasons/containers.ts';
import { imageReasons } from '../../src/gc/reasons/images.ts';
import { storageReasons } from '../../src/gc/reasons/storage.ts';
import { podReasons } from '../../src/gc/reasons/pods.ts';
import { upstreamReason as podWords } from '../../src/controllers/podgc/metrics.ts';
import { code, heading, page, table } from './markdown.ts';

/** docs/reference/reasons.md: why something goes or stays, unit by unit. */
export function reasonsPage(): string {
  return page('Reasons', 'src/api/reasons.ts', [
    'Every object has one verdict and one reason in every pass: the same word in logs, metrics, Events, `dustpan plan` and',
    '`dustpan why`. A policy in mode `DryRun` gives the same verdicts as one in mode `Enforce`, and nothing is touched. What may go is looked at once',
    'more, live, right before it goes; a reason to stay that is found then is in the metrics `…_skipped_…`.',
    ...podSections(),
    ...imageSections(),
    ...containerSections(),
    ...storageSections(),
    ...upstreamSection(),
  ]);
}

const podSections = (): readonly string[] => [
  ...heading(2, 'Pods (podgc)'),
  'Verdict `Delete` or `Keep`; the rules apply in the order of the first table, and the first that hits decides.',
  ...reasonTable('Delete', podDeleteReasons, podReasons),
  ...reasonTable('Keep', podKeepReasons, podReasons),
];

const imageSections = (): readonly string[] => [
  ...heading(2, 'Images (imagegc)'),
  'Verdict `Remove` or `Keep`; by age first, then for space. `NoPolicy` and the reasons below it are about the node as a whole.',
  ...reasonTable('Remove', imageRemoveReasons, imageReasons),
  ...reasonTable('Keep', [...imageKeepReasons, ...nodeKeepReasons], imageReasons),
];

const containerSections = (): readonly string[] => [
  ...heading(2, 'Containers, sandboxes and logs (containergc)'),
  'Verdict `Remove` or `Keep`. `NoPolicy` and the reasons below it are about the node as a whole; only `RuleOff` may also be about sandboxes or logs alone.',
  ...reasonTable('Remove', containerRemoveReasons, containerReasons),
  ...reasonTable('Keep', [...containerKeepReasons, ...nodeKeepReasons], containerReasons),
];

const storageSections = (): readonly string[] => [
  ...heading(2, 'Pods on their nodes (localstorage)'),
  'Verdict `Evict` or `Keep`; the limits are checked in the order of the first table, and the first that is exceeded decides. `NoPolicy` and the reasons below it are',
  'about the node as a whole. The agent only requests an eviction; the controller checks everything again, and has its own reasons to keep a pod.',
  ...reasonTable('Evict', evictionSignals, storageReasons),
  ...reasonTable('Keep', distinct([...storageKeepReasons, ...nodeKeepReasons]), storageReasons),
  ...reasonTable('Not evicted', evictionKeepReasons, evictionReasons),
];

const distinct = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];

function reasonTable<R extends string>(
  verdict: 'Delete' | 'Remove' | 'Evict' | 'Keep' | 'Not evicted',
  reasons: readonly R[],
  meanings: Readonly<Record<R, { readonly meaning: string; readonly change: string }>>,
): readonly string[] {
  const goes = verdict === 'Delete' || verdict === 'Remove' || verdict === 'Evict';
  const change = goes ? 'What would keep it' : 'When it may go';
  const rows = reasons.map((reason) => [code(reason), meanings[reason].meaning, meanings[reason].change]);
  return table([`${verdict}, because`, '', change], rows);
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
    "Metrics that mirror one of upstream's have upstream's values of the label `reason`, so that dashboards and alerts need but another name. What upstream",
    'does not have is written in the same way. All other metrics have our reasons unchanged.',
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
