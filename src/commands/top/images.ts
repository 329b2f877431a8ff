import type { SortField } from './command.ts';
import type { TopNode } from './facts.ts';
import { sum } from '../../runtime/sum.ts';
import { earlierFirst, timesOf, type SortValues } from './order.ts';

/** An image in `-o json`, on the nodes in question; what is unknown is absent. */
export type ImageRow = ReturnType<typeof imageRows>[number];

/** The listed images, each with the nodes that hold it. */
export function imageRows(nodes: readonly TopNode[]) {
  const copies = nodes.flatMap(({ name: node, usage, stale }) =>
    (usage?.images ?? []).map(({ id, name, bytes, inUse, isKept = false, unusedSince }) => ({
      id,
      name,
      measuredTime: usage?.measuredTime,
      stale,
      /** `kept`: a pin or the policy protects it. */
      on: { node, bytes, inUse, kept: isKept, unusedSince },
    })),
  );
  return [...Map.groupBy(copies, ({ id }) => id)].map(([id, group]) => {
    const on = group.map((copy) => copy.on);
    return {
      id,
      /** A tag, else a digest. */
      name: group.find(({ name }) => name !== undefined)?.name,
      /** Of one copy; the largest, if they differ. */
      sizeBytes: Math.max(...on.map(({ bytes }) => bytes)),
      /** Of all copies. */
      bytes: sum(on.map(({ bytes }) => bytes)),
      /** Of the copies that nothing uses, and that neither a pin nor the policy protects. */
      gainBytes: on.reduce((all, { bytes, inUse, kept }) => (inUse || kept ? all : all + bytes), 0),
      /** Since when the copies that are unused now are all unused; absent if all are in use. */
      unusedSince: timesOf(on.map(({ unusedSince }) => unusedSince)).at(-1),
      /** The earliest of its nodes. */
      measuredTime: timesOf(group.map(({ measuredTime }) => measuredTime))[0],
      /** Whether the values of a node are older than 15 minutes. */
      stale: group.some(({ stale }) => stale),
      nodes: on,
    };
  });
}

export const imageSort: SortValues<SortField<'images'>, ImageRow> = {
  bytes: ({ bytes }) => bytes,
  size: ({ sizeBytes }) => sizeBytes,
  gain: ({ gainBytes }) => gainBytes,
  nodes: ({ nodes }) => nodes.length,
  'unused-since': ({ unusedSince }) => earlierFirst(unusedSince),
  name: ({ name }) => name,
};
