import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { LogEntry, LogListing } from '../../node/logs.ts';
import { keep, remove, type Decision, type Given, type LogLinkObject } from './facts.ts';
import { containerIdOfLink, namesBelow, resolvedTarget } from './log-names.ts';

/** What the other steps leave to the links. */
interface LinkContext {
  readonly containers: readonly RuntimeContainer[] | undefined;
  /** Those that go with their directory: nothing is decided about them. */
  readonly goWithDirectory: ReadonlySet<string>;
}

/** Decides about each `*.log` link in /var/log/containers: the broken ones go, unless their container may still write (upstream.md 3.5). */
export function planLogLinks(
  listing: LogListing,
  { containers, goWithDirectory }: LinkContext,
  { policy }: Given,
): readonly Decision<LogLinkObject>[] {
  const listed = new Set([...listing.directories, ...listing.entries.map(({ path }) => path)]);
  const links = listing.entries.filter((entry) => isLink(entry, listing) && !goWithDirectory.has(entry.path));
  return links.toSorted(byPath).map((link) => {
    const object: LogLinkObject = { kind: 'logLink', path: link.path };
    if (!isBroken(link, listing, listed)) return keep(object, 'InUse');
    if (policy.logs?.brokenLinks !== true) return keep(object, 'RuleOff');
    if (containers === undefined) return keep(object, 'ContainersUnknown');
    if (mayStillWrite(link.path, containers)) return keep(object, 'InUse');
    return remove(object, 'BrokenLink');
  });
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
