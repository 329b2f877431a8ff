import { errorLine } from '../runtime/errors.ts';
import { ApiError, type KubeTransport } from '../kube/transport.ts';

/** What the controller cannot work without; the kind GCPolicy may come later. */
const needed = ['/api/v1/pods', '/api/v1/nodes', '/api/v1/namespaces'];
const policies = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';

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
    for (const path of [...needed, policies]) await probe(transport, path, signal);
  } catch (err) {
    if (signal.aborted) return 'stopped';
    if (err instanceof PreflightError && err.status === 404) return 'no-policies-kind';
    throw err;
  }
  return 'ready';
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
  if (err.status === 403) return `${err.message}; grant it in the ClusterRole of dustpan's service account`;
  return errorLine(err);
}
