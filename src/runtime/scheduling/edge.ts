/** Calls back whenever a condition becomes true. */
export class Edge {
  readonly #condition: () => boolean;
  readonly #onTrue: () => void;
  #wasTrue = false;

  constructor(condition: () => boolean, onTrue: () => void) {
    this.#condition = condition;
    this.#onTrue = onTrue;
  }

  check(): void {
    const isTrue = this.#condition();
    if (isTrue && !this.#wasTrue) this.#onTrue();
    this.#wasTrue = isTrue;
  }
}
