import { podUidOf, type PodRef } from '../../api/pod-ref.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { ContainerReason } from '../../gc/reasons/containers.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';
import {
  decide,
  isKept,
  isRemoval,
  type Because,
  type ContainerDecision,
  type ContainerGcFacts,
  type JudgedContainer,
  type LogDirectoryTarget,
  type LogLinkTarget,
  type PlanContext,
} from './facts.ts';
import { containerIdOfLink, logDirectories, namesBelow, resolvedTarget } from './log-names.ts';
import { holdOf, quarantined, type PodsNow } from './pods.ts';
import { planRotatedLogs } from './rotated-logs.ts';

/** Decides about log directories, links in /var/log/containers and rotated logs; `containers` are the decisions about these. */
export function planLogs(
  facts: ContainerGcFacts,
  containers: readonly ContainerDecision<JudgedContainer>[],
  pods: PodsNow,
  context: PlanContext,
): readonly ContainerDecision[] {
  if (facts.logs === undefined) return [];
  const kept = containers.filter(isKept).map(({ target }) => target.container);
  const directories = planDirectories(facts, facts.logs, { pods, kept }, context);
  const removed = directories.filter(isRemoval).map(({ target }) => target);
  const links = planLinks(
    facts.logs,
    facts.containers,
    new Set(removed.flatMap((one) => one.links)),
    context,
  );
  const rotated = planRotatedLogs(
    facts.logs,
    {
      pods,
      removedDirectories: new Set(removed.map(({ path }) => path)),
      removedContainers: containers.filter(isRemoval).map(({ target }) => target.container),
      runtimeKnown: facts.containers !== undefined && facts.sandboxes !== undefined,
    },
    context,
  );
  return [...directories, ...links, ...rotated];
}

/** Removes the log directories of gone pods, unless the plan keeps a container of the pod: somebody may need its logs. */
function planDirectories(
  facts: ContainerGcFacts,
  listing: LogListing,
  { pods, kept }: { readonly pods: PodsNow; readonly kept: readonly RuntimeContainer[] },
  context: PlanContext,
): readonly ContainerDecision<LogDirectoryTarget>[] {
  const inUse = new Set(kept.flatMap((container) => podUidOf(container) ?? []));
  const unknown = facts.pods === undefined ? 'PodsUnknown' : 'ContainersUnknown';
  const kind = 'LogDirectory';
  const becauseOf = (pod: PodRef | undefined): Because<ContainerReason> => {
    if (context.rule.logs?.orphanedDirectories !== true)
      return { reason: 'RuleOff', evidence: { kind, isWhole: false } };
    if (pod === undefined) return { reason: 'NotKubelets', evidence: undefined };
    const podState = pods.stateOf(pod.uid);
    const hold = holdOf(podState);
    if (hold !== undefined) return { reason: hold, evidence: { pod } };
    if (podState === 'Quarantined') return quarantined(pods.ended(pod), context);
    if (podState === 'Unknown') return { reason: unknown, evidence: undefined };
    if (podState !== 'Gone' || inUse.has(pod.uid)) return { reason: 'InUse', evidence: { kind, pod } };
    return { reason: 'OrphanedLogs', evidence: pods.ended(pod) };
  };
  const targets = linkTargets(listing);
  return logDirectories(listing).map(({ path, pod, bytes }) => {
    const links = targets.filter(({ target }) => target.startsWith(`${path}/`)).map((link) => link.path);
    return decide({ target: { kind, path, pod, links }, policy: context.policy, bytes }, becauseOf(pod));
  });
}

/** The links in /var/log/containers by path, with their targets. */
const linkTargets = ({ roots, entries }: LogListing): readonly { path: string; target: string }[] =>
  entries
    .flatMap(({ path, target }) =>
      target === undefined ? [] : [{ path, target: resolvedTarget(path, target) }],
    )
    .filter(({ path }) => namesBelow(roots.containers, path).length === 1)
    .sort(byPath);

/** Removes the broken `*.log` links in /var/log/containers, unless their container may still write; those in `removed` are removed with their directory. */
function planLinks(
  listing: LogListing,
  containers: readonly RuntimeContainer[] | undefined,
  removed: ReadonlySet<string>,
  { policy, rule }: PlanContext,
): readonly ContainerDecision<LogLinkTarget>[] {
  const listed = new Set([...listing.directories, ...listing.entries.map(({ path }) => path)]);
  const kind = 'LogLink';
  const becauseOf = (link: LogEntry): Because<ContainerReason> => {
    const inUse = { reason: 'InUse', evidence: { kind, pod: undefined } } as const;
    if (!isBroken(link, listing, listed)) return inUse;
    if (rule.logs?.brokenLinks !== true) return { reason: 'RuleOff', evidence: { kind, isWhole: false } };
    if (containers === undefined) return { reason: 'ContainersUnknown', evidence: undefined };
    if (mayStillWrite(link.path, containers)) return inUse;
    return { reason: 'BrokenLink', evidence: undefined };
  };
  return listing.entries
    .filter((entry) => isLink(entry, listing) && !removed.has(entry.path))
    .toSorted(byPath)
    .map((link) => decide({ target: { kind, path: link.path, pod: undefined }, policy }, becauseOf(link)));
}

const isLink = ({ path, target }: LogEntry, { roots }: LogListing): boolean =>
  target !== undefined && path.endsWith('.log') && namesBelow(roots.containers, path).length === 1;

/** The listing covers targets below the root of the pods only; any other target counts as existing. */
function isBroken(
  { path, target = '' }: LogEntry,
  { roots, complete }: LogListing,
  listed: ReadonlySet<string>,
): boolean {
  const resolved = resolvedTarget(path, target);
  return complete && namesBelow(roots.pods, resolved).length > 0 && !listed.has(resolved);
}

/** Whether the container of a link has not exited. Rotation renames its log before it creates the new one, so its link is broken for a moment. */
export function mayStillWrite(link: string, containers: readonly RuntimeContainer[]): boolean {
  const id = containerIdOfLink(link);
  return id !== undefined && containers.some((one) => one.id.startsWith(id) && one.state !== 'Exited');
}

const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : 1;
