/** What has an age and an id. */
interface Dated {
  readonly id: string;
  readonly attempt: number;
  /** Unix nanoseconds. */
  readonly createdAtNs: bigint;
}

const msInNs = 1_000_000n;

/** Newest first; of two made at once the later attempt, then the greater id: so that a list in any order gives one order. */
export function byNewest(a: Dated, b: Dated): number {
  if (a.createdAtNs !== b.createdAtNs) return a.createdAtNs > b.createdAtNs ? -1 : 1;
  if (a.attempt !== b.attempt) return b.attempt - a.attempt;
  return a.id < b.id ? 1 : -1;
}

/** Unix milliseconds, rounded up. */
export const createdMs = ({ createdAtNs }: Dated): number => Number((createdAtNs + msInNs - 1n) / msInNs);

/** Whether it was created later, strictly and to the nanosecond, as the kubelet compares (pkg/kubelet/kuberuntime/kuberuntime_gc.go). */
export const isCreatedAfter = ({ createdAtNs }: Dated, ms: number): boolean =>
  createdAtNs > BigInt(Math.floor(ms)) * msInNs;

/** Lists by a key, in the order of their first members. */
export function groupedBy<T>(list: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of list) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
