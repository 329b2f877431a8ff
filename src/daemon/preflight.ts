import type { Logger } from '../runtime/logging/logger.ts';
import { errorLine } from '../runtime/errors.ts';
import { policiesPath } from '../kube/cache/resources.ts';
import { ApiError, type KubeRequest, type KubeTransport } from '../kube/http/transport.ts';

type Needed = Pick<KubeRequest, 'path' | 'query'>;

class PreflightError extends Error {
  override readonly name = 'PreflightError';
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined) {
    super(message);
    this.status = status;
  }
}

/**
 * Rejects if a list may not be read. An API server that does not answer is no error: the process waits for it, not ready, instead of ending in a
 * crash loop, and the network of a node may need its agent first.
 */
export async function checkAccess(
  { transport, needed, log }: { transport: KubeTransport; needed: readonly Needed[]; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  try {
    const found = await preflight(transport, needed, signal);
    if (found === 'no-policies-kind')
      log.warn({ crd: 'gcpolicies.gc.dustpan.dev' }, 'kind GCPolicy is not installed, waiting for it');
  } catch (err) {
    if (!(err instanceof PreflightError && isAway(err))) throw err;
    log.warn({ err }, 'API server does not answer, waiting for it');
  }
}

/** Whether the API server does not answer, or does not serve this process. */
export async function isServerAway(transport: KubeTransport, signal: AbortSignal): Promise<boolean> {
  try {
    await probe(transport, { path: policiesPath }, signal);
    return false;
  } catch (err) {
    return err instanceof PreflightError && isAway(err);
  }
}

const isAway = ({ status }: PreflightError): boolean =>
  status === undefined || status === 429 || status >= 500;

/** A server that does not answer at once is waited for. */
const probeMs = 5_000;

/** Requests each needed list once, and the policies, whose kind may be installed later. Rejects if a list cannot be read. */
async function preflight(
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
    await transport.send(
      { method: 'GET', path, query: { ...query, limit: '1' }, timeoutMs: probeMs, retries: 0 },
      signal,
    );
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
