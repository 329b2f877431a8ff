import { errorCode } from '../../runtime/errors.ts';

/** The user must mend a file, a flag or the environment; the message says which and how. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The request got no response, or a part of one. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** As Node names it, e.g. `ECONNREFUSED`; `ETIMEDOUT` also for our own deadline. */
  readonly code: string;
  /** Why, in Node's words. */
  readonly why: string;
  /** It broke on a reused idle connection before the first byte: the server had closed it, the request was most likely never seen. */
  readonly stale: boolean;

  constructor(message: string, facts: { code: string; why?: string; stale?: boolean }) {
    super(message);
    this.code = facts.code;
    this.why = facts.why ?? message;
    this.stale = facts.stale ?? false;
  }

  /** We and the server do not trust each other's certificate: new material may help, waiting does not. */
  get untrusted(): boolean {
    return /CERT|SSL|TLS|SIGNATURE|EPROTO/.test(this.code);
  }
}

/** Our own deadline of one attempt has passed. */
export class DeadlineError extends ConnectionError {}

/** Explains Node's codes for a connection that failed, whatever the server: half a sentence each. */
export const connectionPhrases: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed by the other side',
  EPIPE: 'connection closed by the other side',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'no such host name',
  EAI_AGAIN: 'looking up the host name failed',
  EPROTO: 'the TLS handshake failed (does it speak TLS?)',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the TLS handshake failed (does it speak TLS?)',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet (is the clock right?)',
};

// A kubelet's CA may be in several places: node/kubelet-error.ts has its own text for these.
const phrases: Readonly<Record<string, string>> = {
  ...connectionPhrases,
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself, not by the configured CA',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by the configured CA',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by the configured CA',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is not signed by the configured CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not signed by the configured CA',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed by the configured CA',
};

/** An error of the network or of TLS as one line that names the server. */
export function connectionError(err: unknown, at: { server: string; stale?: boolean }): ConnectionError {
  const code = errorCode(err) ?? '';
  const why = err instanceof Error && err.message !== '' ? err.message.trim() : code;
  const facts = { code, why, stale: at.stale ?? false };
  return new ConnectionError(`cannot reach the API server ${at.server}: ${phrases[code] ?? why}`, facts);
}

/** Our own deadline of one attempt has passed. */
export function timeoutError(what: string, at: { server: string; timeoutMs: number }): DeadlineError {
  const message = `the API server ${at.server} did not answer ${what} within ${at.timeoutMs / 1000} s`;
  return new DeadlineError(message, { code: 'ETIMEDOUT' });
}
