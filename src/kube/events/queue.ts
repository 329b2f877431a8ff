/** First in, first out, each item once; takers wait for what is not there yet. An item in hand is not queued again. */
export class EventQueue<T> {
  readonly #items = new Set<T>();
  readonly #inHand = new Set<T>();
  readonly #takers: ((item: T | undefined) => void)[] = [];
  #closed = false;

  get size(): number {
    return this.#items.size;
  }

  /** True from `take` to `done`. */
  isInHand(item: T): boolean {
    return this.#inHand.has(item);
  }

  push(item: T): void {
    if (this.#inHand.has(item)) return;
    this.#items.add(item);
    this.#takers.shift()?.(this.#next());
  }

  /** The next item; undefined when the queue is closed and empty. */
  take(): Promise<T | undefined> {
    if (this.#closed || this.#items.size > 0) return Promise.resolve(this.#next());
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** Gives the item back: from now on it can be queued again. */
  done(item: T): void {
    this.#inHand.delete(item);
  }

  /** What is in it can still be taken; nobody waits for more. */
  close(): void {
    this.#closed = true;
    for (const taker of this.#takers.splice(0)) taker(this.#next());
  }

  #next(): T | undefined {
    const [item] = this.#items;
    if (item === undefined) return undefined;
    this.#items.delete(item);
    this.#inHand.add(item);
    return item;
  }
}
