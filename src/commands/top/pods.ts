import type { NodeGCReportStatusUsagePod } from '../../api/gen/nodegcreport.gen.ts';
import type { SortField } from './command.ts';
import type { TopFacts, TopNode } from './facts.ts';
import { earlierFirst, type SortValues } from './order.ts';

/** A pod in `-o json`. Fields are those of the report; what is unknown is absent. */
export type PodRow = ReturnType<typeof podRows>[number];

/** The listed pods of a namespace or of all; with a selector, those that it selects. */
export const podRows = (
  nodes: readonly TopNode[],
  { namespace, selected }: Pick<TopFacts, 'namespace' | 'selected'>,
) =>
  nodes.flatMap(({ name: node, usage, stale }) =>
    (usage?.pods ?? [])
      .filter((pod) => pod.namespace === (namespace ?? pod.namespace) && (selected?.has(pod.uid) ?? true))
      .map((pod) => ({
        ...pod,
        node,
        /** Of the limit; absent if a container has none. */
        usedPercent: percentOf(pod),
        measuredTime: usage?.measuredTime,
        /** Whether the values are older than 15 minutes. */
        stale,
      })),
  );

/** A limit of 0 is exceeded by any byte. */
function percentOf({ bytes, limitBytes }: NodeGCReportStatusUsagePod): number | undefined {
  if (limitBytes === undefined) return undefined;
  return limitBytes === 0 ? 100 : Math.round((100 * bytes) / limitBytes);
}

export const podSort: SortValues<SortField<'pods'>, PodRow> = {
  bytes: ({ bytes }) => bytes,
  layers: ({ layersBytes }) => layersBytes,
  volumes: ({ volumesBytes }) => volumesBytes,
  logs: ({ logsBytes }) => logsBytes,
  percent: ({ usedPercent }) => usedPercent,
  node: ({ node }) => node,
  age: ({ measuredTime }) => earlierFirst(measuredTime),
  name: ({ namespace, name }) => `${namespace}/${name}`,
};
