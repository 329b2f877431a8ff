import type { ObjectRef } from '../../api/event-refs.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { OrphanCount, OrphanInventory } from '../containergc/facts.ts';

export type OrphanCounts = Readonly<Record<string, number>>;

/** The counts that the next Event is compared with, and whether an Event is due: more of a kind than at the last one. */
export function planOrphanEvent(
  announced: OrphanCounts,
  orphans: OrphanInventory | undefined,
): { readonly isDue: boolean; readonly announced: OrphanCounts } {
  const now: OrphanCounts = {
    ...announced,
    ...Object.fromEntries(
      Object.entries(orphans ?? {}).flatMap(([place, found]: [string, OrphanCount | undefined]) =>
        found === undefined ? [] : [[place, found.count]],
      ),
    ),
  };
  return {
    isDue: Object.entries(now).some(([kind, value]) => value > (announced[kind] ?? 0)),
    announced: now,
  };
}

/** Number of names per kind in the Event; the report lists more. */
const maxNamed = 2;

/** One Event on the Node about everything that deleted pods have left there. */
export function orphansFound(node: ObjectRef, orphans: OrphanInventory): EventSpec {
  const { podDirectories, logDirectories, podCgroups } = orphans;
  const parts = [
    ...partOf(podDirectories, (count) => (count === 1 ? 'pod directory' : 'pod directories')),
    ...partOf(podCgroups, (count) => (count === 1 ? 'pod control group' : 'pod control groups')),
    ...partOf(logDirectories, (count) => (count === 1 ? 'log directory' : 'log directories')),
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
