import type { FoundOrphan, OrphansFound } from '../../node/storage/orphans-finder.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';

/** Directories and control groups of pods that are gone. A place that the node does not have is left out; log directories are in `loglisting.json`. */
export const orphansJson = ({ podDirectories, podCgroups }: OrphansFound): object => ({
  podDirectories: podDirectories?.map(orphanJson),
  podCgroups: podCgroups?.map(orphanJson),
});

const orphanJson = ({ path, podUid, sinceMs, bytes, obstacle }: FoundOrphan): object => ({
  path,
  podUid,
  since: sinceMs === undefined ? undefined : formatRfc3339(new Date(sinceMs)),
  bytes,
  obstacle,
});
