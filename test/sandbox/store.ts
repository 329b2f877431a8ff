import { Collection, keyOf } from './collection.ts';
import type { KubeObject } from './json.ts';
import { apiVersionOf, type Resource } from './resources.ts';

const firstRevision = 1000;

/** All objects, under one counter of revisions, as in etcd. */
export class Store {
  readonly #collections = new Map<string, Collection>();
  readonly #historyLimit: number;
  #revision = firstRevision;

  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  get revision(): number {
    return this.#revision;
  }

  collection(resource: Resource): Collection {
    const id = `${resource.group}/${resource.plural}`;
    const known = this.#collections.get(id);
    if (known !== undefined) return known;
    const created = new Collection(this.#revision, this.#historyLimit);
    this.#collections.set(id, created);
    return created;
  }

  get(resource: Resource, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.collection(resource).get(keyOf(namespace, name));
  }

  /** Stores the object under the next revision and tells the watchers. */
  put(resource: Resource, object: KubeObject): KubeObject {
    const previous = this.get(resource, object.metadata.namespace, object.metadata.name);
    const stored = this.#atNextRevision(resource, object);
    const type = previous === undefined ? 'ADDED' : 'MODIFIED';
    this.collection(resource).record({ type, revision: this.#revision, object: stored, previous });
    return stored;
  }

  /** Removes the object and tells the watchers; answers with its last state. */
  remove(resource: Resource, object: KubeObject): KubeObject {
    const previous = this.get(resource, object.metadata.namespace, object.metadata.name);
    const last = this.#atNextRevision(resource, object);
    this.collection(resource).record({ type: 'DELETED', revision: this.#revision, object: last, previous });
    return last;
  }

  /** Expires every revision before now, for lists and for watches. */
  compact(): void {
    this.#revision += 1;
    for (const collection of this.#collections.values()) collection.compact(this.#revision);
  }

  #atNextRevision(resource: Resource, object: KubeObject): KubeObject {
    this.#revision += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
  }
}
