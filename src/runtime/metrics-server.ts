import type { Registry } from 'prom-client';
import { startHttpServer, type HttpReply, type ListeningServer } from './http-server.ts';
import type { Logger } from './logger.ts';

export interface MetricsServerOptions {
  readonly bindAddress: string;
  readonly registry: Registry;
  readonly log: Logger;
}

/** Serves `/metrics` in Prometheus' text format 0.0.4. */
export function startMetricsServer({
  bindAddress,
  registry,
  log,
}: MetricsServerOptions): Promise<ListeningServer> {
  const handler = async ({ pathname }: URL): Promise<HttpReply> => {
    if (pathname !== '/metrics') return { status: 404, body: 'not found, see /metrics\n' };
    return { status: 200, contentType: registry.contentType, body: await registry.metrics() };
  };
  return startHttpServer({ name: 'metrics', bindAddress, handler, log });
}
