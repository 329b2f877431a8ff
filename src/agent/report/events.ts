import { counted } from '../../gc/reasons/words.ts';
import type { ObjectRef } from '../../api/event-refs.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { OrphanCount } from '../containergc/facts.ts';
import type { ReportFacts } from './facts.ts';

/** Number of names per kind in the Event; the report lists more. */
const maxNamed = 2;

/** One Event on the Node about everything that deleted pods have left there. */
export function orphansFound(
  node: ObjectRef,
  { orphans, snapshots }: Pick<ReportFacts, 'orphans' | 'snapshots'>,
): EventSpec {
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
  const named = (found.largest ?? [])
    .slice(0, maxNamed)
    .map(({ path, reason }) => (reason === undefined ? path : `${path} ${reason}`));
  const more = found.count - named.length;
  const names = [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return [`${found.count} ${noun(found.count)} of deleted pods, ${sizeText(found.bytes)} (${names})`];
}
