import type { Clock } from '../runtime/clock.ts';
import { errorLine } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { onAbort, untilAborted } from './abort.ts';
import { Backoff, reflectorBackoff } from './backoff.ts';
import { decodeList, decodeWatchEvent, type Page, type WatchEvent } from './decode.ts';
import { FrameSplitter } from './frames.ts';
import type { Identified } from './objects.ts';
import { remedyFor } from './reflector-errors.ts';
import type { Resource } from './resources.ts';
import { stallGuard } from './stall-guard.ts';
import { ApiError, type KubeRequest, type KubeTransport } from './transport.ts';
import { View } from './view.ts';

/** A local copy of one resource, kept current by list and watch. */
export interface Store<T> {
  /** Every object known, keyed by UID. Replaced entries are new values; the map itself is live: read it synchronously. */
  readonly items: ReadonlyMap<string, T>;
  /** True after the first complete list. Stays true while the watch is being restored. */
  readonly synced: boolean;
}

/**
 * `starting`: no complete list yet. `synced`: list and watch work. `failing`: the last attempt failed; the old view stays.
 * `missing`: the server does not know the kind; the view is empty and not synced.
 */
export type ReflectorState = 'starting' | 'synced' | 'missing' | 'failing';

export interface ReflectorDeps<T extends Identified> {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly log: Logger;
  /** In [0, 1). */
  readonly random: () => number;
  readonly resource: Resource<T>;
  /** Called after each batch of changes, and after each complete list; must be quick. */
  readonly onChange?: () => void;
  readonly metrics?: ReflectorMetrics;
  /** Start with a watch that streams what exists (WatchList) instead of pages; a server that cannot is listed. */
  readonly watchList?: boolean;
}

/** Told of what a reflector does. */
export interface ReflectorMetrics {
  listed(resource: string): void;
  watchStarted(resource: string): void;
  failed(resource: string): void;
}

const pageSize = 500;
/** As client-go: spread, so that watches opened together do not end together. */
const watchSeconds = { atLeast: 300, spread: 301 };
const stallGraceMs = 30_000;
/** A watch that ends sooner and brought nothing is a refusal in disguise. */
const tooShortMs = 1000;

/** Keeps a Store current through every fault: it ends only with its signal, and never shows half a list. */
export class Reflector<T extends Identified> implements Store<T> {
  readonly #deps: ReflectorDeps<T>;
  readonly #log: Logger;
  readonly #backoff: Backoff;
  #view = new View<T>();
  #synced = false;
  #state: ReflectorState = 'starting';
  #lastError: string | undefined;
  #lastSyncAt: number | undefined;
  /** Where the next watch begins; undefined = a list is due. */
  #resumeAt: string | undefined;
  #watchList: boolean;
  #turn = new AbortController();
  #waiting: (() => void)[] = [];

  constructor(deps: ReflectorDeps<T>) {
    this.#deps = deps;
    this.#log = deps.log.named('reflector');
    this.#backoff = new Backoff(reflectorBackoff, deps.random);
    this.#watchList = deps.watchList ?? false;
  }

  get items(): ReadonlyMap<string, T> {
    return this.#view.items;
  }

  get synced(): boolean {
    return this.#synced;
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** Why the state is `failing` or `missing`. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** Clock.monotonicMs of the last word from the server; on a quiet resource that is a bookmark about every minute. */
  get lastSyncAt(): number | undefined {
    return this.#lastSyncAt;
  }

  /** Resolves when the view is complete; rejects with the signal's reason. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    while (!this.#synced) {
      const next = new Promise<void>((resolve) => this.#waiting.push(resolve));
      await untilAborted(next, signal);
    }
  }

  /** Lists again because the view lacks what is now asked of it, say a label: until that is done it is not `synced`. */
  relist(reason: string): void {
    this.#log.debug({ resource: this.#name, reason }, 'listing again');
    this.#synced = false;
    this.#turn.abort();
  }

  /** Resolves when the signal aborts, never sooner; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const turn = new AbortController();
      this.#turn = turn;
      const forget = onAbort(signal, () => {
        turn.abort(signal.reason);
      });
      await this.#listAndWatch(turn.signal);
      forget();
      // A relist may have been asked for at the very moment a list was complete.
      if (turn.signal.aborted) this.#resumeAt = undefined;
    }
  }

  get #name(): string {
    return this.#deps.resource.name;
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    try {
      if (this.#resumeAt === undefined && !this.#watchList) await this.#list(signal);
      await this.#watch(signal);
    } catch (err) {
      if (!signal.aborted) await this.#recover(err, signal);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const view = new View<T>();
    let page = await this.#page('', signal);
    this.#take(page, view);
    while (page.continueToken !== '') {
      page = await this.#page(page.continueToken, signal);
      this.#take(page, view);
    }
    signal.throwIfAborted();
    this.#resumeAt = page.resourceVersion;
    this.#show(view);
  }

  async #page(token: string, signal: AbortSignal): Promise<Page<T>> {
    const { resource, transport } = this.#deps;
    const query = { ...resource.query, limit: String(pageSize) };
    // The first page is this loop's to try again; a later one is worth a retry of its own, as it saves the pages before it.
    const request = token === '' ? { query, retries: 0 } : { query: { ...query, continue: token } };
    const answer = await transport.send({ ...this.#request, ...request }, signal);
    return decodeList(answer.body, resource.codec);
  }

  get #request(): Pick<KubeRequest, 'method' | 'path' | 'accept'> {
    const { path, accept } = this.#deps.resource;
    return { method: 'GET', path, accept };
  }

  #take(page: Page<T>, view: View<T>): void {
    for (const item of page.items) view.put(this.#synced ? this.#unchanged(item) : item);
  }

  /** What has not changed since the last list is not kept twice while both views exist. */
  #unchanged(item: T): T {
    const known = this.#view.items.get(item.uid);
    return known?.resourceVersion === item.resourceVersion ? known : item;
  }

  #show(view: View<T>): void {
    const { metrics, onChange } = this.#deps;
    this.#view = view;
    this.#synced = true;
    this.#healthy();
    metrics?.listed(this.#name);
    for (const wake of this.#waiting.splice(0)) wake();
    onChange?.();
  }

  async #watch(outer: AbortSignal): Promise<void> {
    const { clock, random, transport, metrics } = this.#deps;
    const seconds = watchSeconds.atLeast + Math.floor(random() * watchSeconds.spread);
    const guard = stallGuard(clock, seconds * 1000 + stallGraceMs, outer);
    const startedMs = clock.monotonicMs();
    const session = { splitter: new FrameSplitter(), initial: this.#initialView(), frames: 0 };
    metrics?.watchStarted(this.#name);
    try {
      const request = { ...this.#request, query: this.#watchQuery(seconds) };
      for await (const chunk of transport.stream(request, guard.signal)) this.#receive(chunk, session);
    } catch (err) {
      if (!guard.stalled()) throw err;
    } finally {
      guard.stop();
    }
    const isRefusal = session.frames === 0 && clock.monotonicMs() - startedMs < tooShortMs;
    if (isRefusal) await clock.sleep(this.#backoff.next(clock.monotonicMs()), outer);
  }

  #initialView(): View<T> | undefined {
    return this.#resumeAt === undefined ? new View<T>() : undefined;
  }

  #watchQuery(seconds: number): Readonly<Record<string, string>> {
    const common = {
      ...this.#deps.resource.query,
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(seconds),
    };
    return this.#resumeAt === undefined
      ? { ...common, sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
      : { ...common, resourceVersion: this.#resumeAt };
  }

  #receive(chunk: Buffer, session: Session<T>): void {
    const frames = session.splitter.push(chunk);
    for (const frame of frames) this.#apply(decodeWatchEvent(frame, this.#deps.resource.codec), session);
    session.frames += frames.length;
    if (session.initial !== undefined) return;
    this.#healthy();
    if (frames.length > 0) this.#deps.onChange?.();
  }

  #apply(event: WatchEvent<T>, session: Session<T>): void {
    const view = session.initial ?? this.#view;
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
        view.put(event.object);
        break;
      case 'DELETED':
        view.remove(event.object);
        break;
      case 'BOOKMARK':
        break;
      case 'ERROR':
        throw event.error;
    }
  }
}
