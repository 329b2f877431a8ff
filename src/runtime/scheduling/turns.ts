/** Lets tasks that must not overlap run one after the other, in the order in which they asked. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Rejects as the task does, or with the signal's reason when that aborts before its turn. */
  take<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const mine = this.#last.then(() => {
      signal.throwIfAborted();
      return task();
    });
    // Who comes next waits for our end, not for our success.
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
