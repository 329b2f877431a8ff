export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Escaped path, e.g. `/api/v1/namespaces/a/pods/b`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Content type of the body; default `application/json`. PATCH needs one of the patch types. */
  readonly contentType?: string;
  /** Accept header; default `application/json`. */
  readonly accept?: string;
  /** Deadline of one attempt, from the reading of the credentials to the end of the body; default 30 000 for `send`, none for `stream`. */
  readonly timeoutMs?: number;
  /** How often to send again after a 429, a 5xx or a broken connection; default 4 for GET with `send`, else 0. */
  readonly retries?: number;
}

export interface KubeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** HTTP to one server: authentication, keep-alive, deadline, retry, rate limit. */
export interface KubeTransport {
  /** Rejects with `ApiError` for a status of 300 or more, with the signal's reason when aborted, else with `ConnectionError`. */
  send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse>;
  /** Streams the response (watch, list): an empty chunk when the server has accepted, then chunks as they arrive. Ends when the server ends it; throws as `send` does. */
  stream(request: KubeRequest, signal: AbortSignal): AsyncIterable<Buffer>;
}

export const maxRetryAfterMs = 60_000;

/** The server rejected the request (metav1.Status). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** metav1.StatusReason, e.g. `NotFound`; '' when the response is no Status. */
  readonly reason: string;
  /** status.details.causes[].reason, e.g. `DisruptionBudget`. */
  readonly causes: readonly string[];
  /** status.details.causes[].message: a sentence for each cause, which may contain details that `message` lacks. */
  readonly explanations: readonly string[];
  /** At most `maxRetryAfterMs`, whatever the server has sent. */
  readonly retryAfterMs: number | undefined;
  readonly serverMessage: string;
  /** The response is a metav1.Status: the API server or its admission has judged the request. False: priority and fairness, or a proxy, responded with text. */
  readonly isStatus: boolean;
  /** The request was sent before, on a connection that broke: the server may have executed it then. */
  resent = false;

  constructor(
    message: string,
    facts: {
      status: number;
      reason?: string;
      causes?: readonly string[];
      explanations?: readonly string[];
      retryAfterMs?: number | undefined;
      serverMessage?: string;
      isStatus?: boolean;
    },
  ) {
    super(message);
    this.status = facts.status;
    this.reason = facts.reason ?? '';
    this.causes = facts.causes ?? [];
    this.explanations = facts.explanations ?? [];
    const { retryAfterMs } = facts;
    this.retryAfterMs = retryAfterMs && Math.min(retryAfterMs, maxRetryAfterMs);
    this.serverMessage = facts.serverMessage ?? '';
    this.isStatus = facts.isStatus ?? false;
  }
}

/** Returns undefined for an expected error. */
export async function unless<T>(
  isExpected: (err: unknown) => boolean,
  response: Promise<T>,
): Promise<T | undefined> {
  try {
    return await response;
  } catch (err) {
    if (isExpected(err)) return undefined;
    throw err;
  }
}

/** Whether the API server itself reports that the object does not exist. The 404 of a proxy has no reason. */
export const isMissing = (err: unknown): boolean => err instanceof ApiError && err.reason === 'NotFound';

export const isNotFound = (err: unknown): boolean => err instanceof ApiError && err.status === 404;
/** The server no longer has the resourceVersion or the continue token. */
export const isExpired = (err: unknown): boolean => err instanceof ApiError && err.status === 410;
export const isConflict = (err: unknown): boolean => err instanceof ApiError && err.status === 409;
/** Rejected because of the user: a retry soon is rejected again. */
export const isDenied = (err: unknown): boolean =>
  err instanceof ApiError && (err.status === 401 || err.status === 403);
/** The identity is known and lacks the right. */
export const isForbidden = (err: unknown): boolean => err instanceof ApiError && err.status === 403;
export const isThrottled = (err: unknown): boolean => err instanceof ApiError && err.status === 429;
