import { connectionPhrases } from '../runtime/connection-phrases.ts';
import { errorCode } from '../runtime/errors.ts';

/** The user must mend a file, a flag or the environment; the message says which and how. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The request got no answer, or half of one. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** As Node names it, e.g. `ECONNREFUSED`; `ETIMEDOUT` also for our own deadline. */
  readonly code: string;
  /** It broke on a reused idle connection before the first byte: the server had closed it, the request was most likely never seen. */
  readonly stale: boolean;

  constructor(message: string, facts: { code: string; stale?: boolean }) {
    super(message);
    this.code = facts.code;
    this.stale = facts.stale ?? false;
  }

  /** We and the server do not trust each other's certificate: new material may help, waiting does not. */
  get untrusted(): boolean {
    return /CERT|SSL|TLS|SIGNATURE|EPROTO/.test(this.code);
  }
}

// A kubelet's CA is looked for in several places: node/kubelet-error.ts says that in its own words.
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
  const why = phrases[code] ?? (err instanceof Error && err.message !== '' ? err.message.trim() : code);
  const facts = { code, stale: at.stale ?? false };
  return new ConnectionError(`cannot reach the API server ${at.server}: ${why}`, facts);
}

/** Our own deadline of one attempt has passed. */
export function timeoutError(what: string, at: { server: string; timeoutMs: number }): ConnectionError {
  const message = `the API server ${at.server} did not answer ${what} within ${at.timeoutMs / 1000} s`;
  return new ConnectionError(message, { code: 'ETIMEDOUT' });
}
