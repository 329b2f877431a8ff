/** Enough for the nodes and namespaces of a large cluster; a full table starts over, so churn cannot make it grow. */
const maxStrings = 16_384;
/** Pods of one owner stand side by side in a list, so few need to be remembered. */
const maxValues = 1024;

/** Makes equal values one value: of 100 000 pods most share their node, phase, owner and finalizers. */
export class Interner {
  readonly #strings = new Map<string, string>();
  readonly #values = new Map<string, unknown>();

  string(text: string): string {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    if (this.#strings.size >= maxStrings) this.#strings.clear();
    this.#strings.set(text, text);
    return text;
  }

  /** The value first made for `key`; a key must determine its value, type included. */
  value<V>(key: string, make: () => V): V {
    const known = this.#values.get(key);
    // The caller's promise above is what makes this cast true.
    if (known !== undefined) return known as V;
    if (this.#values.size >= maxValues) this.#values.clear();
    const value = make();
    this.#values.set(key, value);
    return value;
  }
}
