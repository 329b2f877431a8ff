import type { NodeGCReportStatusUsage } from '../../api/gen/nodegcreport.gen.ts';
import type { TopQuestion } from './command.ts';
import { nodesInQuestion, type TopFacts, type TopNode } from './facts.ts';
import { imageRows, imageSort, type ImageRow } from './images.ts';
import { namespaceRows, namespaceSort, type NamespaceRow } from './namespaces.ts';
import { nodeRow, nodeSort, type NodeRow } from './nodes.ts';
import { notesOf, type TopNote } from './notes.ts';
import { sortedBy } from './order.ts';
import { sum } from '../../runtime/sum.ts';
import { podRows, podSort, type PodRow } from './pods.ts';

/** `dustpan top -o json`: the usage that agents reported last. Times are RFC 3339; what is unknown is absent. */
export type TopView = TopRows & {
  readonly apiVersion: 'gc.dustpan.dev/v1alpha1';
  /** What is unknown, and why. */
  readonly notes: readonly TopNote[];
  /** Of the nodes of `--node`; without it, for nodes those of the three that are full first. */
  readonly forecasts: ReturnType<typeof forecastsOf>;
};

type TopRows =
  | { readonly kind: 'TopNodes'; readonly items: readonly NodeRow[] }
  | { readonly kind: 'TopNamespaces'; readonly items: readonly NamespaceRow[]; readonly rest: Rest }
  | { readonly kind: 'TopPods'; readonly items: readonly PodRow[]; readonly rest: Rest }
  | { readonly kind: 'TopImages'; readonly items: readonly ImageRow[]; readonly rest: Rest };

/** The smaller objects that reports have no room for; a namespace or an image counts once for each node. */
interface Rest {
  /** Absent if unknown. */
  readonly count: number | undefined;
  /** Absent if unknown. */
  readonly bytes: number | undefined;
}

export function topView(facts: TopFacts, question: TopQuestion, now: Date): TopView {
  const nodes = nodesInQuestion(facts, question, now);
  return {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    ...rowsOf(nodes, facts, question),
    notes: notesOf(nodes, facts, now),
    forecasts: forecastsOf(nodes, question),
  };
}

function rowsOf(
  nodes: readonly TopNode[],
  facts: TopFacts,
  { kind, sortBy }: Pick<TopQuestion, 'kind' | 'sortBy'>,
): TopRows {
  const usages = nodes.flatMap(({ usage }) => usage ?? []);
  switch (kind) {
    case 'nodes':
      return { kind: 'TopNodes', items: sortedBy(nodes.map(nodeRow), nodeSort, sortBy) };
    case 'namespaces': {
      // It is unknown which of the others the filter selects.
      const isFiltered = facts.namespace !== undefined || facts.selected !== undefined;
      const rest = added(isFiltered ? [] : usages.map(({ otherNamespaces }) => otherNamespaces));
      const items = sortedBy(namespaceRows(nodes, facts), namespaceSort, sortBy);
      return { kind: 'TopNamespaces', items, rest };
    }
    case 'pods': {
      const items = sortedBy(podRows(nodes, facts), podSort, sortBy);
      return { kind: 'TopPods', items, rest: restOfPods(items, usages, facts) };
    }
    case 'images': {
      const rest = added(usages.map(({ otherImages }) => otherImages));
      return { kind: 'TopImages', items: sortedBy(imageRows(nodes), imageSort, sortBy), rest };
    }
  }
}

/** Absent numbers are those of nodes that list everything. */
interface Part {
  readonly count?: number | undefined;
  readonly bytes?: number | undefined;
}

const added = (parts: readonly (Part | undefined)[]) => ({
  count: sum(parts.map((part) => part?.count ?? 0)),
  bytes: sum(parts.map((part) => part?.bytes ?? 0)),
});

/** The sizes of pods that are selected by their labels are unknown if they are not listed. */
function restOfPods(
  items: readonly PodRow[],
  usages: readonly NodeGCReportStatusUsage[],
  { namespace, selected }: Pick<TopFacts, 'namespace' | 'selected'>,
): Rest {
  if (selected !== undefined) return { count: Math.max(0, selected.size - items.length), bytes: undefined };
  const isListed = (one: NodeGCReportStatusUsage): boolean =>
    one.otherNamespaces === undefined || (one.namespaces ?? []).some(({ name }) => name === namespace);
  if (namespace !== undefined && !usages.every(isListed)) return { count: undefined, bytes: undefined };
  const all = added(usages.map((usage) => measuredPods(usage, namespace)));
  const listed = added(items);
  return {
    count: Math.max(0, all.count - items.length),
    bytes: Math.max(0, all.bytes - listed.bytes),
  };
}

/** `namespace` undefined = of all. */
function measuredPods(
  { podCount, namespaces = [], otherNamespaces }: NodeGCReportStatusUsage,
  namespace: string | undefined,
): Part {
  if (namespace === undefined)
    return { count: podCount, bytes: added([...namespaces, otherNamespaces]).bytes };
  const one = namespaces.find(({ name }) => name === namespace);
  return { count: one?.pods, bytes: one?.bytes };
}

const mostForecasts = 3;

/** Those of the nodes that are full first. */
function forecastsOf(nodes: readonly TopNode[], { kind, nodes: names }: Pick<TopQuestion, 'kind' | 'nodes'>) {
  const forecasts = sortedBy(nodes.map(nodeRow), nodeSort, 'full').map(
    ({ name, measuredTime, stale, forecast, fileSystems }) => ({
      node: name,
      measuredTime,
      /** Whether it is older than 15 minutes. */
      stale,
      /** Absent if unknown, or if no disk is full within a week. */
      forecast,
      /** Of the fullest disk that grows; absent if none is known to grow. */
      growthBytesPerHour: fileSystems.flatMap((disk) => disk.growthBytesPerHour ?? [])[0],
    }),
  );
  if (names !== undefined) return forecasts;
  const current = forecasts.filter(({ forecast, stale }) => forecast !== undefined && !stale);
  return kind === 'nodes' ? current.slice(0, mostForecasts) : [];
}
