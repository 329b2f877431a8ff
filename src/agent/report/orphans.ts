import type { OrphanCount } from '../containergc/facts.ts';
import type { ReportFacts } from './facts.ts';

type OrphanFacts = Pick<ReportFacts, 'orphans' | 'snapshots'>;

export type OrphanCounts = Readonly<Record<string, number>>;

/**
 * The counts that the next Event is compared with, and whether an Event is due: more of a kind than at the last one, or the first snapshots. More
 * snapshots are none: others that use the same containerd make them all the time.
 */
export function planOrphanEvent(
  announced: OrphanCounts,
  { orphans, snapshots }: OrphanFacts,
): { readonly isDue: boolean; readonly announced: OrphanCounts } {
  const now: OrphanCounts = {
    ...announced,
    ...Object.fromEntries(
      Object.entries(orphans ?? {}).flatMap(([place, found]: [string, OrphanCount | undefined]) =>
        found === undefined ? [] : [[place, found.count]],
      ),
    ),
    ...(snapshots && { snapshots: Math.min(snapshots.count, 1) }),
  };
  return {
    isDue: Object.entries(now).some(([kind, value]) => value > (announced[kind] ?? 0)),
    announced: now,
  };
}
