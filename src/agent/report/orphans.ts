import { orphanPlaces } from '../../api/report/node-pass.ts';
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
      orphanPlaces.flatMap((place) => {
        const found = orphans?.[place];
        return found === undefined ? [] : [[place, found.count]];
      }),
    ),
    ...(snapshots && { snapshots: Math.min(snapshots.count, 1) }),
  };
  return {
    isDue: Object.entries(now).some(([kind, value]) => value > (announced[kind] ?? 0)),
    announced: now,
  };
}
