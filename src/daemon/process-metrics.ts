import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Right } from '../api/policy/needs.ts';
import { systemClock as clock } from '../runtime/scheduling/clock.ts';
import type { EventDrop, EventRecorderDeps } from '../kube/events/event-recorder.ts';
import type { ApiCall } from '../kube/http/http-transport.ts';
import type { ReflectorMetrics } from '../kube/cache/reflector.ts';
import type { Cache } from '../kube/cache/staleness.ts';
import { passResults, type PassResult } from '../runtime/scheduling/loop.ts';

export interface ComponentMetrics {
  readonly call: (call: ApiCall) => void;
  readonly pass: (loop: string, periodMs: number) => (result: PassResult) => void;
  readonly reflector: ReflectorMetrics;
  /** Shows these caches from now on. */
  readonly caches: (caches: readonly Cache[]) => void;
  readonly missingRights: (missing: readonly Right[]) => void;
  readonly events: NonNullable<EventRecorderDeps['metrics']>;
}

const seconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** The metrics of every long-running component: requests to the API server, passes of loops, watches, Events. */
export function componentMetrics(registry: Registry): ComponentMetrics {
  const registers: [Registry] = [registry];
  return {
    call: callMetrics(registers),
    pass: passMetrics(registers),
    reflector: reflectorMetrics(registers),
    caches: cacheMetrics(registers),
    missingRights: rightsMetrics(registers),
    events: eventMetrics(registers),
  };
}

function callMetrics(registers: [Registry]): ComponentMetrics['call'] {
  const requests = new Counter({
    name: 'dustpan_rest_client_requests_total',
    help: '[ALPHA] Requests to the API server, by status code and method.',
    labelNames: ['code', 'method', 'host'],
    registers,
  });
  const durations = new Histogram({
    name: 'dustpan_rest_client_request_duration_seconds',
    help: '[ALPHA] Time until the API server began to answer.',
    labelNames: ['verb', 'host'],
    buckets: seconds,
    registers,
  });
  return ({ verb, host, code, seconds: took }) => {
    requests.inc({ code, method: verb, host });
    durations.observe({ verb, host }, took);
  };
}

function passMetrics(registers: [Registry]): ComponentMetrics['pass'] {
  const passes = new Counter({
    name: 'dustpan_loop_passes_total',
    help: '[ALPHA] Passes of each loop, by result: success, error, or waiting, if the pass could decide nothing because a cache is not current. One that ends early because policies have changed is a success.',
    labelNames: ['loop', 'result'],
    registers,
  });
  const durations = new Histogram({
    name: 'dustpan_loop_pass_duration_seconds',
    help: '[ALPHA] Time a pass took.',
    labelNames: ['loop'],
    buckets: seconds,
    registers,
  });
  const lastSuccess = new Gauge({
    name: 'dustpan_loop_last_success_timestamp_seconds',
    help: '[ALPHA] When a pass last ended well; 0 = not yet.',
    labelNames: ['loop'],
    registers,
  });
  const period = new Gauge({
    name: 'dustpan_loop_period_seconds',
    help: '[ALPHA] How long the loop waits between two passes.',
    labelNames: ['loop'],
    registers,
  });
  return (loop, periodMs) => {
    for (const result of passResults) passes.inc({ loop, result }, 0);
    lastSuccess.set({ loop }, 0);
    period.set({ loop }, periodMs / 1_000);
    return ({ result, seconds: took }) => {
      passes.inc({ loop, result });
      durations.observe({ loop }, took);
      if (result === 'success') lastSuccess.setToCurrentTime({ loop });
    };
  };
}

const drops = ['queue_full', 'spam', 'rejected', 'unreachable', 'shutdown'] satisfies EventDrop[];

function eventMetrics(registers: [Registry]): ComponentMetrics['events'] {
  const sent = new Counter({
    name: 'dustpan_events_sent_total',
    help: '[ALPHA] Requests that wrote an Event or the count of a series.',
    labelNames: ['verb'],
    registers,
  });
  const dropped = new Counter({
    name: 'dustpan_events_dropped_total',
    help: '[ALPHA] Events that were not written, by cause.',
    labelNames: ['cause'],
    registers,
  });
  for (const verb of ['create', 'patch']) sent.inc({ verb }, 0);
  for (const cause of drops) dropped.inc({ cause }, 0);
  return {
    sent: (verb) => {
      sent.inc({ verb });
    },
    dropped: (cause) => {
      dropped.inc({ cause });
    },
  };
}

function cacheMetrics(registers: [Registry]): ComponentMetrics['caches'] {
  let shown: readonly Cache[] = [];
  new Gauge({
    name: 'dustpan_cache_stale_seconds',
    help: '[ALPHA] For how long the list of a resource has not been current; 0 = it is, or nothing needs it. Nothing is removed that depends on a list that is not current.',
    labelNames: ['resource'],
    registers,
    collect() {
      const nowMs = clock.monotonicMs();
      for (const { resource, stale } of shown)
        this.set({ resource }, stale === undefined ? 0 : (nowMs - stale.sinceMs) / 1_000);
    },
  });
  return (caches) => {
    shown = caches;
  };
}

function rightsMetrics(registers: [Registry]): ComponentMetrics['missingRights'] {
  const gauge = new Gauge({
    name: 'dustpan_missing_rights',
    help: '[ALPHA] 1 for each right that the component needs and its ServiceAccount lacks.',
    labelNames: ['verb', 'resource'],
    registers,
  });
  return (missing) => {
    gauge.reset();
    for (const { verb, resource, subresource } of missing)
      gauge.set({ verb, resource: [resource, subresource].filter(Boolean).join('/') }, 1);
  };
}

function reflectorMetrics(registers: [Registry]): ReflectorMetrics {
  const of = (name: string, help: string) => {
    const counter = new Counter({ name, help, labelNames: ['resource'], registers });
    return (resource: string): void => {
      counter.inc({ resource });
    };
  };
  return {
    listed: of('dustpan_reflector_lists_total', '[ALPHA] Complete lists of a resource.'),
    watchStarted: of('dustpan_reflector_watches_total', '[ALPHA] Watches opened on a resource.'),
    failed: of('dustpan_reflector_failures_total', '[ALPHA] Lists and watches of a resource that failed.'),
  };
}
