import type { Clock } from './clock.ts';

type Monotonic = Pick<Clock, 'monotonicMs'>;

/** How old, in milliseconds, what is known of the world may be when something is removed because of it: who takes longer asks again. */
export const liveMs = 5_000;

/** Whether what was asked for at that monotonic time may still be acted upon. */
export const isLive = (at: number, clock: Monotonic): boolean => clock.monotonicMs() - at < liveMs;

/** Answers of a pass, each by its key, that are asked for again once they may not be acted upon any more; one under way is waited for, and a failure is remembered as well. */
export class LiveAnswers<T> {
  readonly #clock: Monotonic;
  readonly #asked = new Map<string, { readonly at: number; readonly answer: Promise<T> }>();

  constructor(clock: Monotonic) {
    this.#clock = clock;
  }

  get(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#asked.get(key);
    if (known !== undefined && isLive(known.at, this.#clock)) return known.answer;
    const asked = { at: this.#clock.monotonicMs(), answer: ask() };
    this.#asked.set(key, asked);
    return asked.answer;
  }
}

/** So many in a row that are too old are no pause of this process, but a server that is slow. */
const maxLooks = 3;

interface LookOptions<T> {
  readonly clock: Monotonic;
  /** Whether something is done because of the answer: the others may be old. */
  readonly isYes: (answer: T) => boolean;
  /** The monotonic time of what a look takes over from before it; undefined = it takes over nothing. */
  readonly knownAt?: () => number | undefined;
}

/** Looks again where a yes is too old before it can be acted upon, as after a pause of this process; 'slow' = so it was each time. */
export async function lookLive<T>(
  look: () => Promise<T>,
  { clock, isYes, knownAt }: LookOptions<T>,
): Promise<T | 'slow'> {
  for (let looks = 0; looks < maxLooks; looks++) {
    const at = clock.monotonicMs();
    const answer = await look();
    if (!isYes(answer) || isLive(Math.min(at, knownAt?.() ?? at), clock)) return answer;
  }
  return 'slow';
}
