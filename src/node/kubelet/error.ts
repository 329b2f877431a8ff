import { ConnectionError, connectionPhrases, DeadlineError } from '../../kube/http/connection-errors.ts';
import { ApiError } from '../../kube/http/transport.ts';
import { errorLine } from '../../runtime/errors.ts';

/** Kinds of failure: not reachable, no response in time, access denied, certificate not trusted, invalid response. */
type KubeletFailure = 'unavailable' | 'deadline' | 'denied' | 'untrusted' | 'malformed';

/** A failed request to the kubelet; the message names the kubelet and what to do, in one line. */
export class KubeletError extends Error {
  override readonly name = 'KubeletError';
  readonly failure: KubeletFailure;

  constructor(message: string, failure: KubeletFailure, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

interface KubeletRequest {
  readonly endpoint: string;
  readonly path: string;
  readonly timeoutMs: number;
  /** The CAs that the certificate was verified with: file names, or a name for a reader. */
  readonly tried: readonly string[];
  /** The certificate must have one of these names. */
  readonly names: readonly string[];
}

export function kubeletError(err: unknown, request: KubeletRequest): KubeletError {
  const { endpoint, path, timeoutMs } = request;
  if (err instanceof KubeletError) return err;
  if (err instanceof ApiError) return refusal(err, path);
  if (err instanceof DeadlineError) {
    const message = `the kubelet ${endpoint} did not respond to ${path} within ${timeoutMs / 1000} s`;
    return new KubeletError(message, 'deadline');
  }
  return connectionFailure(err, request);
}

const phrases: Readonly<Record<string, string>> = {
  ...connectionPhrases,
  ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR: 'it has no serving certificate yet (is its signing request approved?)',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** Whether an error code means that the kubelet's certificate failed the verification. */
const isUntrusted = (code: string): boolean =>
  /CERT|SIGNATURE|UNABLE_TO_|SELF_SIGNED|INVALID_CA|HOSTNAME/.test(code);

function connectionFailure(err: unknown, { endpoint, tried, names }: KubeletRequest): KubeletError {
  const { code, why } = err instanceof ConnectionError ? err : { code: '', why: errorLine(err) };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return untrusted(endpoint, phrases[code] ?? why, `expected ${names.join(' or ')}`);
  if (isUntrusted(code))
    return untrusted(endpoint, phrases[code] ?? unknownCa, `tried ${tried.join(' and ')}`);
  return new KubeletError(`cannot reach the kubelet ${endpoint}: ${phrases[code] ?? why}`, 'unavailable');
}

const unknownCa = 'its certificate is not signed by a trusted CA';

/** The error when there is no CA to verify the kubelet's certificate with. */
export const withoutCa = (endpoint: string, tried: readonly string[]): KubeletError =>
  untrusted(endpoint, unknownCa, `tried ${tried.join(' and ')}`);

function untrusted(endpoint: string, why: string, how: string): KubeletError {
  const remedy =
    '--kubelet-certificate-authority FILE names another CA, --kubelet-insecure-tls disables the verification';
  return new KubeletError(`cannot trust the kubelet ${endpoint}: ${why} (${how}); ${remedy}`, 'untrusted');
}

/** Error text of a kubelet that does not measure local storage and then has no summary at all (Kubernetes 1.36), or that has just started. */
const noFileSystems = 'failed to get rootFs info';
const isolationOff =
  '; with localStorageCapacityIsolation: false the kubelet measures no local storage, and dustpan evicts no pod of this node';

function refusal({ status, serverMessage }: ApiError, path: string): KubeletError {
  const detail = serverMessage === '' ? '' : `: ${serverMessage}`;
  if (status === 401)
    return new KubeletError(
      `the kubelet does not accept these credentials (401 for ${path})${detail}; for the token of a service account, it needs authentication.webhook`,
      'denied',
    );
  if (status === 403)
    return new KubeletError(
      `the kubelet denies ${path} (403)${detail}; the agent's service account, or the user of the command, needs the verb get on ${path === '/configz' ? 'nodes/configz' : 'nodes/stats'}`,
      'denied',
    );
  const why = detail.includes(noFileSystems) ? isolationOff : '';
  return new KubeletError(`the kubelet responds to ${path} with ${status}${detail}${why}`, 'unavailable');
}
