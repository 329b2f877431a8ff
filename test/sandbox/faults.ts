import type { SandboxRequest } from './request-log.ts';

/** What goes wrong with a request. */
export type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** The request is served after so long. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The request is never answered. */
  | { readonly kind: 'hang' }
  /** The connection breaks after so many bytes of the body. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** A pause before each piece of the body: a list trickles. */
  | { readonly kind: 'slow'; readonly pauseMs: number };

export type RequestPredicate = (request: SandboxRequest) => boolean;

interface Planned {
  readonly matches: RequestPredicate;
  readonly fault: Fault;
  timesLeft: number;
}

const maxPlanned = 1000;

/** What a real server cannot be told to do. */
export interface Faults {
  /** The fault happens to the next `times` requests that match (default 1), first planned, first used. */
  next(matches: RequestPredicate, fault: Fault, times?: number): void;
  /** Forgets what is planned. */
  clear(): void;
  /** Faults that have not happened yet. */
  readonly pending: number;
  /** Ends open watches, as a server does that is shut down. */
  closeWatches(matches?: RequestPredicate): void;
  /** Forgets the past: open watches end with a 410, older revisions and continue tokens are expired. */
  expireWatches(): void;
}

/** The faults that are planned. */
export class FaultPlan {
  #planned: Planned[] = [];

  get pending(): number {
    return this.#planned.reduce((sum, { timesLeft }) => sum + timesLeft, 0);
  }

  next(matches: RequestPredicate, fault: Fault, times = 1): void {
    if (this.#planned.length >= maxPlanned) throw new Error(`more than ${maxPlanned} faults are planned`);
    this.#planned.push({ matches, fault, timesLeft: times });
  }

  clear(): void {
    this.#planned = [];
  }

  /** The fault for this request, if any; it counts as used. */
  take(request: SandboxRequest): Fault | undefined {
    const planned = this.#planned.find(({ matches }) => matches(request));
    if (planned === undefined) return undefined;
    planned.timesLeft -= 1;
    if (planned.timesLeft <= 0) this.#planned = this.#planned.filter((other) => other !== planned);
    return planned.fault;
  }
}
