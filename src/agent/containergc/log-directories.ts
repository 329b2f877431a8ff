import type { ContainerKeepReason } from '../../api/reasons.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { LogEntry, LogListing } from '../../node/logs.ts';
import {
  keep,
  nextPass,
  remove,
  type Decision,
  type Given,
  type LogDirectoryObject,
  type PodRef,
} from './facts.ts';
import { namesBelow, podOfDirectory, resolvedTarget } from './log-names.ts';
import { groupedBy } from './order.ts';
import { podUidOf, type Standing } from './pods.ts';

/** The log directory of one pod with the files known in it. */
export interface LogDirectory {
  readonly path: string;
  readonly pod: PodRef | undefined;
  readonly entries: readonly LogEntry[];
  readonly bytes: number;
}

/** The directories of pods, by path; those that only their files tell of too. */
export function logDirectories({ roots, entries, directories }: LogListing): readonly LogDirectory[] {
  const inside = entries.filter(({ path }) => namesBelow(roots.pods, path).length > 1);
  const byDirectory = groupedBy(inside, ({ path }) =>
    path.slice(0, path.indexOf('/', roots.pods.length + 1)),
  );
  return [...new Set([...directories, ...byDirectory.keys()])].sort().map((path) => {
    const own = byDirectory.get(path) ?? [];
    const bytes = own.reduce((sum, entry) => sum + entry.bytes, 0);
    return { path, pod: podOfDirectory(path, roots.pods), entries: own, bytes };
  });
}

interface LogsLeft {
  readonly containers: readonly RuntimeContainer[] | undefined;
  readonly standing: (uid: string) => Standing;
  readonly podsKnown: boolean;
}

/** Decides about each log directory: those of gone pods go (upstream.md 3.5), unless a container stays that one may want to read. */
export function planLogDirectories(
  listing: LogListing,
  { containers, standing, podsKnown }: LogsLeft,
  given: Given,
): readonly Decision<LogDirectoryObject>[] {
  const inUse = new Set(containers?.flatMap((container) => podUidOf(container) ?? []));
  const targets = linkTargets(listing);
  return logDirectories(listing).map(({ path, pod, bytes }) => {
    const links = targets.filter(({ target }) => target.startsWith(`${path}/`)).map((link) => link.path);
    const object: LogDirectoryObject = { kind: 'logDirectory', path, pod, links };
    if (given.policy.logs?.orphanedDirectories !== true) return keep(object, 'RuleOff', { bytes });
    if (pod === undefined) return keep(object, 'NotKubelets', { bytes });
    const stands = standing(pod.uid);
    if (stands === 'Quarantined') return keep(object, 'Quarantined', { bytes, eligibleAt: nextPass(given) });
    if (stands !== 'Gone') return keep(object, keepReasons(podsKnown)[stands], { bytes });
    if (inUse.has(pod.uid)) return keep(object, 'InUse', { bytes });
    return remove(object, 'OrphanedLogs', { because: 'podGone', bytes });
  });
}

const keepReasons = (
  podsKnown: boolean,
): Record<'Exists' | 'Finished' | 'Marked' | 'Static' | 'Unknown', ContainerKeepReason> => ({
  Exists: 'InUse',
  Finished: 'InUse',
  Marked: 'KeepMarked',
  Static: 'StaticPod',
  Unknown: podsKnown ? 'ContainersUnknown' : 'PodsUnknown',
});

/** Where the links in /var/log/containers lead, by path. */
const linkTargets = ({ roots, entries }: LogListing): readonly { path: string; target: string }[] =>
  entries
    .flatMap(({ path, target }) =>
      target === undefined ? [] : [{ path, target: resolvedTarget(path, target) }],
    )
    .filter(({ path }) => namesBelow(roots.containers, path).length === 1)
    .sort((a, b) => (a.path < b.path ? -1 : 1));
