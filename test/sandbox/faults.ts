import type { ApiServer } from './api-server.ts';
import type { SandboxRequest } from './server.ts';

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
  /** The request gets no response. */
  | { readonly kind: 'hang' }
  /** The connection breaks after so many bytes of the body. */
  | { readonly kind: 'cut'; readonly afterBytes: number };

type RequestPredicate = (request: SandboxRequest) => boolean;

/** What no test can make a real server do. */
export interface Faults {
  /** The fault happens to the next `times` requests that match (default 1); of several, the first planned is used. */
  next(matches: RequestPredicate, fault: Fault, times?: number): void;
  /** Faults that have not happened yet. */
  readonly pending: number;
  /** Forgets what is planned. */
  clear(): void;
  /** Ends open watches, as a server does that is shut down. */
  closeWatches(): void;
  /** Forgets the past: open watches end with a 410, older revisions and continue tokens are expired. */
  expireWatches(): void;
}

/** The faults that are planned. */
export class FaultPlan implements Faults {
  readonly #api: ApiServer;
  #planned: { readonly matches: RequestPredicate; readonly fault: Fault; timesLeft: number }[] = [];

  constructor(api: ApiServer) {
    this.#api = api;
  }

  get pending(): number {
    return this.#planned.reduce((sum, { timesLeft }) => sum + timesLeft, 0);
  }

  next(matches: RequestPredicate, fault: Fault, times = 1): void {
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

  closeWatches(): void {
    this.#api.closeWatches();
  }

  expireWatches(): void {
    this.#api.expireWatches();
  }
}
