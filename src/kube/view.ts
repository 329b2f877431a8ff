import type { Identified } from './objects.ts';

/** The objects of one resource by UID, of which a name has one at a time. */
export class View<T extends Identified> {
  readonly #items = new Map<string, T>();
  /** namespace → name → UID. Two levels, so that no joined key has to be kept for each object. */
  readonly #uids = new Map<string, Map<string, string>>();

  get items(): ReadonlyMap<string, T> {
    return this.#items;
  }

  /** Adds or replaces; an object of the same name with another UID is gone then. */
  put(object: T): void {
    const names = this.#names(object);
    this.#items.delete(names.get(object.name) ?? object.uid);
    // Taken out first: else the maps keep the replaced object's strings as their keys, 100 bytes for each pod.
    this.#items.delete(object.uid);
    names.delete(object.name);
    this.#items.set(object.uid, object);
    names.set(object.name, object.uid);
  }

  /** Removes by UID, so that a late deletion cannot hit a namesake. */
  remove(object: T): void {
    if (!this.#items.delete(object.uid)) return;
    const names = this.#names(object);
    names.delete(object.name);
    if (names.size === 0) this.#uids.delete(object.namespace ?? '');
  }

  #names({ namespace = '' }: T): Map<string, string> {
    const known = this.#uids.get(namespace);
    if (known !== undefined) return known;
    const names = new Map<string, string>();
    this.#uids.set(namespace, names);
    return names;
  }
}
