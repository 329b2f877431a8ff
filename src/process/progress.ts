import { systemClock, type Clock } from '../runtime/scheduling/clock.ts';
import { printable } from '../runtime/text/printable.ts';

/** Shorter work needs no progress line; nobody can read faster updates. */
const shownAfterMs = 1000;
const refreshMs = 100;
/** A file or a pipe keeps each line. */
const lineEveryMs = 1000;
/** A line that wraps cannot be erased. */
const maxWidth = 79;

interface ProgressOutput {
  readonly write: (text: string) => void;
  /** A terminal has one line, which changes; a file or a pipe has many. */
  readonly isTerminal: boolean;
}

/** Shows the progress of work, once the work takes longer than a second. */
export class Progress {
  readonly #output: ProgressOutput | undefined;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #startedMs: number;
  #shownMs = -Infinity;

  /** `output` undefined = show nothing. */
  constructor(output: ProgressOutput | undefined, clock: Pick<Clock, 'monotonicMs'>) {
    this.#output = output;
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  /** Shows one of many steps; most are skipped. */
  step(text: string): void {
    const everyMs = this.#output?.isTerminal === false ? lineEveryMs : refreshMs;
    if (this.#clock.monotonicMs() - this.#shownMs >= everyMs) this.phase(text);
  }

  /** Shows the start of work that may take long, at once. */
  phase(text: string): void {
    const now = this.#clock.monotonicMs();
    if (now - this.#startedMs < shownAfterMs) return;
    this.#shownMs = now;
    const line = printable(text).slice(0, maxWidth);
    this.#output?.write(this.#output.isTerminal ? `${erase}${line}` : `${line}\n`);
  }

  /** Erases the line. */
  end(): void {
    if (this.#shownMs !== -Infinity && this.#output?.isTerminal === true) this.#output.write(erase);
    this.#shownMs = -Infinity;
  }
}

const erase = '\r\u001b[K';

/** The progress that `--progress` requests, on standard error. */
export function progressOf(when: 'auto' | 'always' | 'never', write: (text: string) => void): Progress {
  const isTerminal = process.stderr.isTTY;
  const isShown = when === 'always' || (when === 'auto' && isTerminal);
  return new Progress(isShown ? { write, isTerminal } : undefined, systemClock);
}
