/** First in, first out, each item once; takers wait for what is not there yet. */
export class EventQueue<T> {
  readonly #items = new Set<T>();
  readonly #takers: ((item: T | undefined) => void)[] = [];
  #closed = false;

  get size(): number {
    return this.#items.size;
  }

  push(item: T): void {
    const taker = this.#takers.shift();
    if (taker === undefined) this.#items.add(item);
    else taker(item);
  }

  /** The next item; undefined when the queue is closed and empty. */
  take(): Promise<T | undefined> {
    for (const item of this.#items) {
      this.#items.delete(item);
      return Promise.resolve(item);
    }
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** What is in it can still be taken; nobody waits for more. */
  close(): void {
    this.#closed = true;
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }
}
