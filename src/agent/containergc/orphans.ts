import { nodeRule } from '../../api/policy/node-governance.ts';
import type { OrphansPolicy } from '../../api/policy/policy.ts';
import type { Reason } from '../../api/reasons.ts';
import type { FoundOrphan } from '../../node/storage/orphans-finder.ts';
import type { OrphanPlace } from '../../node/storage/orphans.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import {
  decide,
  keptBecauseOfWrite,
  keptByNode,
  type ContainerDecision,
  type ContainerGcFacts,
  type Given,
  type JudgedOrphan,
  type KeptBecause,
  type OrphanCount,
  type OrphanInventory,
} from './facts.ts';
import { isSeenTwice, keptUntilGone, podsNow } from './pods.ts';

/** In the order of removal. */
const removable = [
  { kind: 'PodCgroup', place: 'podCgroups', reason: 'OrphanedCgroup' },
  { kind: 'PodDirectory', place: 'podDirectories', reason: 'OrphanedDirectory' },
] as const;

/** A kubelet that still mounts a volume of a deleted pod writes the data anew at each attempt; the pauses between these are at most two minutes
 * long (`maxDurationBeforeRetry`, pkg/util/goroutinemap/exponentialbackoff). */
const leastVolumeDataMs = 3_600_000;

/** Decides about the control groups and directories of pods that neither the API server nor the runtime knows. Log directories have decisions of their own. */
export function planOrphans(
  facts: ContainerGcFacts,
  { governance, ...given }: Given,
): readonly ContainerDecision<JudgedOrphan>[] {
  const governed = nodeRule(governance, 'orphans');
  const pods = podsNow(facts, given);
  const keptBecause = (place: keyof OrphansPolicy, found: FoundOrphan): KeptBecause | undefined => {
    const { podUid, obstacle, holders, volumeDataMs } = found;
    if (governed.kind === 'keep') return keptByNode(governed);
    if (governed.rule[place] === 'Report') return { reason: 'RuleOff' };
    return (
      keptUntilGone(pods.stateOf(podUid), given) ??
      (obstacle && { reason: obstacle, holders }) ??
      (volumeDataMs === undefined
        ? undefined
        : keptBecauseOfWrite(volumeDataMs, leastVolumeDataMs, { ...given, facts }))
    );
  };
  return removable.flatMap(({ kind, place, reason }) =>
    (facts.orphans?.[place] ?? []).map((found) => {
      const pod = { uid: found.podUid, namespace: undefined, name: undefined };
      const bytes = kind === 'PodDirectory' ? found.bytes : undefined;
      const subject = {
        target: { kind, path: found.path, pod, volumeDataMs: found.volumeDataMs },
        policy: governed.policy,
        bytes,
      };
      return decide(subject, keptBecause(place, found) ?? { reason });
    }),
  );
}

const maxLargest = 10;

/** Counts the resources that two passes have found, and names the largest. */
export function orphanInventory(
  { orphans, sightings }: Pick<ContainerGcFacts, 'orphans' | 'sightings'>,
  decisions: readonly ContainerDecision[],
): OrphanInventory | undefined {
  if (orphans === undefined) return undefined;
  const reasons = new Map(
    decisions.flatMap(({ target, reason }) => ('path' in target ? [[target.path, reason] as const] : [])),
  );
  const count = (place: OrphanPlace): OrphanCount | undefined => {
    const found = orphans[place]?.filter(({ podUid }) => isSeenTwice(sightings, podUid));
    return found && countOf(found, reasons);
  };
  return {
    podDirectories: count('podDirectories'),
    logDirectories: count('logDirectories'),
    podCgroups: count('podCgroups'),
  };
}

function countOf(found: readonly FoundOrphan[], reasons: ReadonlyMap<string, Reason>): OrphanCount {
  const largest = found.toSorted(byLargest).slice(0, maxLargest);
  return {
    count: found.length,
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    largest:
      largest.length === 0
        ? undefined
        : largest.map(({ path, podUid: podUID, sinceMs, bytes, obstacle, holders }) => ({
            path,
            podUID,
            since: sinceMs === undefined ? undefined : metaTime(new Date(sinceMs)),
            bytes,
            reason: reasons.get(path),
            holder: holders[0],
            remedy: obstacle === 'Mounted' ? unmountCommand(path, holders) : undefined,
          })),
    isReadOnly: found.some(({ path }) => reasons.get(path) === 'ReadOnly'),
  };
}

/** maxLength of `remedy` in crds/: a command is never cut. */
const maxCommand = 1_024;
/** Names that no shell interprets. */
const plainPath = /^[\w@%+=:,./~-]+$/;

/** The command that unmounts what is mounted in a directory, or as much as fits; undefined = it is mounted elsewhere, or its name is unusual. */
export function unmountCommand(path: string, mountPoints: readonly string[]): string | undefined {
  let command = 'umount';
  for (const point of mountPoints) {
    const longer = `${command} ${point}`;
    if (!`${point}/`.startsWith(`${path}/`) || !plainPath.test(point) || longer.length > maxCommand) break;
    command = longer;
  }
  return command === 'umount' ? undefined : command;
}

/** Of equal sizes the older one first, then by path, so that two reports do not differ without a reason. */
function byLargest(a: FoundOrphan, b: FoundOrphan): number {
  const [first, second] = [a.sinceMs ?? Infinity, b.sinceMs ?? Infinity];
  if (a.bytes !== b.bytes) return b.bytes - a.bytes;
  if (first !== second) return first < second ? -1 : 1;
  return a.path < b.path ? -1 : 1;
}
