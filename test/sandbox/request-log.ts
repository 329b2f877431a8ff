/** A request as the server saw it. */
export interface SandboxRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: string;
  readonly accept: string;
  /** Undefined while it is not answered. */
  readonly status: number | undefined;
}

const maxEntries = 10_000;

/** The latest requests, oldest first. */
export class RequestLog {
  #entries: SandboxRequest[] = [];

  get entries(): readonly SandboxRequest[] {
    return this.#entries.slice(-maxEntries);
  }

  add(request: Omit<SandboxRequest, 'status'>): {
    readonly request: SandboxRequest;
    readonly answered: (status: number) => void;
  } {
    const entry = { ...request, status: undefined as number | undefined };
    this.#entries.push(entry);
    if (this.#entries.length > 2 * maxEntries) this.#entries = this.#entries.slice(-maxEntries);
    return {
      request: entry,
      answered: (status) => {
        entry.status = status;
      },
    };
  }
}
