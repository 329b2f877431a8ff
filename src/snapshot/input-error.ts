/** An unusable input file. Each problem is one line, `file: field: problem`, without the field if it concerns the whole file. */
export class InputError extends Error {
  override readonly name = 'InputError';
  #others: readonly InputError[] = [];

  constructor(file: string, field: string, what: string) {
    super([file, field, what].filter((part) => part !== '').join(': '));
  }

  /** The message and the problems that were added. Never empty. */
  get problems(): readonly string[] {
    return [this.message, ...this.#others.flatMap(({ problems }) => problems)];
  }

  /** Adds other problems, so that all are reported at once. */
  and(others: readonly InputError[]): this {
    this.#others = [...this.#others, ...others];
    return this;
  }
}
