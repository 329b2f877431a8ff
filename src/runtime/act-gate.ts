import type { Clock } from './clock.ts';
import { LiveAnswers } from './fresh.ts';

/** What the API server says of the policies now, and how far our clock is from its own. */
export interface Confirmation {
  /** The policies the plan was made from are those the server has. */
  readonly same: boolean;
  readonly clockSkewMs: number;
}

export interface ActGateDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** False: nothing new may begin (lease, shutdown, policies, caches). Asked after every wait. */
  readonly mayGoOn: () => boolean;
  /** Reads the policies live. */
  readonly confirm: (signal: AbortSignal) => Promise<Confirmation>;
}

/** Stands before each act of one pass: once it is shut nothing more begins. */
export class ActGate {
  readonly #deps: ActGateDeps;
  readonly #answers: LiveAnswers<Confirmation | undefined>;
  #halted: string | undefined;
  #unread: Error | undefined;

  constructor(deps: ActGateDeps) {
    this.#deps = deps;
    this.#answers = new LiveAnswers(deps.clock);
  }

  /** Why the pass must not go on; undefined = it may. */
  get halted(): string | undefined {
    return this.#halted;
  }

  /** Shuts it; the first reason counts. */
  halt(reason: string): void {
    this.#halted ??= reason;
  }

  /** Throws when policies could not be read: what was left of the pass has not been done. When they have changed it was not to be. */
  throwIfUnread(): void {
    if (this.#unread !== undefined) throw this.#unread;
  }

  /** What the API server says of the policies, asked again once the question is `liveMs` old; undefined = they cannot be read. */
  confirmed(signal: AbortSignal): Promise<Confirmation | undefined> {
    return this.#answers.get('policies', () => this.#read(signal));
  }

  /** Whether nothing more may begin, by this answer too. */
  mustStop(confirmation: Confirmation | undefined): boolean {
    if (confirmation === undefined) this.halt('policies cannot be read');
    else if (!confirmation.same) this.halt('policies have changed');
    return this.#halted !== undefined || !this.#deps.mayGoOn();
  }

  async #read(signal: AbortSignal): Promise<Confirmation | undefined> {
    try {
      return await this.#deps.confirm(signal);
    } catch (cause) {
      this.#unread ??= new Error('confirming policies', { cause });
      return undefined;
    }
  }
}
