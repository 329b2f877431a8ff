import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { ContainerReason } from '../../gc/reasons/containers.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';
import { decide, type Because, type ContainerDecision, type LogLinkTarget } from './decisions.ts';
import type { Ruled } from './facts.ts';
import { containerIdOfLink, namesBelow, resolvedTarget } from './log-names.ts';

/** What the other steps leave to the links. */
interface LinkContext {
  readonly containers: readonly RuntimeContainer[] | undefined;
  /** Those that are removed with their directory: they have no decision of their own. */
  readonly goWithDirectory: ReadonlySet<string>;
}

/** Decides about each `*.log` link in /var/log/containers: the broken ones are removed, unless their container may still write. */
export function planLogLinks(
  listing: LogListing,
  { containers, goWithDirectory }: LinkContext,
  { policy, rule }: Ruled,
): readonly ContainerDecision<LogLinkTarget>[] {
  const listed = new Set([...listing.directories, ...listing.entries.map(({ path }) => path)]);
  const links = listing.entries.filter((entry) => isLink(entry, listing) && !goWithDirectory.has(entry.path));
  const kind = 'LogLink';
  const becauseOf = (link: LogEntry): Because<ContainerReason> => {
    const inUse = { reason: 'InUse', evidence: { kind, pod: undefined } } as const;
    if (!isBroken(link, listing, listed)) return inUse;
    if (rule.logs?.brokenLinks !== true) return { reason: 'RuleOff', evidence: { kind, isWhole: false } };
    if (containers === undefined) return { reason: 'ContainersUnknown', evidence: undefined };
    if (mayStillWrite(link.path, containers)) return inUse;
    return { reason: 'BrokenLink', evidence: undefined };
  };
  return links
    .toSorted(byPath)
    .map((link) => decide({ target: { kind, path: link.path, pod: undefined }, policy }, becauseOf(link)));
}

const isLink = ({ path, target }: LogEntry, { roots }: LogListing): boolean =>
  target !== undefined && path.endsWith('.log') && namesBelow(roots.containers, path).length === 1;

/** A target that is not below the root of the pods cannot be missed in the listing: it is taken to exist. */
function isBroken(
  { path, target = '' }: LogEntry,
  { roots, complete }: LogListing,
  listed: ReadonlySet<string>,
): boolean {
  const resolved = resolvedTarget(path, target);
  return complete && namesBelow(roots.pods, resolved).length > 0 && !listed.has(resolved);
}

/** Rotation renames a log before it makes the new one, so a link of a container that has not ended is not broken for long. */
export function mayStillWrite(link: string, containers: readonly RuntimeContainer[]): boolean {
  const id = containerIdOfLink(link);
  return id !== undefined && containers.some((one) => one.id.startsWith(id) && one.state !== 'Exited');
}

const byPath = (a: LogEntry, b: LogEntry): number => (a.path < b.path ? -1 : 1);
