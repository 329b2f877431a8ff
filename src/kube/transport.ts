/** One request to the API server. */
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Escaped path, e.g. `/api/v1/namespaces/a/pods/b`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Of the body; default `application/json`. PATCH needs one of the patch types. */
  readonly contentType?: string;
  /** Accept header; default `application/json`. */
  readonly accept?: string;
  /** The server may compress the response (gzip): for a list, not for a watch. */
  readonly compressed?: boolean;
  /** Deadline of one attempt, body included; default 30 000 for `send`, none for `stream`. */
  readonly timeoutMs?: number;
  /** How often a 429, 5xx or a broken connection is tried again; default 4 for GET, 0 for others (but a 429 never acted: see class). */
  readonly retries?: number;
}

export interface KubeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** HTTP to one API server: authentication, keep-alive, deadline, retry, rate limit. */
export interface KubeTransport {
  /** Rejects with `ApiError` for a status of 300 or more, with the signal's reason when aborted, else with the I/O error. */
  send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse>;
  /** A streamed answer (watch): an empty chunk when the server has accepted, then chunks as they come; ends when the server ends, throws as `send` does. */
  stream(request: KubeRequest, signal: AbortSignal): AsyncIterable<Buffer>;
}

/** What the API server said no with (metav1.Status). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status, e.g. 404. */
  readonly status: number;
  /** metav1.StatusReason, e.g. `NotFound`; '' when the answer is no Status. */
  readonly reason: string;
  /** status.details.causes[].reason, e.g. `DisruptionBudget`. */
  readonly causes: readonly string[];
  /** status.details.causes[].message: a sentence for each cause, which may name what the message does not. */
  readonly explanations: readonly string[];
  readonly retryAfterMs: number | undefined;
  /** The server's own sentence; '' when the response has none. */
  readonly answer: string;
  /** The request had been sent before, on a connection that broke: the server may have acted on it then. */
  resent = false;

  constructor(
    message: string,
    facts: {
      status: number;
      reason?: string;
      causes?: readonly string[];
      explanations?: readonly string[];
      retryAfterMs?: number | undefined;
      answer?: string;
    },
  ) {
    super(message);
    this.status = facts.status;
    this.reason = facts.reason ?? '';
    this.causes = facts.causes ?? [];
    this.explanations = facts.explanations ?? [];
    this.retryAfterMs = facts.retryAfterMs;
    this.answer = facts.answer ?? '';
  }
}

export const isNotFound = (err: unknown): boolean => err instanceof ApiError && err.status === 404;
export const isConflict = (err: unknown): boolean => err instanceof ApiError && err.status === 409;
/** Refused for who asks, not for what or when: the same request, sent again, fares no better soon. */
export const isDenied = (err: unknown): boolean =>
  err instanceof ApiError && (err.status === 401 || err.status === 403);
export const isThrottled = (err: unknown): boolean => err instanceof ApiError && err.status === 429;
