/** First in, first out, each item once. `take` waits for the next item. A taken item is not queued again before `done`. */
export class EventQueue<T> {
  readonly #items = new Set<T>();
  readonly #taken = new Set<T>();
  readonly #takers: ((item: T | undefined) => void)[] = [];
  #closed = false;

  get size(): number {
    return this.#items.size;
  }

  isTaken(item: T): boolean {
    return this.#taken.has(item);
  }

  push(item: T): void {
    if (this.#taken.has(item)) return;
    this.#items.add(item);
    this.#takers.shift()?.(this.#next());
  }

  /** Returns the next item; undefined if the queue is closed and empty. */
  take(): Promise<T | undefined> {
    if (this.#closed || this.#items.size > 0) return Promise.resolve(this.#next());
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  done(item: T): void {
    this.#taken.delete(item);
  }

  /** Remaining items can still be taken, but `take` no longer waits. */
  close(): void {
    this.#closed = true;
    for (const taker of this.#takers.splice(0)) taker(this.#next());
  }

  #next(): T | undefined {
    const [item] = this.#items;
    if (item === undefined) return undefined;
    this.#items.delete(item);
    this.#taken.add(item);
    return item;
  }
}
