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
    const key = typeof value === 'string' ? value : JSON.stringify(value);
    if (key.length > maxKeyLength) return value;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#values.size >= maxValues) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }
}
