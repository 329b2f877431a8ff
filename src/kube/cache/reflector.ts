import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Check } from '../../runtime/serving/health.ts';
import { onAbort, untilAborted } from '../../runtime/scheduling/abort.ts';
import { Backoff, reflectorBackoff } from '../../runtime/scheduling/backoff.ts';
import type { Codec } from '../codec/list.ts';
import type { WatchEvent } from '../codec/decode.ts';
import { MalformedError } from '../codec/frames.ts';
import { errorOf } from '../http/response-error.ts';
import { readList, BrokenWatchError, watchEvents, type Source } from './list-watch.ts';
import type { Identified } from './objects.ts';
import { ApiError, isDenied, isExpired, isForbidden, isThrottled } from '../http/transport.ts';
import { staleAfterMs, type Cache, type StaleCache } from './staleness.ts';

/** A local copy of one resource, kept current by list and watch, or by lists alone. */
export interface Store<T> {
  /** All known objects by UID. A changed object is a new value. The map itself changes: read it synchronously. */
  readonly items: ReadonlyMap<string, T>;
  /** The list is complete and its watch works, or the last list of a poll succeeded: nothing is decided from another state. */
  readonly synced: boolean;
  /** The first list is under way: none has been complete, and none has failed. Only where that can be. */
  readonly isStarting?: boolean;
}

/**
 * `starting`: no complete list yet. `synced`: list and watch work. `failing`: the last attempt failed, the cache keeps its old state.
 * `missing`: the kind is not installed, the view is empty and not synced.
 */
type ReflectorState = 'starting' | 'synced' | 'missing' | 'failing';

export interface ReflectorDeps<T extends Identified> extends Source<T> {
  readonly log: Logger;
  /** Requests the list with the watch, which an API server can send since Kubernetes 1.34. The first failure of one that a list would not share makes them two requests again. */
  readonly listsByWatch?: boolean;
  /** Called after each batch of changes, after each complete list, and when the first one fails; must be quick. */
  readonly onChange?: () => void;
  readonly metrics?: ReflectorMetrics;
}

interface ReflectorMetrics {
  listed(resource: string): void;
  watchStarted(resource: string): void;
  failed(resource: string): void;
}

/** A shorter watch without events counts as a failure. */
const tooShortMs = 1000;
/** The part of the mean pause between two polls by which the shortest and the longest differ. */
const pollSpread = 0.5;

/** Keeps a Store current through all faults. It ends only with its signal, and never shows a part of a list. */
export class Reflector<T extends Identified> implements Store<T>, Cache {
  readonly #deps: ReflectorDeps<T>;
  readonly resource: string;
  readonly #log: Logger;
  readonly #backoff: Backoff;
  #view = new View<T>();
  #isComplete = false;
  #state: ReflectorState = 'starting';
  #lastError: string | undefined;
  /** Since when it is not synced, monotonic milliseconds. */
  #staleSinceMs: number;
  /** The resourceVersion at which the next watch begins; undefined = a list is due. */
  #resumeAt: string | undefined;
  #listsByWatch: boolean;
  /** The objects of the list with which the watch begins, until it is complete. */
  #listing: View<T> | undefined;
  /** Whether no watch has delivered an event, or failed for another reason, since the last list. */
  #listIsFresh = true;
  /** Whether a bookmark has arrived since the last failure: then a watch without one is broken. */
  #getsBookmarks = false;
  /** Ends one round of list and watch. */
  #round = new AbortController();
  #waiting: (() => void)[] = [];

  constructor(deps: ReflectorDeps<T>) {
    this.#deps = { ...deps, resource: { ...deps.resource, codec: this.#reusing(deps.resource.codec) } };
    this.resource = deps.resource.name;
    this.#listsByWatch = deps.listsByWatch ?? false;
    this.#staleSinceMs = deps.clock.monotonicMs();
    this.#log = deps.log.named('reflector');
    this.#backoff = new Backoff(reflectorBackoff, deps.random);
  }

  get items(): ReadonlyMap<string, T> {
    return this.#view.items;
  }

  get synced(): boolean {
    return this.#isComplete && this.#state === 'synced';
  }

  /** True after the first complete list. Remains true while the watch is being restored. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get isStarting(): boolean {
    return this.#state === 'starting';
  }

  get state(): ReflectorState {
    return this.#state;
  }

  get stale(): StaleCache | undefined {
    const { resource } = this;
    return this.synced ? undefined : { resource, sinceMs: this.#staleSinceMs, error: this.#lastError };
  }

  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** Resolves when the view is complete. Rejects with the signal's reason. */
  async whenComplete(signal: AbortSignal): Promise<void> {
    while (!this.#isComplete) {
      const next = new Promise<void>((resolve) => this.#waiting.push(resolve));
      await untilAborted(next, signal);
    }
  }

  /** A readiness check: at once while no list is complete, later only when the view has not been current for two minutes; `trouble` is called of a current view. */
  check(name: string, trouble: () => string | undefined = () => undefined): Check {
    const check = (): string | undefined => {
      if (!this.#isComplete) return this.#lastError ?? 'not listed yet';
      return this.#isLongStale() ? (this.#lastError ?? 'not current') : trouble();
    };
    return { name: `${name}-synced`, check };
  }

  /** The same for a view that the process can work without for a while: its kind may be missing, and its first list has two minutes. */
  laterCheck(name: string): Check {
    const check = (): string | undefined =>
      this.#state !== 'missing' && this.#isLongStale() ? (this.#lastError ?? 'not listed yet') : undefined;
    return { name: `${name}-synced`, check };
  }

  #isLongStale(): boolean {
    return !this.synced && this.#deps.clock.monotonicMs() - this.#staleSinceMs >= staleAfterMs;
  }

  /** Lists again because the view lacks required data, e.g. a label. The view is not complete until then. */
  relist(reason: string): void {
    this.#log.debug({ resource: this.resource, reason }, 'listing again');
    this.#outdate();
    this.#isComplete = false;
    this.#round.abort();
  }

  /** Tries again at once, because the cause of the last failure has ended. It counts as stale from now on. */
  retry(): void {
    if (this.#state !== 'failing') return;
    this.#lastError = undefined;
    this.#staleSinceMs = this.#deps.clock.monotonicMs();
    this.#round.abort();
  }

  /** Resolves when the signal aborts, never sooner; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const round = new AbortController();
      this.#round = round;
      const forget = onAbort(signal, () => round.abort(signal.reason));
      await this.#listAndWatch(round.signal);
      forget();
      // Here and not in relist(): a list may have been completed in between.
      if (round.signal.aborted) this.#resumeAt = undefined;
    }
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    const { pollMs } = this.#deps;
    try {
      if (pollMs !== undefined) await this.#poll(pollMs, signal);
      else {
        if (this.#resumeAt === undefined && !this.#listsByWatch) await this.#list(signal);
        await this.#watch(this.#resumeAt, signal);
      }
    } catch (err) {
      if (!signal.aborted) await this.#recover(err, signal);
    }
  }

  /** Random, so that processes that started together do not list together. */
  async #poll(pollMs: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#deps;
    await this.#list(signal);
    await clock.sleep(pollMs * (1 + (random() - 0.5) * pollSpread), signal);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const collecting = {
      begin: () => new View<T>(),
      add: (view: View<T>, item: T) => view.add(item),
    };
    const { list, resourceVersion } = await readList(this.#deps, collecting, signal);
    signal.throwIfAborted();
    this.#show(list, resourceVersion);
  }

  /** Reuses the objects of the current view, so that unchanged objects have no second copy while a list is read. */
  #reusing(codec: Codec<T>): Codec<T> {
    return {
      fromProtobuf: (message) => codec.fromProtobuf(message, this.#view.items),
      fromJson: (json) => codec.fromJson(json, this.#view.items),
    };
  }

  #show(view: View<T>, resourceVersion: string): void {
    this.#view = view;
    this.#isComplete = true;
    this.#resumeAt = resourceVersion;
    this.#listIsFresh = true;
    this.#deps.metrics?.listed(this.resource);
    this.#healthy();
    for (const wake of this.#waiting.splice(0)) wake();
    this.#deps.onChange?.();
  }

  /** `resourceVersion`: where the watch begins; undefined = with a list. */
  async #watch(resourceVersion: string | undefined, signal: AbortSignal): Promise<void> {
    const { clock, metrics } = this.#deps;
    const startedMs = clock.monotonicMs();
    this.#listing = resourceVersion === undefined ? new View<T>() : undefined;
    // A server that ends a list by a bookmark sends others, too.
    const isShort = resourceVersion !== undefined && !this.#getsBookmarks;
    let count = 0;
    metrics?.watchStarted(this.resource);
    for await (const events of watchEvents(this.#deps, { resourceVersion, isShort }, signal)) {
      this.#receive(events);
      count += events.filter(({ type }) => type !== 'BOOKMARK').length;
    }
    if (count > 0 || clock.monotonicMs() - startedMs >= tooShortMs) return;
    await clock.sleep(this.#backoff.next(clock.monotonicMs()), signal);
  }

  #receive(events: readonly WatchEvent<T>[]): void {
    const wasListing = this.#listing !== undefined;
    let isChanged = false;
    for (const event of events) isChanged = this.#apply(event) || isChanged;
    if (this.#listing !== undefined) return;
    if (!wasListing && events.length > 0) this.#listIsFresh = false;
    this.#healthy();
    if (isChanged) this.#deps.onChange?.();
  }

  #apply(event: WatchEvent<T>): boolean {
    if (event.type === 'ERROR') return this.#throwWatchError(errorOf(event.status));
    if (this.#listing !== undefined) return this.#collect(this.#listing, event);
    this.#resumeAt = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.resourceVersion;
    if (event.type === 'BOOKMARK') {
      this.#getsBookmarks = true;
      return false;
    }
    if (event.type === 'DELETED') this.#view.remove(event.object);
    else this.#view.put(event.object);
    return true;
  }

  /** Names are unique in a list, so that no namesake is searched. Objects that are missing from it are gone when it is shown. */
  #collect(list: View<T>, event: Exclude<WatchEvent<T>, { readonly type: 'ERROR' }>): boolean {
    if (event.type === 'DELETED') list.remove(event.object);
    else if (event.type !== 'BOOKMARK') list.add(event.object);
    else {
      this.#listing = undefined;
      this.#getsBookmarks = true;
      this.#show(list, event.resourceVersion);
    }
    return false;
  }

  /** Lists again, as client-go does, unless the server is only busy: a watch would fail again at this resourceVersion. */
  #throwWatchError(error: ApiError): never {
    if (!isThrottled(error)) this.#resumeAt = undefined;
    throw error;
  }

  async #recover(err: unknown, signal: AbortSignal): Promise<void> {
    const remedy = remedyFor(err, this.#deps.resource.optional);
    if (this.#listsByWatch && this.#mustList(err, remedy)) return;
    if (remedy !== 'resume') this.#resumeAt = undefined;
    // Not if the server rejects the list just made: that would be a hot loop.
    if (remedy === 'expired' && !this.#listIsFresh) {
      this.#listIsFresh = true;
      this.#log.debug({ resource: this.resource, err }, 'listing again');
      return;
    }
    this.#fail(err, remedy);
    // After another failure the last list is no longer fresh.
    if (remedy !== 'expired') this.#listIsFresh = false;
    const { clock } = this.#deps;
    const retryAfterMs = err instanceof ApiError ? (err.retryAfterMs ?? 0) : 0;
    await clock.sleep(Math.max(retryAfterMs, this.#backoff.next(clock.monotonicMs())), signal);
  }

  /** Lists by a request of its own from now on, if the list by watch has failed. Returns true if the server does not know it: that is no failure. */
  #mustList(err: unknown, remedy: Remedy): boolean {
    const wasListing = this.#listing !== undefined;
    // A list would fail, too: the server is busy, the right is missing, or the connection is broken.
    const isOfBoth = remedy === 'resume' && (!(err instanceof ApiError) || isThrottled(err) || isDenied(err));
    this.#listsByWatch = wasListing ? isOfBoth : remedy !== 'relist';
    const isUnknown = wasListing && isUnacceptable(err);
    if (isUnknown) this.#log.debug({ resource: this.resource, err }, 'list and watch are two requests');
    return isUnknown;
  }

  #healthy(): void {
    if (this.#state !== 'synced') this.#log.debug({ resource: this.resource }, 'cache is current');
    this.#state = 'synced';
    this.#lastError = undefined;
  }

  /** Warns once for each new cause, as every attempt fails again. */
  #fail(err: unknown, remedy: Remedy): void {
    const cause = failureLine(err);
    const fields = { resource: this.resource, err: isDenied(err) ? cause : err };
    if (cause === this.#lastError) this.#log.debug(fields, 'still failing');
    else if (remedy === 'missing') this.#log.warn(fields, 'kind is not installed, waiting for it');
    // For example, the storage of a kind that has just been installed is not initialized yet. If it lasts, the cache is stale.
    else if (isThrottled(err)) this.#log.info(fields, 'the API server is busy, list or watch follows');
    else this.#log.warn(fields, 'list or watch failed');
    this.#deps.metrics?.failed(this.resource);
    this.#lastError = cause;
    this.#getsBookmarks = false;
    this.#outdate();
    const isFirst = this.#state === 'starting';
    if (remedy === 'missing') this.#forget();
    else this.#state = 'failing';
    if (isFirst) this.#deps.onChange?.();
  }

  #outdate(): void {
    if (this.synced) this.#staleSinceMs = this.#deps.clock.monotonicMs();
  }

  /** A kind that is not installed has no objects. */
  #forget(): void {
    this.#state = 'missing';
    this.#isComplete = false;
    if (this.#view.items.size === 0) return;
    this.#view = new View<T>();
    this.#deps.onChange?.();
  }
}

/** Says what to mend if the server has refused the request. */
function failureLine(err: unknown): string {
  const line = errorLine(err);
  if (!isDenied(err)) return line;
  return isForbidden(err)
    ? `${line}; grant it to this user or service account`
    : `the API server does not accept the credentials: ${line}`;
}

/**
 * The reaction to an error of a list or a watch.
 * `resume`: the same request, later. `expired`: the server no longer has the resourceVersion: list at once. `relist`: list, later.
 * `missing`: the kind is not installed.
 */
type Remedy = 'resume' | 'expired' | 'relist' | 'missing';

/** `isOptional`: the kind may be missing from the server. */
function remedyFor(err: unknown, isOptional: boolean): Remedy {
  // What the watch has lost is unknown, and the headers of the next one prove nothing.
  if (err instanceof BrokenWatchError || err instanceof MalformedError) return 'relist';
  if (!(err instanceof ApiError)) return 'resume';
  if (isExpired(err)) return 'expired';
  if (err.status === 404 && isOptional) return 'missing';
  return isUnacceptable(err) ? 'relist' : 'resume';
}

/** The server rejects the resourceVersion, for example because its store was restored from a backup, or a parameter. */
function isUnacceptable(err: unknown): boolean {
  if (!(err instanceof ApiError)) return false;
  return err.status === 400 || err.status === 422 || err.causes.includes('ResourceVersionTooLarge');
}

/**
 * A name belongs to one object at a time. An index by name would cost 40 bytes for each pod, only for servers that lose a deletion. So only small
 * collections are searched for namesakes: nodes, namespaces and policies.
 */
const maxSearched = 10_000;

export class View<T extends Identified> {
  readonly #items = new Map<string, T>();

  get items(): ReadonlyMap<string, T> {
    return this.#items;
  }

  /** Adds an object of a list, in which names are unique. */
  add(object: T): void {
    this.#items.set(object.uid, object);
  }

  /** Adds or replaces an object. Removes an object with the same name and another UID. */
  put(object: T): void {
    // Deleted first: otherwise the map would keep the string of the replaced object as its key, 56 bytes for each pod.
    if (!this.#items.delete(object.uid)) this.#removeNamesake(object);
    this.#items.set(object.uid, object);
  }

  /** Removes by UID, so that a late deletion cannot hit a namesake. */
  remove({ uid }: Pick<Identified, 'uid'>): void {
    this.#items.delete(uid);
  }

  #removeNamesake({ name, namespace }: T): void {
    if (this.#items.size > maxSearched) return;
    for (const [uid, other] of this.#items) {
      if (other.name === name && other.namespace === namespace) this.#items.delete(uid);
    }
  }
}
