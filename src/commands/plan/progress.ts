import type { Clock } from '../../runtime/scheduling/clock.ts';
import { printable } from '../../runtime/text/printable.ts';

/** Below it nobody needs to be told; faster than it nobody reads. */
const patienceMs = 1000;
const refreshMs = 100;
/** A line that wraps cannot be taken away. */
const maxWidth = 79;

/** One line on a terminal that says how far the work is, shown only when it takes longer than a second. */
export class Progress {
  readonly #write: ((text: string) => void) | undefined;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #startedMs: number;
  #shownMs = -Infinity;

  /** `write` undefined = there is no terminal. */
  constructor(write: ((text: string) => void) | undefined, clock: Pick<Clock, 'monotonicMs'>) {
    this.#write = write;
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  /** One of many: most are not shown. */
  step(text: string): void {
    if (this.#clock.monotonicMs() - this.#shownMs >= refreshMs) this.phase(text);
  }

  /** Begins something that may take long without a word: shown at once. */
  phase(text: string): void {
    const now = this.#clock.monotonicMs();
    if (now - this.#startedMs < patienceMs) return;
    this.#shownMs = now;
    this.#write?.(`\r\u001b[K${printable(text).slice(0, maxWidth)}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#shownMs !== -Infinity) this.#write?.('\r\u001b[K');
    this.#shownMs = -Infinity;
  }
}
