import { posix } from 'node:path';
import type { LogEntry, LogListing, LogRoots } from '../../node/logs/list.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';

/** Where the kubelet keeps logs unless told otherwise; a snapshot names no other places, so this is how they are understood. */
const usualRoots: LogRoots = { pods: '/var/log/pods', containers: '/var/log/containers' };

/** What `logs.json` has no place for: the directories of pods, empty ones too; and where not all could be listed, what was. */
export const logListingJson = ({ roots, entries, directories, complete }: LogListing): object => ({
  complete,
  directories: directories.map((path) => usual(path, roots)),
  ...(!complete && { entries: logsJson(entries, roots) }),
});

/** Files and links as `logs.json` has them: below the usual directories, wherever they were found. */
export function logsJson(entries: readonly LogEntry[], roots: LogRoots): readonly object[] {
  return entries.map(({ path, bytes, mtimeMs, target }) => ({
    ...{ path: usual(path, roots), bytes, mtime: formatRfc3339(new Date(mtimeMs)) },
    ...(target !== undefined && { target: usualTarget(path, target, roots) }),
  }));
}

/** A target that need not be changed is left as it is written in the link. */
function usualTarget(link: string, target: string, roots: LogRoots): string {
  const absolute = posix.resolve(posix.dirname(link), target);
  const moved = usual(absolute, roots);
  return moved === absolute && usual(link, roots) === link ? target : moved;
}

function usual(path: string, roots: LogRoots): string {
  for (const root of ['pods', 'containers'] as const)
    if (path.startsWith(`${roots[root]}/`)) return usualRoots[root] + path.slice(roots[root].length);
  return path;
}
