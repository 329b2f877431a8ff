/** Calls back whenever a condition becomes true. */
export class Edge {
  readonly #holds: () => boolean;
  readonly #onTrue: () => void;
  #held = false;

  constructor(holds: () => boolean, onTrue: () => void) {
    this.#holds = holds;
    this.#onTrue = onTrue;
  }

  check(): void {
    const held = this.#holds();
    if (held && !this.#held) this.#onTrue();
    this.#held = held;
  }
}
