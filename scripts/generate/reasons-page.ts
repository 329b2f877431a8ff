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
  nodeKeepReasons,
  podDeleteReasons,
  podKeepReasons,
  pressureKeepReasons,
  storageKeepReasons,
} from '../../src/api/reasons.ts';
import { evictionReasons } from '../../src/gc/reasons/evictions.ts';
import { containerWarnings } from '../../src/gc/reasons/container-warnings.ts';
import { containerReasons } from '../../src/gc/reasons/containers.ts';
import { imageReasons } from '../../src/gc/reasons/images.ts';
import { pressureReasons } from '../../src/gc/reasons/pressure.ts';
import { storageReasons } from '../../src/gc/reasons/storage.ts';
import { podReasons } from '../../src/gc/reasons/pods.ts';
import { upstreamReason as podWords } from '../../src/controllers/podgc/metrics.ts';
import { code, heading, page, table } from './markdown.ts';

/** docs/reference/reasons.md. */
export function reasonsPage(): string {
  return page('Reasons', 'src/api/reasons.ts', [
    'Every object has one verdict and one reason in every pass: the same word in logs, metrics, Events, `dustpan plan` and `dustpan why`. A policy in mode',
    '`DryRun` has the same verdicts as one in mode `Enforce`, but nothing is changed. Right before each deletion or removal dustpan verifies the object live;',
    'the metrics `…_skipped_…` count the objects that it then keeps.',
    ...podSections(),
    ...imageSections(),
    ...containerSections(),
    ...storageSections(),
    ...pressureSections(),
    ...refusalSections(),
    ...upstreamSection(),
  ]);
}

const podSections = (): readonly string[] => [
  ...heading(2, 'Pods (podgc)'),
  'Verdict `Delete` or `Keep`; the rules apply in the order of the first table, and the first match decides.',
  ...reasonTable('Delete', podDeleteReasons, podReasons),
  ...reasonTable('Keep', podKeepReasons, podReasons),
];

const imageSections = (): readonly string[] => [
  ...heading(2, 'Images (imagegc)'),
  'Verdict `Remove` or `Keep`; by age first, then for space. `NoPolicy` and the reasons below it concern the whole node.',
  ...reasonTable('Remove', imageRemoveReasons, imageReasons),
  ...reasonTable('Keep', [...imageKeepReasons, ...nodeKeepReasons], imageReasons),
];

const containerSections = (): readonly string[] => [
  ...heading(2, 'Containers, sandboxes and logs (containergc)'),
  'Verdict `Remove` or `Keep`. `NoPolicy` and the reasons below it concern the whole node; only `RuleOff` may also concern only sandboxes or logs.',
  ...reasonTable('Remove', containerRemoveReasons, containerReasons),
  'A running container may have a warning as well, with the verdict `Warn`.',
  ...reasonTable('Warn', containerWarnReasons, containerWarnings),
  ...reasonTable('Keep', [...containerKeepReasons, ...nodeKeepReasons], containerReasons),
];

const storageSections = (): readonly string[] => [
  ...heading(2, 'Pods on their nodes (localstorage)'),
  'Verdict `Evict` or `Keep`; the limits are checked in the order of the first table, and the first exceeded one decides. `NoPolicy` and the reasons below',
  'it concern the whole node. The agent only requests an eviction; the controller verifies it.',
  ...reasonTable('Evict', evictionSignals, storageReasons),
  ...reasonTable('Keep', distinct([...storageKeepReasons, ...nodeKeepReasons]), storageReasons),
];

const pressureSections = (): readonly string[] => [
  ...heading(2, 'Pods of nodes under pressure (nodepressure)'),
  'Verdict `Evict` or `Keep`, only with `nodes.nodePressure.evictPods: true`; the signals are those of the kubelet. A `Warn` about a node has the signal as its',
  'reason too, or `memory.available`. `NoPolicy` and the reasons below it concern the whole node. The agent only requests an eviction; the controller verifies it.',
  ...reasonTable('Evict', diskSignals, pressureReasons),
  ...reasonTable('Keep', distinct([...pressureKeepReasons, ...nodeKeepReasons]), pressureReasons),
];

const refusalSections = (): readonly string[] => [
  ...heading(2, 'Requested evictions (localstorage and nodepressure)'),
  'Verdict `Keep`: the controller verifies each eviction that an agent requests, and has its own reasons to keep a pod.',
  ...reasonTable('Not evicted', evictionKeepReasons, evictionReasons),
];

const distinct = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];

function reasonTable<R extends string>(
  verdict: 'Delete' | 'Remove' | 'Evict' | 'Warn' | 'Keep' | 'Not evicted',
  reasons: readonly R[],
  meanings: Readonly<Record<R, { readonly meaning: string; readonly change: string }>>,
): readonly string[] {
  const isKept = verdict === 'Keep' || verdict === 'Not evicted';
  const acted = verdict === 'Warn' ? 'Change that ends it' : 'Change that keeps it';
  const change = isKept ? 'Change that makes it due' : acted;
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
