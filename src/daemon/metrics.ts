import { Gauge, type Registry } from 'prom-client';
import type { Right } from '../api/policy/needs.ts';
import type { EventDrop } from '../kube/events/event-recorder.ts';
import type { ApiCall } from '../kube/http/http-transport.ts';
import type { Cache } from '../kube/cache/staleness.ts';
import { systemClock as clock } from '../runtime/scheduling/clock.ts';
import { passResults, type PassResult } from '../runtime/scheduling/loop.ts';
import { metricRows } from '../runtime/serving/metric-rows.ts';

export type ComponentMetrics = ReturnType<typeof componentMetrics>;
type Rows = ReturnType<typeof metricRows>;

/** The metrics of every long-running component: requests to the API server, passes of loops, watches, Events. */
export function componentMetrics(registry: Registry) {
  const rows = metricRows(registry);
  return {
    call: callMetrics(rows),
    pass: passMetrics(rows),
    reflector: reflectorMetrics(rows),
    caches: cacheMetrics(registry),
    missingRights: rightsMetrics(rows),
    events: eventMetrics(rows),
  };
}

const seconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

function callMetrics({ counter, histogram }: Rows) {
  const requests = counter(
    'rest_client_requests_total',
    'Requests to the API server, by status code and method.',
    'code',
    'method',
    'host',
  );
  const durations = histogram(
    'rest_client_request_duration_seconds',
    'Time until the API server began to answer.',
    seconds,
    'verb',
    'host',
  );
  return ({ verb, host, code, seconds: took }: ApiCall): void => {
    requests.inc({ code, method: verb, host });
    durations.observe({ verb, host }, took);
  };
}

function passMetrics({ counter, gauge, histogram }: Rows) {
  const passes = counter(
    'loop_passes_total',
    'Passes of each loop, by result: success, error, or waiting, if the pass could decide nothing because a cache is not current. One that ends early because policies have changed is a success.',
    'loop',
    'result',
  );
  const durations = histogram('loop_pass_duration_seconds', 'Time a pass took.', seconds, 'loop');
  const lastSuccess = gauge(
    'loop_last_success_timestamp_seconds',
    'When a pass last ended well; 0 = not yet.',
    'loop',
  );
  const period = gauge('loop_period_seconds', 'How long the loop waits between two passes.', 'loop');
  return (loop: string, periodMs: number) => {
    for (const result of passResults) passes.inc({ loop, result }, 0);
    lastSuccess.set({ loop }, 0);
    period.set({ loop }, periodMs / 1_000);
    return ({ result, seconds: took }: PassResult): void => {
      passes.inc({ loop, result });
      durations.observe({ loop }, took);
      if (result === 'success') lastSuccess.setToCurrentTime({ loop });
    };
  };
}

const drops = ['queue_full', 'spam', 'rejected', 'unreachable', 'shutdown'] satisfies EventDrop[];

function eventMetrics({ counter }: Rows) {
  const sent = counter('events_sent_total', 'Requests that wrote an Event or the count of a series.', 'verb');
  const dropped = counter('events_dropped_total', 'Events that were not written, by cause.', 'cause');
  for (const verb of ['create', 'patch']) sent.inc({ verb }, 0);
  for (const cause of drops) dropped.inc({ cause }, 0);
  return {
    sent: (verb: 'create' | 'patch'): void => sent.inc({ verb }),
    dropped: (cause: EventDrop): void => dropped.inc({ cause }),
  };
}

/** Returns a function that shows these caches from now on. */
function cacheMetrics(registry: Registry) {
  let shown: readonly Cache[] = [];
  new Gauge({
    name: 'dustpan_cache_stale_seconds',
    help: '[ALPHA] For how long the list of a resource has not been current; 0 = it is, or nothing needs it. Nothing is removed that depends on a list that is not current.',
    labelNames: ['resource'],
    registers: [registry],
    collect() {
      const nowMs = clock.monotonicMs();
      for (const { resource, stale } of shown)
        this.set({ resource }, stale === undefined ? 0 : (nowMs - stale.sinceMs) / 1_000);
    },
  });
  return (caches: readonly Cache[]): void => {
    shown = caches;
  };
}

function rightsMetrics({ gauge }: Rows) {
  const rights = gauge(
    'missing_rights',
    '1 for each right that the component needs and its ServiceAccount lacks.',
    'verb',
    'resource',
  );
  return (missing: readonly Right[]): void => {
    rights.reset();
    for (const { verb, resource, subresource } of missing)
      rights.set({ verb, resource: [resource, subresource].filter(Boolean).join('/') }, 1);
  };
}

function reflectorMetrics({ counter }: Rows) {
  const countOf = (name: string, help: string) => {
    const resources = counter(name, help, 'resource');
    return (resource: string): void => resources.inc({ resource });
  };
  return {
    listed: countOf('reflector_lists_total', 'Complete lists of a resource.'),
    watchStarted: countOf('reflector_watches_total', 'Watches opened on a resource.'),
    failed: countOf('reflector_failures_total', 'Lists and watches of a resource that failed.'),
  };
}
