import { podUidOf, type PodRef } from '../../api/pod-ref.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { ContainerReason } from '../../gc/reasons/containers.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';
import { decide, type Because, type ContainerDecision, type LogDirectoryTarget } from './decisions.ts';
import type { Ruled } from './facts.ts';
import { namesBelow, podOfDirectory, resolvedTarget } from './log-names.ts';
import { groupedBy } from './order.ts';
import { holdOf, quarantined, type PodsNow } from './pods.ts';

/** The log directory of one pod with the files known in it. */
export interface LogDirectory {
  readonly path: string;
  readonly pod: PodRef | undefined;
  readonly entries: readonly LogEntry[];
  readonly bytes: number;
}

/** The directories of pods, by path; also those of which only files are listed. */
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
  readonly pods: PodsNow;
  readonly podsKnown: boolean;
}

/** Decides about each log directory: those of gone pods are removed, unless a container stays whose logs somebody may need. */
export function planLogDirectories(
  listing: LogListing,
  left: LogsLeft,
  ruled: Ruled,
): readonly ContainerDecision<LogDirectoryTarget>[] {
  const inUse = new Set(left.containers?.flatMap((container) => podUidOf(container) ?? []));
  const targets = linkTargets(listing);
  return logDirectories(listing).map(({ path, pod, bytes }) => {
    const links = targets.filter(({ target }) => target.startsWith(`${path}/`)).map((link) => link.path);
    const target: LogDirectoryTarget = { kind: 'LogDirectory', path, pod, links };
    return decide({ target, policy: ruled.policy, bytes }, becauseOf(pod, { ...left, inUse }, ruled));
  });
}

function becauseOf(
  pod: PodRef | undefined,
  { pods, podsKnown, inUse }: LogsLeft & { readonly inUse: ReadonlySet<string> },
  ruled: Ruled,
): Because<ContainerReason> {
  const kind = 'LogDirectory';
  if (ruled.rule.logs?.orphanedDirectories !== true)
    return { reason: 'RuleOff', evidence: { kind, isWhole: false } };
  if (pod === undefined) return { reason: 'NotKubelets', evidence: undefined };
  const stands = pods.standing(pod.uid);
  const hold = holdOf(stands);
  if (hold !== undefined) return { reason: hold, evidence: { pod } };
  if (stands === 'Quarantined') return quarantined(pods.ended(pod), ruled);
  if (stands === 'Unknown')
    return { reason: podsKnown ? 'ContainersUnknown' : 'PodsUnknown', evidence: undefined };
  if (stands !== 'Gone' || inUse.has(pod.uid)) return { reason: 'InUse', evidence: { kind, pod } };
  return { reason: 'OrphanedLogs', evidence: pods.ended(pod) };
}

/** Where the links in /var/log/containers lead, by path. */
const linkTargets = ({ roots, entries }: LogListing): readonly { path: string; target: string }[] =>
  entries
    .flatMap(({ path, target }) =>
      target === undefined ? [] : [{ path, target: resolvedTarget(path, target) }],
    )
    .filter(({ path }) => namesBelow(roots.containers, path).length === 1)
    .sort((a, b) => (a.path < b.path ? -1 : 1));
