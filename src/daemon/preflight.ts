import { policiesPath } from '../kube/cache/resources.ts';
import { ApiError, type KubeRequest, type KubeTransport } from '../kube/http/transport.ts';
import { errorLine } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logging/logger.ts';

type List = Pick<KubeRequest, 'path' | 'query'>;

class PreflightError extends Error {
  override readonly name = 'PreflightError';
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  readonly path: string;

  constructor(err: unknown, path: string) {
    super(explain(err));
    this.status = err instanceof ApiError ? err.status : undefined;
    this.path = path;
  }
}

const policies: List = { path: policiesPath };

/**
 * Rejects if a list may not be read. An API server that does not answer is no error: the process waits for it, not ready, instead of ending in a
 * crash loop, and the network of a node may need its agent first. The kind of the policies may be installed later.
 */
export async function checkAccess(
  { transport, needed, log }: { transport: KubeTransport; needed: readonly List[]; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const list of [...needed, policies]) await probe(transport, list, signal);
  } catch (err) {
    if (signal.aborted) return;
    if (!(err instanceof PreflightError)) throw err;
    if (isAway(err)) log.warn({ err }, 'API server does not answer, waiting for it');
    else if (err.status === 404 && err.path === policiesPath)
      log.warn({ crd: 'gcpolicies.gc.dustpan.dev' }, 'kind GCPolicy is not installed, waiting for it');
    else throw err;
  }
}

/** Whether the API server does not answer, or does not serve this process. */
export async function isServerAway(transport: KubeTransport, signal: AbortSignal): Promise<boolean> {
  try {
    await probe(transport, policies, signal);
    return false;
  } catch (err) {
    return err instanceof PreflightError && isAway(err);
  }
}

const isAway = ({ status }: PreflightError): boolean =>
  status === undefined || status === 429 || status >= 500;

/** A server that does not answer at once is waited for. */
const probeMs = 5_000;

async function probe(transport: KubeTransport, { path, query }: List, signal: AbortSignal): Promise<void> {
  try {
    await transport.send(
      { method: 'GET', path, query: { ...query, limit: '1' }, timeoutMs: probeMs, retries: 0 },
      signal,
    );
  } catch (err) {
    signal.throwIfAborted();
    throw new PreflightError(err, path);
  }
}

function explain(err: unknown): string {
  if (!(err instanceof ApiError)) return errorLine(err);
  if (err.status === 401) return `the API server does not accept the credentials: ${err.message}`;
  if (err.status === 403) return `${err.message}; grant it to this user or service account`;
  return errorLine(err);
}
