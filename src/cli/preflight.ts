import { errorLine } from '../runtime/errors.ts';
import { policiesPath } from '../kube/live-policies.ts';
import { ApiError, type KubeTransport } from '../kube/transport.ts';

/** What the controller cannot work without; the kind GCPolicy may come later. */
const needed = ['/api/v1/pods', '/api/v1/nodes', '/api/v1/namespaces'];

/** Said at start instead of a stream of retries: the one line a person needs to mend it. */
export class PreflightError extends Error {
  override readonly name = 'PreflightError';
  /** HTTP status; undefined when there was no answer. The cause is in the message already. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined) {
    super(message);
    this.status = status;
  }
}

/** Asks once for each list the controller lives on. Resolves with what is to be waited for; rejects with what is to be mended. */
export async function preflight(
  transport: KubeTransport,
  signal: AbortSignal,
): Promise<'ready' | 'no-policies-kind' | 'stopped'> {
  try {
    for (const path of needed) await probe(transport, path, signal);
    return (await hasPolicies(transport, signal)) ? 'ready' : 'no-policies-kind';
  } catch (err) {
    if (signal.aborted) return 'stopped';
    throw err;
  }
}

async function hasPolicies(transport: KubeTransport, signal: AbortSignal): Promise<boolean> {
  try {
    await probe(transport, policiesPath, signal);
    return true;
  } catch (err) {
    if (err instanceof PreflightError && err.status === 404) return false;
    throw err;
  }
}

async function probe(transport: KubeTransport, path: string, signal: AbortSignal): Promise<void> {
  try {
    await transport.send({ method: 'GET', path, query: { limit: '1' }, retries: 2 }, signal);
  } catch (err) {
    signal.throwIfAborted();
    throw new PreflightError(explain(err), err instanceof ApiError ? err.status : undefined);
  }
}

function explain(err: unknown): string {
  if (!(err instanceof ApiError)) return errorLine(err);
  if (err.status === 401) return `the API server does not accept the credentials: ${err.message}`;
  if (err.status === 403) return `${err.message}; grant it to this user or service account`;
  return errorLine(err);
}
