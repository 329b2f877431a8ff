import type { Clock } from './clock.ts';

/** Both clocks, read at one moment. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export const momentOf = (clock: Pick<Clock, 'now' | 'monotonicMs'>): Moment => ({
  wallMs: clock.now().getTime(),
  monotonicMs: clock.monotonicMs(),
});

export interface Jump {
  /** Latest wall clock time before the jump, Unix milliseconds. */
  readonly untilMs: number;
  readonly ms: number;
}

/** A synchronised clock is never adjusted by more; after a larger jump ages are unknown. */
const tolerableMs = 60_000;
/** Only bounds the memory. */
const maxJumps = 100;

/** Jump of the wall clock between two moments, negative if it was set back; 0 if tolerable or without an earlier moment. */
function jumpMs(before: Moment | undefined, now: Moment): number {
  if (before === undefined) return 0;
  const ms = now.wallMs - before.wallMs - (now.monotonicMs - before.monotonicMs);
  return Math.abs(ms) > tolerableMs ? ms : 0;
}

/** Whether the wall clock has jumped since that moment. */
export const hasJumped = (since: Moment, clock: Pick<Clock, 'now' | 'monotonicMs'>): boolean =>
  jumpMs(since, momentOf(clock)) !== 0;

/** The passes of one unit by both clocks: how far the wall clock has jumped from one to the next. */
export class PassClock {
  readonly #clock: Pick<Clock, 'now' | 'monotonicMs'>;
  #last: Moment | undefined;
  #jumps: readonly Jump[] = [];

  constructor(clock: Pick<Clock, 'now' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Begins a pass. `gapMs`: monotonic, since the last pass. The first pass has neither gap nor jump. */
  begin(): { readonly began: Moment; readonly jumpedMs: number; readonly gapMs: number } {
    const began = momentOf(this.#clock);
    const jumpedMs = jumpMs(this.#last, began);
    const gapMs = began.monotonicMs - (this.#last ?? began).monotonicMs;
    this.#last = began;
    if (jumpedMs > 0)
      this.#jumps = [...this.#jumps, { untilMs: began.wallMs - jumpedMs, ms: jumpedMs }].slice(-maxJumps);
    return { began, jumpedMs, gapMs };
  }

  /** The jumps forward, oldest first. */
  get jumps(): readonly Jump[] {
    return this.#jumps;
  }
}

/** Milliseconds by which an object with this date seems too old; never negative, because an object that seems too young is kept. */
export function ageErrorMs(datedMs: number, jumps: readonly Jump[]): number {
  let movedMs = datedMs;
  for (const { untilMs, ms } of jumps) if (movedMs <= untilMs) movedMs += ms;
  return movedMs - datedMs;
}
