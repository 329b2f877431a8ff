import type { Clock } from '../../runtime/scheduling/clock.ts';
import { printable } from '../../runtime/text/printable.ts';

/** Shorter work needs no progress line; nobody can read faster updates. */
const shownAfterMs = 1000;
const refreshMs = 100;
/** A line that wraps cannot be erased. */
const maxWidth = 79;

/** One line on a terminal that shows the progress of work, once the work takes longer than a second. */
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

  /** Shows one of many steps; most are skipped. */
  step(text: string): void {
    if (this.#clock.monotonicMs() - this.#shownMs >= refreshMs) this.phase(text);
  }

  /** Shows the start of work that may take long, at once. */
  phase(text: string): void {
    const now = this.#clock.monotonicMs();
    if (now - this.#startedMs < shownAfterMs) return;
    this.#shownMs = now;
    this.#write?.(`\r\u001b[K${printable(text).slice(0, maxWidth)}`);
  }

  /** Erases the line. */
  end(): void {
    if (this.#shownMs !== -Infinity) this.#write?.('\r\u001b[K');
    this.#shownMs = -Infinity;
  }
}
