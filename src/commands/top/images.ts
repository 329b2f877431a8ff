import type { SortField } from './command.ts';
import type { TopNode } from './facts.ts';
import { earlierFirst, timesOf, type SortValues } from './order.ts';

/** An image in `-o json`, on the nodes in question; what is unknown is absent. */
export interface ImageRow {
  readonly id: string;
  /** A tag, else a digest. */
  readonly name: string | undefined;
  /** Of one copy; the largest, if they differ. */
  readonly sizeBytes: number;
  /** Of all copies. */
  readonly bytes: number;
  /** Of the copies that nothing uses, and that neither a pin nor the policy protects. */
  readonly gainBytes: number;
  /** Since when the copies that are unused now are all unused; absent if all are in use. */
  readonly unusedSince: string | undefined;
  /** The earliest of its nodes. */
  readonly measuredTime: string | undefined;
  /** Whether the values of a node are older than 15 minutes. */
  readonly stale: boolean;
  readonly nodes: readonly ImageOnNode[];
}

interface ImageOnNode {
  readonly node: string;
  readonly bytes: number;
  readonly inUse: boolean;
  /** Whether a pin or the policy protects it. */
  readonly kept: boolean;
  readonly unusedSince: string | undefined;
}

/** The listed images, each with the nodes that hold it. */
export function imageRows(nodes: readonly TopNode[]): readonly ImageRow[] {
  const copies = nodes.flatMap(({ name: node, usage, stale }) =>
    (usage?.images ?? []).map(({ id, name, bytes, inUse, isKept = false, unusedSince }) => ({
      id,
      name,
      measuredTime: usage?.measuredTime,
      stale,
      on: { node, bytes, inUse, kept: isKept, unusedSince },
    })),
  );
  return [...Map.groupBy(copies, ({ id }) => id)].map(([id, group]) => {
    const on = group.map((copy) => copy.on);
    return {
      id,
      name: group.find(({ name }) => name !== undefined)?.name,
      sizeBytes: Math.max(...on.map(({ bytes }) => bytes)),
      bytes: on.reduce((all, { bytes }) => all + bytes, 0),
      gainBytes: on.reduce((all, { bytes, inUse, kept }) => (inUse || kept ? all : all + bytes), 0),
      unusedSince: timesOf(on.map(({ unusedSince }) => unusedSince)).at(-1),
      measuredTime: timesOf(group.map(({ measuredTime }) => measuredTime))[0],
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
