/** So many actions are printed with a violation. */
const shownActions = 20;

/** Records actions, faults and violations; prints a violation at once, with what led to it. */
export class Journal {
  readonly #seed: number;
  readonly #print: (line: string) => void;
  readonly #actions: string[] = [];
  readonly #violations = new Set<string>();
  #faultCount = 0;
  #isFaulty = false;
  #lastFaultMs = 0;

  constructor(seed: number, print: (line: string) => void) {
    this.#seed = seed;
    this.#print = print;
  }

  get violations(): readonly string[] {
    return [...this.#violations];
  }

  get faultCount(): number {
    return this.#faultCount;
  }

  /** The end of the last fault, or now during one. */
  lastFaultMs(nowMs: number): number {
    return this.#isFaulty ? nowMs : this.#lastFaultMs;
  }

  action(text: string): void {
    this.#actions.push(`${new Date().toISOString().slice(11, 23)} ${text}`);
    if (this.#actions.length > shownActions) this.#actions.shift();
  }

  faultBegins(text: string): void {
    this.#faultCount += 1;
    this.#isFaulty = true;
    this.action(text);
  }

  faultEnds(): void {
    this.#isFaulty = false;
    this.#lastFaultMs = Date.now();
    this.action('the fault is over');
  }

  violation(text: string): void {
    if (this.#violations.has(text)) return;
    this.#violations.add(text);
    const lines = [`VIOLATION: ${text}`, `seed ${this.#seed}, last actions:`, ...this.#actions];
    this.#print(lines.join('\n  '));
  }
}
