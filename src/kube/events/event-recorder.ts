import { setMaxListeners } from 'node:events';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { momentOf, type Moment } from '../../runtime/scheduling/jump.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import {
  beginSeries,
  eventBody,
  eventNamespace,
  isBehind,
  isDue,
  isIdle,
  isStale,
  repeatSeries,
  seriesKey,
  seriesPatch,
  type Series,
} from './series.ts';
import type { EventSpec, Recorder } from './recorder.ts';
import { TokenBucket, type Rate } from '../http/rate-limit.ts';
import { isTransient } from '../http/retry.ts';
import { ApiError, isConflict, isNotFound, unless, type KubeTransport } from '../http/transport.ts';

/** Why an Event, or its last count, was dropped. */
export type EventDrop = 'queue_full' | 'spam' | 'rejected' | 'unreachable' | 'shutdown';

export interface EventRecorderDeps {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Qualified name, e.g. `gc.dustpan.dev/controller`. */
  readonly reportingController: string;
  /** The pod, or the agent's node. */
  readonly reportingInstance: string;
  readonly metrics?: {
    readonly sent: (verb: 'create' | 'patch') => void;
    readonly dropped: (cause: EventDrop) => void;
  };
}

/** Limits of the queue and of the retries after a failure, as upstream. */
const maxQueued = 1000;
const maxFailures = 12;
const retryMs = 10_000;
/** Requests at once: a slow response does not delay every Event. */
const maxWriting = 4;
const sweepMs = 60_000;
/** Less than the 5 s that a shutdown may wait for Events. */
const flushMs = 3_000;
/** A rejection concerns many Events alike, so one log line a minute is enough. */
const warnEveryMs = 60_000;
/** Nanoseconds in a millisecond: the digits of an Event name that our clock does not provide. */
const serials = 1_000_000;

/** Writes Events in the background, recurrences as series: many occurrences cost two requests and a counter. */
export class EventRecorder implements Recorder {
  readonly #deps: EventRecorderDeps;
  readonly #filter: EventSpamFilter;
  readonly #series = new Map<string, Series>();
  /** The latest series that others may join, by their key without the occasion. */
  readonly #joined = new Map<string, Series>();
  /** First in, first out. */
  readonly #waiting = new Set<Series>();
  readonly #writing = new Map<Series, Promise<void>>();
  readonly #delayed = new Set<Series>();
  readonly #shutdown = new AbortController();
  /** Ends the requests in progress; undefined = not started. */
  #end: AbortController | undefined;
  /** Makes names of the same millisecond differ. Begins at random, as other processes count too. */
  #serial: number;
  #closing = false;
  #warnedMs = Number.NEGATIVE_INFINITY;

  constructor(deps: EventRecorderDeps) {
    this.#deps = deps;
    // Hundreds may wait for a retry; Node would warn of a leak.
    setMaxListeners(0, this.#shutdown.signal);
    this.#serial = Math.floor(deps.random() * serials);
    this.#filter = new EventSpamFilter(deps.clock.monotonicMs());
  }

  record(event: EventSpec): void {
    const known = this.#series.get(seriesKey(event));
    if (this.#closing) this.#dropped('shutdown');
    else if (known === undefined) this.#begin(event);
    else this.#repeat(known);
  }

  /** Writes until `signal` aborts, then the remaining Events for up to 3 s. */
  async run(signal: AbortSignal): Promise<void> {
    const end = (this.#end = new AbortController());
    this.#writeWaiting();
    for (;;) {
      await this.#deps.clock.sleep(sweepMs, signal);
      if (signal.aborted) break;
      this.#sweep();
    }
    await this.#flush(end);
  }

  #begin(event: EventSpec): void {
    const moment = momentOf(this.#deps.clock);
    const kin = event.joins === true ? seriesKey({ ...event, occasion: '' }) : undefined;
    const { uid, name } = event.regarding;
    // With a limit of its own: it must not use up that of the object's other Events.
    const drop = this.#dropCause(kin ?? `${uid}/${name}`, moment);
    if (drop !== undefined) {
      const latest = this.#joined.get(kin ?? '');
      if (latest !== undefined && this.#isCurrent(latest)) this.#repeat(latest);
      else this.#dropped(drop);
      return;
    }
    this.#serial = (this.#serial + 1) % serials;
    const series = beginSeries(event, moment, this.#serial);
    this.#series.set(series.key, series);
    if (kin !== undefined) this.#joined.set(kin, series);
    this.#enqueue(series);
  }

  #dropCause(limited: string, { monotonicMs }: Moment): EventDrop | undefined {
    if (this.#waiting.size + this.#delayed.size >= maxQueued) return 'queue_full';
    return this.#filter.allows(limited, monotonicMs) ? undefined : 'spam';
  }

  #repeat(series: Series): void {
    repeatSeries(series, momentOf(this.#deps.clock));
    if (isDue(series)) this.#enqueue(series);
  }

  #enqueue(series: Series): void {
    if (this.#isBusy(series)) return;
    this.#waiting.add(series);
    // Occurrences of the same moment are one request.
    queueMicrotask(() => this.#writeWaiting());
  }

  #isBusy(series: Series): boolean {
    return this.#writing.has(series) || this.#delayed.has(series);
  }

  #writeWaiting(): void {
    for (const series of this.#waiting) {
      if (this.#end === undefined || this.#writing.size >= maxWriting) return;
      this.#waiting.delete(series);
      this.#writing.set(series, this.#writeOnce(series, this.#end.signal));
    }
  }

  async #writeOnce(series: Series, signal: AbortSignal): Promise<void> {
    await this.#write(series, signal);
    this.#writing.delete(series);
    const again = this.#closing ? isBehind(series) : isDue(series);
    if (again && this.#isCurrent(series)) this.#enqueue(series);
    this.#writeWaiting();
  }

  async #write(series: Series, signal: AbortSignal): Promise<void> {
    try {
      const isPatched = series.sentCount > 0 && (await this.#patch(series, signal));
      if (!isPatched) await this.#create(series, signal);
      series.sentMs = this.#deps.clock.monotonicMs();
      series.failures = 0;
      this.#deps.metrics?.sent(isPatched ? 'patch' : 'create');
    } catch (err) {
      this.#failed(series, err);
    }
  }

  /** Returns false if the Event no longer exists. */
  async #patch(series: Series, signal: AbortSignal): Promise<boolean> {
    const { count } = series;
    const path = `${collection(series)}/${series.name}`;
    const contentType = 'application/merge-patch+json';
    const request = { method: 'PATCH', path, contentType, body: seriesPatch(series) } as const;
    const isPatched = (await unless(isNotFound, this.#deps.transport.send(request, signal))) !== undefined;
    if (isPatched) series.sentCount = count;
    return isPatched;
  }

  async #create(series: Series, signal: AbortSignal): Promise<void> {
    const { transport, reportingController: controller, reportingInstance: instance } = this.#deps;
    const { count } = series;
    const body = eventBody(series, { controller, instance });
    try {
      await transport.send({ method: 'POST', path: collection(series), body }, signal);
      series.sentCount = count;
    } catch (err) {
      if (!isConflict(err)) throw err;
      // No other series has this name: an earlier attempt succeeded, and only its response was lost.
      series.sentCount = 1;
      if (isBehind(series)) await this.#patch(series, signal);
    }
  }

  #failed(series: Series, err: unknown): void {
    series.failures += 1;
    if (err instanceof ApiError && !isTransient(err)) this.#giveUp(series, 'rejected', err);
    else if (this.#closing) this.#giveUp(series, 'shutdown', err);
    else if (series.failures > maxFailures) this.#giveUp(series, 'unreachable', err);
    else void this.#retryLater(series, err);
  }

  /** Retries after 10 s plus or minus a quarter, as upstream, or after Retry-After. */
  async #retryLater(series: Series, err: unknown): Promise<void> {
    const { clock, random } = this.#deps;
    const retryAfterMs = err instanceof ApiError ? (err.retryAfterMs ?? 0) : 0;
    this.#delayed.add(series);
    await clock.sleep(Math.max(retryAfterMs, retryMs * (0.75 + random() / 2)), this.#shutdown.signal);
    if (this.#delayed.delete(series)) this.#enqueue(series);
  }

  #giveUp(series: Series, cause: EventDrop, err: unknown): void {
    if (this.#isCurrent(series)) this.#series.delete(series.key);
    this.#dropped(cause);
    const { clock, log } = this.#deps;
    const { regarding, reason } = series.spec;
    const nowMs = clock.monotonicMs();
    const quiet = isTerminating(err) || nowMs - this.#warnedMs < warnEveryMs;
    if (!quiet) this.#warnedMs = nowMs;
    log[quiet ? 'debug' : 'warn']({ err, regarding, reason, cause }, 'event not recorded');
  }

  #sweep(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const series of this.#series.values()) {
      if (series.sentCount === 0 || this.#isBusy(series)) continue;
      const idle = isIdle(series, nowMs);
      if (idle) this.#series.delete(series.key);
      if (idle ? isBehind(series) : isStale(series, nowMs)) this.#enqueue(series);
    }
    for (const [kin, series] of this.#joined) if (!this.#isCurrent(series)) this.#joined.delete(kin);
    this.#filter.prune(nowMs);
  }

  async #flush(end: AbortController): Promise<void> {
    this.#closing = true;
    this.#delayed.clear();
    this.#shutdown.abort();
    for (const series of this.#series.values()) if (isBehind(series)) this.#enqueue(series);
    this.#writeWaiting();
    const done = new AbortController();
    const late = this.#deps.clock.sleep(flushMs, done.signal).then(() => end.abort());
    while (this.#writing.size > 0) await Promise.all(this.#writing.values());
    done.abort();
    await late;
  }

  #isCurrent(series: Series): boolean {
    return this.#series.get(series.key) === series;
  }

  #dropped(cause: EventDrop): void {
    this.#deps.metrics?.dropped(cause);
  }
}

/** A terminating namespace accepts no Events; no warning is needed. */
const isTerminating = (err: unknown): boolean =>
  err instanceof ApiError && err.causes.includes('NamespaceTerminating');

const collection = ({ spec }: Series): string =>
  `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(eventNamespace(spec))}/events`;

/** Limit for one object, as upstream: a burst of 25, then one in five minutes. */
const perObject: Rate = { burst: 25, perMs: 1 / (5 * 60_000) };
/** For this process: a first pass may report hundreds of owners, but Events must not delay deletions. */
const overall: Rate = { burst: 200, perMs: 10 / 1000 };

/** Limits the number of new Events, per object and in total. Recurrences make no requests and are not limited. */
export class EventSpamFilter {
  readonly #all: TokenBucket;
  readonly #objects = new Map<string, TokenBucket>();

  constructor(nowMs: number) {
    this.#all = new TokenBucket(overall, nowMs);
  }

  /** Takes a token of both buckets. Returns false, and takes none, if one is empty. */
  allows(object: string, nowMs: number): boolean {
    const bucket = this.#objects.get(object) ?? new TokenBucket(perObject, nowMs);
    if (bucket.waitMs(nowMs) > 0 || this.#all.waitMs(nowMs) > 0) return false;
    bucket.take();
    this.#all.take();
    this.#objects.set(object, bucket);
    return true;
  }

  /** Drops full buckets, so that deleted objects use no memory. */
  prune(nowMs: number): void {
    for (const [object, bucket] of this.#objects) if (bucket.isFull(nowMs)) this.#objects.delete(object);
  }
}
