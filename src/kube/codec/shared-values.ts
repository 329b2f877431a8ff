/** A full table starts over, so that churn cannot make it grow. */
const maxValues = 4096;
/** In characters. Longer values are rarely equal, and thousands of them would be megabytes. */
const maxKeyLength = 1024;

/** Returns one value for all equal ones: most of 100 000 pods have the same phase, node, owner kind, labels and finalizers as others. */
export class SharedValues<V> {
  readonly #values = new Map<string, V>();

  /** An equal value that came before, else `value`. Nobody may change it. */
  share(value: V): V {
    // The JSON of two values is equal only if they are, whatever texts somebody wrote into them.
    const key = typeof value === 'string' ? value : JSON.stringify(value);
    if (key.length > maxKeyLength) return value;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#values.size >= maxValues) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }
}
