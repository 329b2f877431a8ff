import type { EventsV1Event } from '@kubernetes/client-node';
import { randomUUID } from 'node:crypto';
import type { Moment } from '../../runtime/scheduling/jump.ts';
import { printable } from '../../runtime/text/printable.ts';
import { microTime, type OnWire } from '../codec/wire.ts';
import type { EventSpec } from './recorder.ts';

/** The component and its instance: `gc.dustpan.dev/controller` and its pod, or the agent and its node. */
interface Reporter {
  readonly controller: string;
  readonly instance: string;
}

/** The occurrences of one key since its last idle time. The Event on the server counts `sentCount` of them. */
export interface Series {
  readonly key: string;
  readonly spec: EventSpec;
  readonly name: string;
  readonly startedAt: Date;
  count: number;
  lastAt: Date;
  /** `lastAt` on the monotonic clock. */
  lastMs: number;
  /** 0 = the Event is not created yet. */
  sentCount: number;
  sentMs: number;
  failures: number;
}

/** Time without a recurrence after which a series ends, as upstream. */
const idleMs = 6 * 60_000;
/** Interval at which an active series is written, as upstream. The API server deletes an Event after an hour. */
const refreshMs = 30 * 60_000;

const maxNoteBytes = 1024;
const maxInstanceBytes = 128;
const maxNameLength = 253;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The identity of a series: everything but the note. */
export function seriesKey({ type, action, reason, regarding, occasion = '' }: EventSpec): string {
  const { apiVersion, kind, name, namespace = '', uid } = regarding;
  return JSON.stringify([type, action, reason, apiVersion, kind, namespace, name, uid, occasion]);
}

export function beginSeries(spec: EventSpec, { wallMs, monotonicMs }: Moment, serial: number): Series {
  const now = new Date(wallMs);
  return {
    key: seriesKey(spec),
    spec: { ...spec, note: cutBytes(printable(spec.note), maxNoteBytes) },
    name: eventName(spec.regarding.name, now, serial),
    startedAt: now,
    count: 1,
    lastAt: now,
    lastMs: monotonicMs,
    sentCount: 0,
    sentMs: monotonicMs,
    failures: 0,
  };
}

/** Counts one more. Keeps the first note: the API server accepts changes of the series only. */
export function repeatSeries(series: Series, { wallMs, monotonicMs }: Moment): void {
  series.count += 1;
  series.lastAt = new Date(wallMs);
  series.lastMs = monotonicMs;
}

/** Whether to write at once: the first and the second occurrence are, later ones by the refresh. */
export const isDue = ({ count, sentCount }: Series): boolean => sentCount < Math.min(count, 2);

export const isBehind = ({ count, sentCount }: Series): boolean => sentCount < count;

export const isIdle = ({ lastMs }: Series, nowMs: number): boolean => nowMs - lastMs >= idleMs;

export const isStale = (series: Series, nowMs: number): boolean =>
  isBehind(series) && nowMs - series.sentMs >= refreshMs;

/** Events of cluster-scoped objects are in `default`. */
export const eventNamespace = ({ regarding }: EventSpec): string => regarding.namespace ?? 'default';

export function eventBody(series: Series, reporter: Reporter): OnWire<EventsV1Event> {
  const { spec, name, startedAt, count } = series;
  const { apiVersion, kind, name: regarded, namespace, uid } = spec.regarding;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: {
      name,
      namespace: eventNamespace(spec),
      ...(spec.annotations && { annotations: spec.annotations }),
    },
    eventTime: microTime(startedAt),
    reportingController: reporter.controller,
    reportingInstance: cutBytes(reporter.instance, maxInstanceBytes),
    type: spec.type,
    reason: spec.reason,
    action: spec.action,
    note: spec.note,
    regarding: { apiVersion, kind, name: regarded, uid, ...(namespace !== undefined && { namespace }) },
    ...(count > 1 ? seriesPatch(series) : {}),
  };
}

/** The only change to an Event that the API server accepts. */
export function seriesPatch({ count, lastAt }: Series): Pick<OnWire<EventsV1Event>, 'series'> {
  return { series: { count, lastObservedTime: microTime(lastAt) } };
}

/** The longest beginning of `text` within `maxBytes` of UTF-8, without partial characters. */
function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (isContinuation(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Name of the object and time in nanoseconds, as upstream. The serial number replaces the digits that our clock lacks. */
function eventName(regarded: string, now: Date, serial: number): string {
  const nanos = BigInt(now.getTime()) * 1_000_000n + BigInt(serial);
  const name = `${regarded}.${nanos.toString(16)}`;
  return name.length <= maxNameLength && dnsSubdomain.test(name) ? name : randomUUID();
}
