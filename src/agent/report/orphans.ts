import type { NodeGCReportStatusOrphans } from '../../api/gen/nodegcreport.gen.ts';
import { orphanPlaces, type OrphanCount, type ReportedOrphan } from '../../api/report/node-pass.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { ReportFacts } from './facts.ts';

type OrphanFacts = Pick<ReportFacts, 'orphans' | 'snapshots'>;

/** The part of the report about orphaned resources; a place that was not searched has no field. */
export function orphansOf({ orphans, snapshots }: OrphanFacts): NodeGCReportStatusOrphans {
  const { podDirectories, logDirectories, podCgroups } = orphans ?? {};
  return {
    podDirectories: podDirectories && countOf(podDirectories),
    logDirectories: logDirectories && countOf(logDirectories),
    podCgroups: podCgroups && countOf(podCgroups),
    snapshots: snapshots && { count: snapshots.count },
  };
}

const countOf = ({ count, bytes, largest }: OrphanCount): NodeGCReportStatusOrphans['podDirectories'] => ({
  count,
  bytes,
  largest: largest.length === 0 ? undefined : largest.map(itemOf),
});

const itemOf = ({ path, podUid, sinceMs, bytes, reason }: ReportedOrphan) => ({
  path,
  podUID: podUid,
  since: sinceMs === undefined ? undefined : metaTime(new Date(sinceMs)),
  bytes,
  reason,
});

/** Counts by kind. */
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
