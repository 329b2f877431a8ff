import type { KubeObject } from './json.ts';

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** After the change; for DELETED, as it was last. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

type Listener = (change: Change) => void;

export function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** Few lists are paged through at the same time. */
const maxSnapshots = 4;

/** All objects of one resource with their recent past: the versions that lists and watches of an earlier revision need. */
export class Collection {
  readonly #objects = new Map<string, KubeObject>();
  readonly #listeners = new Set<Listener>();
  readonly #snapshots = new Map<number, readonly KubeObject[]>();
  readonly #historyLimit: number;
  #history: Change[] = [];
  #sorted: readonly KubeObject[] | undefined;
  /** Every change after this revision is in the history. */
  #floor: number;
  #lastRevision: number;

  constructor(revision: number, historyLimit: number) {
    this.#floor = revision;
    this.#lastRevision = revision;
    this.#historyLimit = historyLimit;
  }

  get floor(): number {
    return this.#floor;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  /** In the order of the keys, as etcd lists them. */
  sorted(): readonly KubeObject[] {
    this.#sorted ??= sortedValues(this.#objects);
    return this.#sorted;
  }

  /** What a list at that revision saw; undefined when that is forgotten. */
  at(revision: number): readonly KubeObject[] | undefined {
    if (revision < this.#floor) return undefined;
    if (revision >= this.#lastRevision) return this.sorted();
    return this.#snapshots.get(revision) ?? this.#rewind(revision);
  }

  /** The changes after that revision; undefined when some of them are forgotten. */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#floor) return undefined;
    return this.#history.slice(firstAfter(this.#history, revision));
  }

  record(change: Change): void {
    const { metadata } = change.object;
    const key = keyOf(metadata.namespace, metadata.name);
    if (change.type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, change.object);
    this.#sorted = undefined;
    this.#lastRevision = change.revision;
    this.#history.push(change);
    if (this.#history.length > 2 * this.#historyLimit) this.#trim();
    for (const listener of this.#listeners) listener(change);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets the past up to the last change: older revisions are expired from now on. */
  compact(revision: number): void {
    this.#history = [];
    this.#snapshots.clear();
    this.#floor = revision;
  }

  #trim(): void {
    const kept = this.#history.slice(-this.#historyLimit);
    this.#floor = (kept[0]?.revision ?? this.#lastRevision) - 1;
    this.#history = kept;
  }

  #rewind(revision: number): readonly KubeObject[] {
    const objects = new Map(this.#objects);
    for (const { object, previous } of this.#history
      .slice(firstAfter(this.#history, revision))
      .toReversed()) {
      const key = keyOf(object.metadata.namespace, object.metadata.name);
      if (previous === undefined) objects.delete(key);
      else objects.set(key, previous);
    }
    const snapshot = sortedValues(objects);
    this.#remember(revision, snapshot);
    return snapshot;
  }

  #remember(revision: number, snapshot: readonly KubeObject[]): void {
    const [oldest] = this.#snapshots.keys();
    if (oldest !== undefined && this.#snapshots.size >= maxSnapshots) this.#snapshots.delete(oldest);
    this.#snapshots.set(revision, snapshot);
  }
}

function sortedValues(objects: ReadonlyMap<string, KubeObject>): readonly KubeObject[] {
  const entries = [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([, object]) => object);
}

/** Index of the first change after the revision, by bisection: the history ascends. */
function firstAfter(history: readonly Change[], revision: number): number {
  let low = 0;
  let high = history.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((history[middle]?.revision ?? Infinity) > revision) high = middle;
    else low = middle + 1;
  }
  return low;
}
