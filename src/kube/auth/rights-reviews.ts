import type { Clock } from '../../runtime/scheduling/clock.ts';
import { Wake } from '../../runtime/scheduling/wake.ts';

interface RightsReviewsDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The shortest pause after a review, when a request was refused since, or a right was missing or not decided. */
  readonly soonMs: number;
  /** The pause when nothing of this happened; undefined = without end. */
  readonly restMs?: number;
}

/** When a process reviews its rights: each review is one request for each right. */
export class RightsReviews {
  readonly wake = new Wake();
  readonly #deps: RightsReviewsDeps;
  #isRequested = false;
  #isUnsettled = false;
  #lastMs = -Infinity;

  constructor(deps: RightsReviewsDeps) {
    this.#deps = deps;
  }

  get isDue(): boolean {
    const { clock, soonMs, restMs } = this.#deps;
    const pauseMs = this.#isUnsettled ? soonMs : restMs;
    const isOver = pauseMs !== undefined && clock.monotonicMs() - this.#lastMs >= pauseMs;
    return this.#isRequested || isOver;
  }

  /** Makes a review due at once, because other rights are needed. */
  request(): void {
    this.#isRequested = true;
    this.wake.trigger();
  }

  /** The API server has refused a request: with 403, which admission and webhooks use, too. */
  noteRefusal(): void {
    this.#isUnsettled = true;
    this.wake.trigger();
  }

  /** `review` resolves with whether every right was decided, and none is missing. */
  async run(review: () => Promise<boolean>): Promise<void> {
    this.#isRequested = this.#isUnsettled = false;
    this.#lastMs = this.#deps.clock.monotonicMs();
    let isSettled = false;
    try {
      isSettled = await review();
    } finally {
      // A request that was refused meanwhile counts, too.
      if (!isSettled) this.#isUnsettled = true;
    }
  }
}
