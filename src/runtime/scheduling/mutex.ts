/** A mutex: runs tasks one after the other, in the order of the calls. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Rejects as the task does, or with the signal's reason if that aborts before the task starts. */
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const result = this.#last.then(() => {
      signal.throwIfAborted();
      return task();
    });
    // The next task starts after this one, whether it succeeds or fails.
    this.#last = result.catch(() => undefined);
    return result;
  }
}
