import { ConnectionError, connectionPhrases, DeadlineError } from '../../kube/http/connection-errors.ts';
import { ApiError } from '../../kube/http/transport.ts';
import { errorLine } from '../../runtime/errors.ts';

/** What callers tell apart: a kubelet that is away, one that hangs, one that refuses us, one we cannot trust, one that answers nonsense. */
type KubeletFailure = 'unavailable' | 'deadline' | 'denied' | 'untrusted' | 'malformed';

/** A request to the kubelet that failed; the message names the kubelet and what to mend, in one line. */
export class KubeletError extends Error {
  override readonly name = 'KubeletError';
  readonly failure: KubeletFailure;

  constructor(message: string, failure: KubeletFailure, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

/** The trust that a kubelet's certificate failed. */
interface TriedTrust {
  /** Each CA, as a person would look for it. */
  readonly tried: readonly string[];
  /** The names of which the certificate must have one. */
  readonly names: readonly string[];
}

interface KubeletRequest extends TriedTrust {
  readonly endpoint: string;
  readonly path: string;
  readonly timeoutMs: number;
}

/** Translates an error of the transport. */
export function kubeletError(err: unknown, request: KubeletRequest): KubeletError {
  const { endpoint, path, timeoutMs } = request;
  if (err instanceof KubeletError) return err;
  if (err instanceof ApiError) return refusal(err, path);
  if (err instanceof DeadlineError) {
    const message = `the kubelet ${endpoint} did not answer ${path} within ${timeoutMs / 1000} s`;
    return new KubeletError(message, 'deadline');
  }
  return connectionFailure(err, request);
}

// Beyond those of every server: only a kubelet waits for its certificate.
const phrases: Readonly<Record<string, string>> = {
  ...connectionPhrases,
  ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR: 'it has no serving certificate yet (is its signing request approved?)',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** Whether a code says that the server's certificate was looked at and refused. */
const isMistrust = (code: string): boolean =>
  /CERT|SIGNATURE|UNABLE_TO_|SELF_SIGNED|INVALID_CA|HOSTNAME/.test(code);

function connectionFailure(err: unknown, { endpoint, tried, names }: KubeletRequest): KubeletError {
  const { code, why } = err instanceof ConnectionError ? err : { code: '', why: errorLine(err) };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return untrusted(endpoint, phrases[code] ?? why, `expected ${names.join(' or ')}`);
  if (isMistrust(code))
    return untrusted(endpoint, phrases[code] ?? unknownCa, `tried ${tried.join(' and ')}`);
  return new KubeletError(`cannot reach the kubelet ${endpoint}: ${phrases[code] ?? why}`, 'unavailable');
}

const unknownCa = 'its certificate is not signed by a CA we know';

/** There is no CA to verify the kubelet's certificate with. */
export const withoutCa = (endpoint: string, tried: readonly string[]): KubeletError =>
  untrusted(endpoint, unknownCa, `tried ${tried.join(' and ')}`);

function untrusted(endpoint: string, why: string, how: string): KubeletError {
  const mend =
    '--kubelet-certificate-authority FILE names another CA, --kubelet-insecure-tls does without the check';
  return new KubeletError(`cannot trust the kubelet ${endpoint}: ${why} (${how}); ${mend}`, 'untrusted');
}

/** A kubelet that does not count local storage has no summary at all (Kubernetes 1.36); shortly after its start it fails with the same text. */
const noFileSystems = 'failed to get rootFs info';
const isolationOff =
  '; with localStorageCapacityIsolation: false the kubelet measures no local storage, and dustpan evicts no pod of this node';

function refusal({ status, answer }: ApiError, path: string): KubeletError {
  const told = answer === '' ? '' : `: ${answer}`;
  if (status === 401)
    return new KubeletError(
      `the kubelet does not know who we are (401 for ${path})${told}; it must accept service account tokens (authentication.webhook)`,
      'denied',
    );
  if (status === 403)
    return new KubeletError(
      `the kubelet refuses ${path} (403)${told}; the agent's service account needs get on nodes/stats`,
      'denied',
    );
  const why = told.includes(noFileSystems) ? isolationOff : '';
  return new KubeletError(`the kubelet answers ${path} with ${status}${told}${why}`, 'unavailable');
}
