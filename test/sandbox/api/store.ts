import type { KubeObject } from './format/json.ts';
import { apiVersionOf, type Resource } from './resources.ts';

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** After the change; for DELETED, its last state. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

type Listener = (change: Change) => void;

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

/** All objects of one resource, with recent changes for watches and snapshots for paged lists. */
class Collection {
  readonly #objects = new Map<string, KubeObject>();
  readonly #listeners = new Set<Listener>();
  readonly #snapshots = new Map<number, readonly KubeObject[]>();
  #history: Change[] = [];
  #sorted: readonly KubeObject[] | undefined;
  /** Every change after this revision is in the history. */
  #floor: number;

  constructor(revision: number) {
    this.#floor = revision;
  }

  get floor(): number {
    return this.#floor;
  }

  get(namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  /** In the order of the keys, like etcd. */
  sorted(): readonly KubeObject[] {
    this.#sorted ??= [...this.#objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
    return this.#sorted;
  }

  /** Keeps a snapshot for later pages of a list at this revision. */
  remember(revision: number): void {
    this.#snapshots.set(revision, this.sorted());
  }

  /** undefined = expired. */
  snapshot(revision: number): readonly KubeObject[] | undefined {
    return this.#snapshots.get(revision);
  }

  /** The changes after that revision; undefined = expired. */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#floor) return undefined;
    return this.#history.slice(this.#history.findLastIndex((change) => change.revision <= revision) + 1);
  }

  record(change: Change): void {
    const { namespace, name } = change.object.metadata;
    if (change.type === 'DELETED') this.#objects.delete(keyOf(namespace, name));
    else this.#objects.set(keyOf(namespace, name), change.object);
    this.#sorted = undefined;
    this.#history.push(change);
    for (const listener of this.#listeners) listener(change);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Expires all revisions before this one. */
  compact(revision: number): void {
    this.#history = [];
    this.#snapshots.clear();
    this.#floor = revision;
  }
}

const firstRevision = 1000;

/** All objects with one counter of revisions, like etcd. */
export class Store {
  readonly #collections = new Map<string, Collection>();
  #revision = firstRevision;

  get revision(): number {
    return this.#revision;
  }

  collection({ group, plural }: Resource): Collection {
    const id = `${group}/${plural}`;
    const known = this.#collections.get(id);
    if (known !== undefined) return known;
    const created = new Collection(firstRevision);
    this.#collections.set(id, created);
    return created;
  }

  get(resource: Resource, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.collection(resource).get(namespace, name);
  }

  put(resource: Resource, object: KubeObject): KubeObject {
    return this.#record(resource, object, (previous) => (previous === undefined ? 'ADDED' : 'MODIFIED'));
  }

  remove(resource: Resource, object: KubeObject): KubeObject {
    return this.#record(resource, object, () => 'DELETED');
  }

  /** Creates a revision without a change, e.g. for a bookmark. */
  advance(): void {
    this.#revision += 1;
  }

  /** Expires all earlier revisions, for lists and watches. */
  compact(): void {
    this.advance();
    for (const collection of this.#collections.values()) collection.compact(this.#revision);
  }

  #record(
    resource: Resource,
    object: KubeObject,
    typeOf: (previous: KubeObject | undefined) => Change['type'],
  ): KubeObject {
    const { namespace, name } = object.metadata;
    const previous = this.get(resource, namespace, name);
    this.#revision += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    const stored = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
    const change = { type: typeOf(previous), revision: this.#revision, object: stored, previous };
    this.collection(resource).record(change);
    return stored;
  }
}

/** A metav1.Time: whole seconds. */
export const timestamp = (date = new Date()): string => `${date.toISOString().slice(0, 19)}Z`;
