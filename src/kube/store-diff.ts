import type { Identified } from './objects.ts';

export interface Difference<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Of a deleted object: as it was last told. */
  readonly item: T;
}

/** Knows what of a store was told, so that what is still to be told follows from the store alone, however it came about. */
export class StoreDiff<T extends Identified> {
  readonly #told = new Map<string, T>();

  /** The UIDs that have something to tell, those of deleted objects first: a name may have been used again. */
  pending(items: ReadonlyMap<string, T>): string[] {
    const gone = [...this.#told.keys()].filter((uid) => !items.has(uid));
    const changed = [...items.keys()].filter((uid) => this.#difference(uid, items) !== undefined);
    return [...gone, ...changed];
  }

  /** What there is to tell about one UID, now taken as told; undefined when it is nothing after all. */
  take(uid: string, items: ReadonlyMap<string, T>): Difference<T> | undefined {
    const difference = this.#difference(uid, items);
    if (difference?.type === 'DELETED') this.#told.delete(uid);
    else if (difference !== undefined) this.#told.set(uid, difference.item);
    return difference;
  }

  #difference(uid: string, items: ReadonlyMap<string, T>): Difference<T> | undefined {
    const told = this.#told.get(uid);
    const item = items.get(uid);
    if (item === undefined) return told && { type: 'DELETED', item: told };
    if (told === undefined) return { type: 'ADDED', item };
    return told.resourceVersion === item.resourceVersion ? undefined : { type: 'MODIFIED', item };
  }
}
