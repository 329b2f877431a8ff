import type { Change } from './collection.ts';
import { contentType, encodeErrorEvent, encodeEvent, type Form } from './encode.ts';
import { Failure } from './failure.ts';
import type { KubeObject } from './json.ts';
import { checkListOptions, revisionOf } from './list-options.ts';
import type { Reply } from './reply.ts';
import type { RequestInfo } from './request-info.ts';
import { apiVersionOf } from './resources.ts';
import { selectorOf, type Matcher } from './selectors.ts';
import type { World } from './world.ts';

interface WatchOptions {
  readonly form: Form;
  readonly bookmarkIntervalMs: number;
}

/** Between the half hour and the hour that the real server takes. */
const defaultTimeoutSeconds = 2700;
/** As the real server: a last bookmark shortly before the end, so that the next watch starts from there. */
const lastBookmarkMs = 2000;
const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' };

/** One watch of one client. The constructor throws for requests that are refused; after that everything goes into the stream. */
export class Watch {
  readonly #world: World;
  readonly #info: RequestInfo;
  readonly #options: WatchOptions;
  readonly #matches: Matcher | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  #reply: Reply | undefined;
  /** Changes that come while the past is still being written. */
  #waiting: Change[] | undefined = [];
  #unsubscribe = (): void => undefined;

  constructor(world: World, info: RequestInfo, options: WatchOptions) {
    checkListOptions({ watch: true, query: info.query });
    checkRevision(info.query.get('resourceVersion'));
    this.#matches = selectorOf(info.query, info.resource.rules);
    this.#world = world;
    this.#info = info;
    this.#options = options;
  }

  /** Resolves when the past is written; the future follows until the watch ends. */
  async run(reply: Reply): Promise<void> {
    this.#reply = reply;
    const collection = this.#world.store.collection(this.#info.resource);
    reply.head(200, { 'content-type': contentType(this.#options.form.media.encoding, true) });
    reply.onClose(() => {
      this.#stop();
    });
    this.#unsubscribe = collection.subscribe((change) => {
      if (this.#waiting === undefined) this.#sendChange(change);
      else this.#waiting.push(change);
    });
    this.#startTimers();
    await this.#sendPast();
    this.#flushWaiting();
    this.#waiting = undefined;
  }

  bookmark(annotations?: Readonly<Record<string, string>>): void {
    if (this.#info.query.get('allowWatchBookmarks') !== 'true') return;
    // While the past is being written, the present revision would promise too much.
    if (this.#waiting !== undefined && annotations === undefined) return;
    const marks = annotations === undefined ? {} : { annotations };
    const metadata = {
      resourceVersion: String(this.#world.store.revision),
      ...marks,
    } as KubeObject['metadata'];
    const { resource } = this.#info;
    this.#send('BOOKMARK', { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata });
  }

  /** Ends the watch as the server does with one whose past it has forgotten. */
  expire(): void {
    const { floor } = this.#world.store.collection(this.#info.resource);
    this.#sendExpired(revisionOf(this.#info.query.get('resourceVersion')), floor);
  }

  close(): void {
    this.#stop();
    this.#reply?.end();
  }

  async #sendPast(): Promise<void> {
    const { query, resource } = this.#info;
    const { store } = this.#world;
    const revision = revisionOf(query.get('resourceVersion'));
    const initial = query.get('sendInitialEvents');
    const collection = store.collection(resource);
    const changes = revision === 0 ? [] : collection.since(revision);
    if (initial === 'true' || (initial === null && revision === 0)) await this.#sendPresent();
    else if (changes === undefined) this.#sendExpired(revision, collection.floor);
    else for (const change of changes) this.#sendChange(change);
  }

  async #sendPresent(): Promise<void> {
    const { store } = this.#world;
    const { query, resource } = this.#info;
    for (const object of store.collection(resource).sorted()) {
      if (this.#isWatched(object)) this.#send('ADDED', object);
      await this.#reply?.drained();
    }
    if (query.get('sendInitialEvents') !== 'true') return;
    this.#flushWaiting();
    this.bookmark(initialEventsEnd);
  }

  #flushWaiting(): void {
    for (const change of this.#waiting?.splice(0) ?? []) this.#sendChange(change);
  }

  /** A selector makes changes of its own: an object that comes to match is added, one that ceases to match is deleted. */
  #sendChange({ type, revision, object, previous }: Change): void {
    const before = previous !== undefined && this.#isWatched(previous);
    const after = type !== 'DELETED' && this.#isWatched(object);
    if (after) this.#send(before ? 'MODIFIED' : 'ADDED', object);
    if (after || !before) return;
    const last = type === 'DELETED' ? object : previous;
    this.#send('DELETED', { ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } });
  }

  #isWatched(object: KubeObject): boolean {
    const { namespace } = this.#info;
    if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
    return this.#matches?.(object) ?? true;
  }

  #send(type: string, object: KubeObject): void {
    this.#reply?.write(encodeEvent(type, object, this.#options.form));
  }

  #sendExpired(revision: number, floor: number): void {
    const { status } = new Failure(`too old resource version: ${revision} (${floor})`, {
      code: 410,
      reason: 'Expired',
    });
    this.#reply?.write(encodeErrorEvent(status, this.#options.form.media.encoding));
    this.close();
  }

  #startTimers(): void {
    const seconds = Number(this.#info.query.get('timeoutSeconds')) || defaultTimeoutSeconds;
    const end = (): void => {
      this.close();
    };
    const mark = (): void => {
      this.bookmark();
    };
    this.#timers.push(setTimeout(end, seconds * 1000), setInterval(mark, this.#options.bookmarkIntervalMs));
    if (seconds * 1000 > lastBookmarkMs) this.#timers.push(setTimeout(mark, seconds * 1000 - lastBookmarkMs));
  }

  #stop(): void {
    this.#unsubscribe();
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

/** Here the real server takes a bad version for its own fault. */
function checkRevision(text: string | null): void {
  try {
    revisionOf(text);
  } catch (err) {
    if (!(err instanceof Failure)) throw err;
    throw new Failure(err.message.replace('invalid resource version: ', ''), { code: 500 });
  }
}
