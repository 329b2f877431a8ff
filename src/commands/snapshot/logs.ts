import { posix } from 'node:path';
import type { LogEntry, LogListing, LogRoots } from '../../node/logs/list.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';

/** The kubelet's default directories: paths in a snapshot are always below them. */
const usualRoots: LogRoots = { pods: '/var/log/pods', containers: '/var/log/containers' };

/** The directories of pods, empty ones too; and if not all logs could be listed, those that were. `logs.json` cannot express either. */
export const logListingJson = ({ roots, entries, directories, complete }: LogListing): object => ({
  complete,
  directories: directories.map((path) => usual(path, roots)),
  ...(!complete && { entries: logsJson(entries, roots) }),
});

/** Files and links for `logs.json`, moved to the default directories. */
export function logsJson(entries: readonly LogEntry[], roots: LogRoots): readonly object[] {
  return entries.map(({ path, bytes, mtimeMs, target }) => ({
    path: usual(path, roots),
    bytes,
    mtime: formatRfc3339(new Date(mtimeMs)),
    ...(target !== undefined && { target: usualTarget(path, target, roots) }),
  }));
}

/** A target that needs no change keeps its original, maybe relative form. */
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
