import { createHash } from 'node:crypto';

/** What one look saw of the snapshots of a runtime. */
export interface SnapshotLook {
  /** The names of their directories; no two snapshots have the same one, not even one after the other. */
  readonly directories: ReadonlySet<string>;
  /** Whatever should have a snapshot, each by a name of its own. */
  readonly owners: ReadonlySet<string>;
}

/** What is there more than what is accounted for. */
export interface SnapshotsFound {
  readonly count: number;
}

/**
 * How many snapshots at least have no owner. Which ones they are the names of the directories do not tell, so they are only counted: in both looks,
 * and among what stood there in both, because between the looks pulls and removals come and go.
 */
export function planSurplus(now: SnapshotLook, before: SnapshotLook): number {
  const lasting = {
    directories: inBoth(now.directories, before.directories),
    owners: inBoth(now.owners, before.owners),
  };
  const surplus = [now, before, lasting].map(({ directories, owners }) => directories.size - owners.size);
  return Math.max(0, Math.min(...surplus));
}

/** The names that a runtime has for the layers of an image, each with all below it (the image specification's ChainID). */
export function chainIds(diffIds: readonly string[]): readonly string[] {
  const chain: string[] = [];
  for (const diffId of diffIds) {
    const below = chain.at(-1);
    chain.push(below === undefined ? diffId : `sha256:${sha256(`${below} ${diffId}`)}`);
  }
  return chain;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const inBoth = (some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...some].filter((one) => others.has(one)));
