import type { LogEntry, LogListing } from '../node/logs/list.ts';
import type { Field } from './field.ts';

interface LogFiles {
  /** `logs.json`: files and links. */
  readonly logs: Field | undefined;
  /** `loglisting.json` of `dustpan snapshot` (docs/adr/0011): the directories, and whether the listing is complete. */
  readonly listing: Field | undefined;
}

/** The logs as listed on the node; undefined = not known. Without `loglisting.json` the listing counts as complete, without empty directories. */
export function logListingOf({ logs, listing }: LogFiles): LogListing | undefined {
  const entries = logs ?? presentOf(listing?.at('entries'));
  if (entries === undefined) return undefined;
  return {
    roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
    entries: entries.list().map(logEntryOf),
    directories: (listing?.at('directories').list() ?? []).map((path) => path.absolutePath()),
    complete: listing === undefined || listing.at('complete').boolean(),
  };
}

const presentOf = (field: Field | undefined): Field | undefined =>
  field === undefined || field.isAbsent ? undefined : field;

function logEntryOf(one: Field): LogEntry {
  const target = one.at('target');
  return {
    path: one.at('path').absolutePath(),
    bytes: one.at('bytes').count(),
    mtimeMs: one.at('mtime').timeMs(),
    ...(!target.isAbsent && { target: target.name() }),
  };
}
