/** Remembers the values of the last pass, so that each is logged or reported once while it lasts. */
export class Changed<T> {
  #last: ReadonlySet<T> = new Set();

  get last(): readonly T[] {
    return [...this.#last];
  }

  /** Returns the values that the last pass did not have. */
  added(values: Iterable<T>): ReadonlySet<T> {
    const before = this.#last;
    this.#last = new Set(values);
    return this.#last.difference(before);
  }
}
