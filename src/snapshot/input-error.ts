/** An input file that cannot be used; each problem is one line, `file: field: what is wrong`, without the field where the whole file is meant. */
export class InputError extends Error {
  override readonly name = 'InputError';
  #others: readonly InputError[] = [];

  constructor(file: string, field: string, what: string) {
    super([file, field, what].filter((part) => part !== '').join(': '));
  }

  /** All that is told: the message and what was found beside it. Never empty. */
  get problems(): readonly string[] {
    return [this.message, ...this.#others.flatMap(({ problems }) => problems)];
  }

  /** The same error, which tells these too: what is wrong in one file is told at once. */
  and(others: readonly InputError[]): this {
    this.#others = [...this.#others, ...others];
    return this;
  }
}
