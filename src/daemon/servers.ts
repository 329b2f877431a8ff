import type { Registry } from 'prom-client';
import { AccessReviews } from '../kube/auth/access-reviews.ts';
import { systemClock as clock } from '../runtime/scheduling/clock.ts';
import { EventLoopLag, eventLoopCheck } from '../runtime/serving/event-loop-lag.ts';
import { startHealthServer, type Check } from '../runtime/serving/health.ts';
import type { ListeningServer } from '../runtime/serving/http-server.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import { startMetricsServer, type Authorize } from '../runtime/serving/metrics-server.ts';
import { registerProcessMetrics } from '../runtime/serving/process-metrics.ts';
import { ServingCertificate } from '../runtime/serving/serving-certificate.ts';
import type { Connected } from '../process/connect.ts';
import type { MetricsSecurity } from '../process/config.ts';
import { revision, version } from '../runtime/version.ts';

interface ServersOptions {
  readonly config: {
    readonly metricsBindAddress: string;
    readonly metricsSecurity: MetricsSecurity;
    readonly healthProbeBindAddress: string;
  };
  readonly cluster: Pick<Connected, 'reviews'>;
  readonly registry: Registry;
  readonly log: Logger;
  /** In addition to the check of the event loop. */
  readonly live: readonly Check[];
  readonly ready: readonly Check[];
}

/** A longer block loses the lease and all deadlines: a restart is better. */
const loopBlockedMs = 10_000;

/** Serves metrics, including those of the process, and health probes. */
export async function startServers(options: ServersOptions): Promise<readonly ListeningServer[]> {
  const { config, registry, log, live, ready } = options;
  const lag = new EventLoopLag();
  lag.start();
  registerProcessMetrics(registry, { version, revision });
  const servers = await Promise.all([
    startMetricsServer({
      bindAddress: config.metricsBindAddress,
      certificate: certificateOf(options),
      authorize: authorizeOf(options),
      registry,
      log,
    }),
    startHealthServer({
      bindAddress: config.healthProbeBindAddress,
      live: [eventLoopCheck(lag, loopBlockedMs), ...live],
      ready,
      log,
    }),
  ]);
  const [metrics, health] = servers.map(({ address }) => address);
  log.info({ metrics, health }, 'serving metrics and health probes');
  return servers;
}

function certificateOf({ config, log }: ServersOptions): ServingCertificate | undefined {
  const { certDirectory: directory } = config.metricsSecurity;
  return directory === undefined ? undefined : new ServingCertificate({ directory, clock, log });
}

function authorizeOf({ config, cluster }: ServersOptions): Authorize | undefined {
  if (!config.metricsSecurity.isAuthorized) return undefined;
  const reviews = new AccessReviews({ transport: cluster.reviews, clock, random: Math.random });
  return (authorization, path, signal) => reviews.check(authorization, path, signal);
}
