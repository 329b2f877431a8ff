import { counted } from '../../gc/reasons/words.ts';
import type { ObjectRef } from '../../api/event-refs.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { OrphanCount } from '../containergc/facts.ts';
import type { ReportFacts } from './facts.ts';

/** Orphaned resources of the last searches. */
export type OrphanFacts = Pick<ReportFacts, 'orphans' | 'snapshots'>;

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

/** Number of names per kind in the Event; the report lists more. */
const maxNamed = 2;

/** One Event on the Node about everything that deleted pods have left there. */
export function orphansFound(node: ObjectRef, { orphans, snapshots }: OrphanFacts): EventSpec {
  const { podDirectories, logDirectories, podCgroups } = orphans ?? {};
  const parts = [
    ...partOf(podDirectories, (count) => (count === 1 ? 'pod directory' : 'pod directories')),
    ...partOf(podCgroups, (count) => (count === 1 ? 'pod control group' : 'pod control groups')),
    ...partOf(logDirectories, (count) => (count === 1 ? 'log directory' : 'log directories')),
    ...(snapshots === undefined || snapshots.count === 0 ? [] : [counted(snapshots.count, 'snapshot')]),
  ];
  return {
    regarding: node,
    type: 'Warning',
    reason: 'OrphanedResources',
    action: 'FindOrphans',
    note: `No pod or container of Kubernetes uses ${parts.join('; ')}. The NodeGCReport of the node lists more of them`,
    // Another number is another finding, not a repetition.
    occasion: parts.join(';'),
  };
}

function partOf(found: OrphanCount | undefined, noun: (count: number) => string): readonly string[] {
  if (found === undefined || found.count === 0) return [];
  const named = (found.largest ?? []).slice(0, maxNamed).map(({ path, reason, holder }) => {
    const held = holder === undefined ? '' : ` held by ${holder.replace(`${path}/`, '')}`;
    return reason === undefined ? path : `${path} ${reason}${held}`;
  });
  const more = found.count - named.length;
  const names = [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return [`${found.count} ${noun(found.count)} of deleted pods, ${sizeText(found.bytes)} (${names})`];
}
