import type { Identified } from './objects.ts';

/**
 * A name belongs to one object at a time. An index by name would cost 40 bytes for each pod, only for servers that lose a deletion. So only small
 * collections are searched for namesakes: nodes, namespaces and policies.
 */
const maxSearched = 10_000;

/** The objects of one resource by UID. */
export class View<T extends Identified> {
  readonly #items = new Map<string, T>();

  get items(): ReadonlyMap<string, T> {
    return this.#items;
  }

  /** Adds an object of a list, in which names are unique. */
  add(object: T): void {
    this.#items.set(object.uid, object);
  }

  /** Adds or replaces an object. Removes an object with the same name and another UID. */
  put(object: T): void {
    // Deleted first: otherwise the map would keep the string of the replaced object as its key, 56 bytes for each pod.
    if (!this.#items.delete(object.uid)) this.#removeNamesake(object);
    this.#items.set(object.uid, object);
  }

  /** Removes by UID, so that a late deletion cannot hit a namesake. */
  remove(object: T): void {
    this.#items.delete(object.uid);
  }

  #removeNamesake({ name, namespace }: T): void {
    if (this.#items.size > maxSearched) return;
    for (const [uid, other] of this.#items) {
      if (other.name === name && other.namespace === namespace) this.#items.delete(uid);
    }
  }
}
