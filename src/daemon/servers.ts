import type { Registry } from 'prom-client';
import { AccessReviews } from '../kube/auth/access-reviews.ts';
import { EventRecorder } from '../kube/events/event-recorder.ts';
import { reportingControllers } from '../kube/events/recorder.ts';
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
import type { ComponentMetrics } from './metrics.ts';
import { revision, version } from '../runtime/version.ts';

interface ServerConfig {
  readonly metricsBindAddress: string;
  readonly metricsSecurity: MetricsSecurity;
  readonly healthProbeBindAddress: string;
}

/** What the controller and the agent have from their start on. */
export interface Daemon<
  C extends ServerConfig = ServerConfig,
  M extends ComponentMetrics = ComponentMetrics,
> {
  readonly config: C;
  readonly cluster: Connected;
  readonly registry: Registry;
  readonly metrics: M;
  readonly log: Logger;
}

/** Writes Events as this component; `instance`: the name of its pod or node. */
export const eventRecorder = (
  { cluster, metrics, log }: Daemon,
  component: keyof typeof reportingControllers,
  instance: string,
): EventRecorder =>
  new EventRecorder({
    transport: cluster.transport,
    clock,
    log: log.named('events'),
    random: Math.random,
    reportingController: reportingControllers[component],
    reportingInstance: instance,
    metrics: metrics.events,
  });

/** A longer block loses the lease and all deadlines: a restart is better. */
const loopBlockedMs = 10_000;

/** Serves metrics, including those of the process, and health probes. `live`: in addition to the check of the event loop. */
export async function startServers(
  daemon: Daemon,
  { live, ready }: { readonly live: readonly Check[]; readonly ready: readonly Check[] },
): Promise<readonly ListeningServer[]> {
  const { config, registry, log } = daemon;
  const lag = new EventLoopLag();
  lag.start();
  registerProcessMetrics(registry, { version, revision });
  const servers = await Promise.all([
    startMetricsServer({
      bindAddress: config.metricsBindAddress,
      certificate: certificateOf(daemon),
      authorize: authorizeOf(daemon),
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

function certificateOf({ config, log }: Daemon): ServingCertificate | undefined {
  const { certDirectory: directory } = config.metricsSecurity;
  return directory === undefined ? undefined : new ServingCertificate({ directory, clock, log });
}

function authorizeOf({ config, cluster }: Daemon): Authorize | undefined {
  if (!config.metricsSecurity.isAuthorized) return undefined;
  const reviews = new AccessReviews({ transport: cluster.reviews, clock, random: Math.random });
  return (authorization, path, signal) => reviews.check(authorization, path, signal);
}
