import { connectionPhrases } from '../runtime/connection-phrases.ts';
import { errorCode } from '../runtime/errors.ts';

/** What callers tell apart: a kubelet that is away, one that hangs, one we may not ask, one we cannot trust, one that answers nonsense. */
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

// Beyond the words of runtime/connection-phrases.ts: only a kubelet waits for its certificate, and what is wrong with one is told behind these words.
const phrases: Readonly<Record<string, string>> = {
  ...connectionPhrases,
  ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR: 'it has no serving certificate yet (is its signing request approved?)',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** Whether a code says that the server's certificate was looked at and refused. */
export const isMistrust = (code: string): boolean =>
  /CERT|SIGNATURE|UNABLE_TO_|SELF_SIGNED|INVALID_CA|HOSTNAME/.test(code);

/** How the kubelet is to be known, for what to say when it is not. */
interface TriedTrust {
  /** Each CA, as a person would look for it. */
  readonly tried: readonly string[];
  /** The names of which the certificate must have one. */
  readonly names: readonly string[];
}

/** An error of the network or of TLS, as one line. */
export function connectionFailure(err: unknown, endpoint: string, trust: TriedTrust): KubeletError {
  const code = errorCode(err) ?? '';
  const told = err instanceof Error && err.message !== '' ? err.message.trim() : code;
  const why = phrases[code] ?? (isMistrust(code) ? 'its certificate is not signed by a CA we know' : told);
  if (!isMistrust(code))
    return new KubeletError(`cannot reach the kubelet ${endpoint}: ${why}`, 'unavailable');
  const how =
    code === 'ERR_TLS_CERT_ALTNAME_INVALID'
      ? `expected ${trust.names.join(' or ')}`
      : `tried ${trust.tried.join(' and ')}`;
  const mend =
    '--kubelet-certificate-authority FILE names another CA, --kubelet-insecure-tls does without the check';
  return new KubeletError(`cannot trust the kubelet ${endpoint}: ${why} (${how}); ${mend}`, 'untrusted');
}

const maxToldChars = 200;

/** A kubelet that does not count local storage has no summary at all (Kubernetes 1.36); shortly after its start it says the same. */
const noFileSystems = 'failed to get rootFs info';
const isolationOff =
  '; with localStorageCapacityIsolation: false the kubelet measures no local storage, and dustpan evicts no pod of this node';

/** An answer with a status of 400 or more. */
export function refusal(status: number, path: string, answer: string): KubeletError {
  const [line = ''] = answer.trim().split('\n', 1);
  const told = line === '' ? '' : `: ${line.slice(0, maxToldChars)}`;
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
