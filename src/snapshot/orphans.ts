import { orphanObstacles, type FoundOrphan, type OrphansFound } from '../node/storage/orphans-finder.ts';
import { knownPodUids, type KnownPods } from '../node/storage/orphans.ts';
import type { Field } from './field.ts';

/**
 * `orphans.json` of `dustpan snapshot` (docs/adr/0011): what pods have left on a node that the runtime does not know. The file was written before
 * the pods were listed, so what belongs to one of them is left out.
 */
export function orphansOf(content: Field, pods: KnownPods['pods']): OrphansFound {
  const known = knownPodUids({ pods, sandboxes: [], containers: [] });
  const placeOf = (place: Field): readonly FoundOrphan[] | undefined =>
    place.isAbsent
      ? undefined
      : place
          .list()
          .map(orphanOf)
          .filter(({ podUid }) => !known.has(podUid));
  return {
    podDirectories: placeOf(content.at('podDirectories')),
    podCgroups: placeOf(content.at('podCgroups')),
    logDirectories: undefined,
  };
}

function orphanOf(one: Field): FoundOrphan {
  const since = one.at('since');
  return {
    path: one.at('path').absolutePath(),
    podUid: one.at('podUid').name(),
    sinceMs: since.isAbsent ? undefined : since.timeMs(),
    bytes: one.at('bytes').count(),
    obstacle: obstacleOf(one.at('obstacle')),
  };
}

/** An obstacle of a later version must not count as none. */
function obstacleOf(field: Field): FoundOrphan['obstacle'] {
  if (field.isAbsent) return undefined;
  const known = orphanObstacles.find((one) => one === field.text());
  if (known === undefined) throw field.mustBe(`one of ${orphanObstacles.join(', ')}`);
  return known;
}
