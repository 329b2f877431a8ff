import type { ApiServer } from './api-server.ts';
import type { SandboxRequest } from '../server.ts';

export interface Refusal {
  readonly kind: 'status';
  readonly status: number;
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

export type Fault =
  | Refusal
  /** Serves the request once the promise has resolved. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** Sends no response. */
  | { readonly kind: 'hang' };

/** Faults of coming requests; the first planned one that matches is used. */
export class PlannedFaults<Request, F> {
  #planned: { readonly matches: (request: Request) => boolean; readonly fault: F; timesLeft: number }[] = [];

  /** Number of faults that have not happened yet. */
  get pending(): number {
    return this.#planned.reduce((sum, { timesLeft }) => sum + timesLeft, 0);
  }

  /** Plans the fault for the next `times` matching requests. */
  next(matches: (request: Request) => boolean, fault: F, times = 1): void {
    this.#planned.push({ matches, fault, timesLeft: times });
  }

  clear(): void {
    this.#planned = [];
  }

  /** Returns the fault of this request, if any, and counts it as used. */
  take(request: Request): F | undefined {
    const planned = this.#planned.find(({ matches }) => matches(request));
    if (planned === undefined) return undefined;
    planned.timesLeft -= 1;
    if (planned.timesLeft <= 0) this.#planned = this.#planned.filter((other) => other !== planned);
    return planned.fault;
  }
}

/** Faults that no test can cause on a real server. */
export class Faults extends PlannedFaults<SandboxRequest, Fault> {
  readonly #api: ApiServer;

  constructor(api: ApiServer) {
    super();
    this.#api = api;
  }

  /** Ends open watches, like a server that shuts down. */
  closeWatches(): void {
    this.#api.closeWatches();
  }
}
