import { errorLine } from '../../runtime/errors.ts';
import { policiesPath } from '../../kube/cache/resources.ts';
import { ApiError, type KubeRequest, type KubeTransport } from '../../kube/http/transport.ts';

/** A list that the controller must be able to read. */
type Needed = Pick<KubeRequest, 'path' | 'query'>;

/** Thrown at start instead of endless retries: one line that explains what to fix. */
export class PreflightError extends Error {
  override readonly name = 'PreflightError';
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined) {
    super(message);
    this.status = status;
  }
}

/** Requests each needed list once, and the policies, whose kind may be installed later. Rejects if a list cannot be read. */
export async function preflight(
  transport: KubeTransport,
  needed: readonly Needed[],
  signal: AbortSignal,
): Promise<'ready' | 'no-policies-kind' | 'stopped'> {
  try {
    for (const list of needed) await probe(transport, list, signal);
    return (await hasPolicies(transport, signal)) ? 'ready' : 'no-policies-kind';
  } catch (err) {
    if (signal.aborted) return 'stopped';
    throw err;
  }
}

async function hasPolicies(transport: KubeTransport, signal: AbortSignal): Promise<boolean> {
  try {
    await probe(transport, { path: policiesPath }, signal);
    return true;
  } catch (err) {
    if (err instanceof PreflightError && err.status === 404) return false;
    throw err;
  }
}

async function probe(transport: KubeTransport, { path, query }: Needed, signal: AbortSignal): Promise<void> {
  try {
    await transport.send({ method: 'GET', path, query: { ...query, limit: '1' }, retries: 2 }, signal);
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
