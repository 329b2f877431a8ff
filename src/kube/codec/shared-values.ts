/** A full table is emptied, so that churn cannot make it grow. */
const maxValues = 4096;
/** Characters. Longer values are rarely equal, and thousands of them would need megabytes. */
const maxKeyLength = 1024;

/** Returns one value for all equal ones: most of 100 000 pods share their phase, node, owner kind, labels and finalizers with others. */
export class SharedValues<V> {
  readonly #values = new Map<string, V>();

  /** Returns an equal earlier value, else `value`. Callers must not change it. */
  share(value: V): V {
    // Only equal values have equal JSON, whatever texts users wrote into them.
    return this.shareBy(typeof value === 'string' ? value : JSON.stringify(value), () => value);
  }

  /** Returns the earlier value of this key, else a new one. Callers must not change it. */
  shareBy(key: string, make: () => V): V {
    if (key.length > maxKeyLength) return make();
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#values.size >= maxValues) this.#values.clear();
    const value = make();
    this.#values.set(key, value);
    return value;
  }
}
