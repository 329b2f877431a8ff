import type { SortField } from './command.ts';
import type { TopFacts, TopNode } from './facts.ts';
import { sum } from '../../runtime/sum.ts';
import { earlierFirst, sumOf, timesOf, type SortValues } from './order.ts';

/** A namespace in `-o json`, on the nodes in question; what is unknown is absent. */
export type NamespaceRow = ReturnType<typeof namespaceRows>[number];

export function namespaceRows(
  nodes: readonly TopNode[],
  { namespace, selected }: Pick<TopFacts, 'namespace' | 'selected'>,
) {
  const parts = nodes.flatMap(({ usage, stale }) =>
    (usage?.namespaces ?? [])
      .filter(({ name }) => name === (namespace ?? name) && (selected?.has(name) ?? true))
      .map((one) => ({ ...one, measuredTime: usage?.measuredTime, stale })),
  );
  const incomplete = nodes
    .filter(({ usage }) => usage?.namespaces === undefined || usage.otherNamespaces !== undefined)
    .map(({ usage }) => new Set(usage?.namespaces?.map(({ name }) => name)));
  return [...Map.groupBy(parts, ({ name }) => name)].map(([name, group]) => {
    const growth = sum(group.map(({ growthBytesPerHour = 0 }) => growthBytesPerHour));
    return {
      name,
      /** Nodes on which it is listed. */
      nodes: group.length,
      pods: sum(group.map(({ pods }) => pods)),
      bytes: sum(group.map(({ bytes }) => bytes)),
      layersBytes: sumOf(group.map(({ layersBytes }) => layersBytes)),
      volumesBytes: sumOf(group.map(({ volumesBytes }) => volumesBytes)),
      logsBytes: sumOf(group.map(({ logsBytes }) => logsBytes)),
      /** Absent if unknown, or if nothing grows. */
      growthBytesPerHour: growth > 0 ? growth : undefined,
      /** Whether a node may have more of it: one that lists no namespaces, or not all, or has not measured all of its pods. */
      lowerBound:
        group.some(({ lowerBound }) => lowerBound) || incomplete.some((listed) => !listed.has(name)),
      /** The earliest of its nodes. */
      measuredTime: timesOf(group.map(({ measuredTime }) => measuredTime))[0],
      /** Whether the values of a node are older than 15 minutes. */
      stale: group.some(({ stale }) => stale),
    };
  });
}

export const namespaceSort: SortValues<SortField<'namespaces'>, NamespaceRow> = {
  bytes: ({ bytes }) => bytes,
  layers: ({ layersBytes }) => layersBytes,
  volumes: ({ volumesBytes }) => volumesBytes,
  logs: ({ logsBytes }) => logsBytes,
  growth: ({ growthBytesPerHour }) => growthBytesPerHour,
  pods: ({ pods }) => pods,
  nodes: ({ nodes }) => nodes,
  age: ({ measuredTime }) => earlierFirst(measuredTime),
  name: ({ name }) => name,
};
