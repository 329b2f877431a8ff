import type { Registry } from 'prom-client';
import { startHttpServer, type HttpHandler, type HttpReply, type ListeningServer } from './http-server.ts';
import type { Logger } from '../logging/logger.ts';
import type { ServingCertificate } from './serving-certificate.ts';

interface MetricsServerOptions {
  readonly bindAddress: string;
  readonly registry: Registry;
  readonly log: Logger;
  /** If set, serves only TLS. */
  readonly certificate?: ServingCertificate | undefined;
  /** Called first, with the Authorization header; if it rejects, the response is a 500. Default: everybody may read. */
  readonly authorize?: Authorize | undefined;
}

export type Authorize = (
  authorization: string | undefined,
  path: string,
  signal: AbortSignal,
) => Promise<keyof typeof refusals | 'allowed'>;

const path = '/metrics';

const refusals = {
  unauthenticated: {
    status: 401,
    body: 'unauthorized: needs a bearer token that the API server knows\n',
    headers: { 'www-authenticate': 'Bearer' },
  },
  forbidden: { status: 403, body: `forbidden: needs the verb get on the nonResourceURL ${path}\n` },
} satisfies Readonly<Record<string, HttpReply>>;

export function startMetricsServer({
  registry,
  authorize = () => Promise.resolve('allowed'),
  ...options
}: MetricsServerOptions): Promise<ListeningServer> {
  const handler: HttpHandler = async ({ pathname }, { authorization, signal }) => {
    const access = await authorize(authorization, path, signal);
    if (access !== 'allowed') return refusals[access];
    if (pathname !== path) return { status: 404, body: `not found, see ${path}\n` };
    return { status: 200, contentType: registry.contentType, body: await registry.metrics() };
  };
  return startHttpServer({ ...options, name: 'metrics', handler });
}
