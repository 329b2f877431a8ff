import { errorCode } from '../../runtime/errors.ts';

/** The user must correct a file, a flag or the environment; the message names which and how. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** No response arrived, or only a part of one. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** Node's code, e.g. `ECONNREFUSED`; `ETIMEDOUT` also for our own deadline. */
  readonly code: string;
  readonly why: string;
  /** A reused idle connection broke before the first byte: the server had closed it and most likely never received the request. */
  readonly stale: boolean;

  constructor(message: string, facts: { code: string; why?: string; stale?: boolean }) {
    super(message);
    this.code = facts.code;
    this.why = facts.why ?? message;
    this.stale = facts.stale ?? false;
  }

  /** A certificate is not trusted: new certificates or CAs may help, waiting does not. */
  get untrusted(): boolean {
    return /CERT|SSL|TLS|SIGNATURE|EPROTO/.test(this.code);
  }
}

/** Our own deadline of one attempt has passed. */
export class DeadlineError extends ConnectionError {}

/** Explanations of Node's codes for a failed connection to any server. */
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

// A kubelet's CA may be in several places: node/kubelet/error.ts has its own text for these.
const phrases: Readonly<Record<string, string>> = {
  ...connectionPhrases,
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself, not by the configured CA',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by the configured CA',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by the configured CA',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is not signed by the configured CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not signed by the configured CA',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed by the configured CA',
};

interface Peer {
  readonly server: string;
  readonly proxy?: string | undefined;
}

const peerText = ({ server, proxy }: Peer): string =>
  proxy === undefined ? server : `${server} through the proxy ${proxy}`;

/** Describes an error of the network or of TLS in one line that names the server. */
export function connectionError(err: unknown, at: Peer & { stale?: boolean }): ConnectionError {
  const code = errorCode(err) ?? '';
  const why = err instanceof Error && err.message !== '' ? err.message.trim() : code;
  const facts = { code, why, stale: at.stale ?? false };
  return new ConnectionError(`cannot reach the API server ${peerText(at)}: ${phrases[code] ?? why}`, facts);
}

export function timeoutError(request: string, at: Peer & { timeoutMs: number }): DeadlineError {
  const message = `the API server ${peerText(at)} did not respond to ${request} within ${at.timeoutMs / 1000} s`;
  return new DeadlineError(message, { code: 'ETIMEDOUT' });
}

/** The source of the credentials hangs: a file on a mount, or a plugin of a kubeconfig. */
export const credentialsTimeout = (timeoutMs: number): DeadlineError =>
  new DeadlineError(`the credentials could not be read within ${timeoutMs / 1000} s`, { code: 'ETIMEDOUT' });
