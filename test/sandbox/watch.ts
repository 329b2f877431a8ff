import { encodeErrorEvent, encodeEvent, type Form } from './encode.ts';
import { Failure } from './failure.ts';
import type { KubeObject } from './json.ts';
import type { Call } from './request.ts';
import { apiVersionOf } from './resources.ts';
import { selectorOf } from './selectors.ts';
import type { Change } from './store.ts';

/** Where the frames of a watch go. */
export interface WatchSink {
  write(frame: Uint8Array): void;
  end(): void;
}

/** Between the half hour and the hour that the real server takes. */
const defaultTimeoutSeconds = 2700;
const bookmarkIntervalMs = 5000;
/** As the real server: a last bookmark shortly before the end, so that the next watch starts from there. */
const lastBookmarkMs = 2000;

/** One watch of one client. */
export class Watch {
  readonly #call: Call;
  readonly #form: Form;
  readonly #sink: WatchSink;
  readonly #matches: (object: KubeObject) => boolean;
  readonly #timers: NodeJS.Timeout[] = [];
  #unsubscribe = (): void => undefined;

  constructor(call: Call, form: Form, sink: WatchSink) {
    this.#matches = selectorOf(call);
    this.#call = call;
    this.#form = form;
    this.#sink = sink;
  }

  /** Sends the past that was asked for; what happens from now on follows. */
  start(): void {
    const { store, resource, query } = this.#call;
    const collection = store.collection(resource);
    const revision = Number(query.get('resourceVersion') ?? 0);
    const changes = revision === 0 ? [] : collection.since(revision);
    if (changes === undefined) {
      this.fail(tooOld(revision, collection.floor));
      return;
    }
    if (revision === 0) this.#sendPresent();
    for (const change of changes) this.#sendChange(change);
    this.#unsubscribe = collection.subscribe((change) => {
      this.#sendChange(change);
    });
    this.#startTimers();
  }

  bookmark(annotations?: Readonly<Record<string, string>>): void {
    const { store, resource, query } = this.#call;
    if (query.get('allowWatchBookmarks') !== 'true') return;
    const metadata = { resourceVersion: String(store.revision), ...(annotations && { annotations }) };
    const object = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
    this.#send('BOOKMARK', object as unknown as KubeObject);
  }

  /** Ends the watch as the server does once it has forgotten the watch's past. */
  expire(): void {
    this.fail(tooOld(0, this.#call.store.revision));
  }

  /** Ends the watch with an ERROR in the stream. */
  fail({ status }: Failure): void {
    this.#sink.write(encodeErrorEvent(status, this.#form.media.encoding));
    this.close();
  }

  close(): void {
    this.stop();
    this.#sink.end();
  }

  /** Without an end for the client, which has gone. */
  stop(): void {
    this.#unsubscribe();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #sendPresent(): void {
    const { store, resource, query } = this.#call;
    for (const object of store.collection(resource).sorted())
      if (this.#matches(object)) this.#send('ADDED', object);
    if (query.get('sendInitialEvents') === 'true') this.bookmark({ 'k8s.io/initial-events-end': 'true' });
  }

  /** With a selector, an object that starts to match is added, and one that stops matching is deleted. */
  #sendChange({ type, revision, object, previous }: Change): void {
    const before = previous !== undefined && this.#matches(previous);
    const after = type !== 'DELETED' && this.#matches(object);
    if (after) this.#send(before ? 'MODIFIED' : 'ADDED', object);
    if (after || !before) return;
    const last = type === 'DELETED' ? object : previous;
    this.#send('DELETED', { ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } });
  }

  #send(type: string, object: KubeObject): void {
    this.#sink.write(encodeEvent(type, object, this.#form));
  }

  #startTimers(): void {
    const seconds = Number(this.#call.query.get('timeoutSeconds') ?? defaultTimeoutSeconds);
    const close = (): void => {
      this.close();
    };
    const mark = (): void => {
      this.bookmark();
    };
    this.#timers.push(setTimeout(close, seconds * 1000), setInterval(mark, bookmarkIntervalMs));
    if (seconds * 1000 > lastBookmarkMs) this.#timers.push(setTimeout(mark, seconds * 1000 - lastBookmarkMs));
  }
}

const tooOld = (revision: number, floor: number): Failure =>
  new Failure(`too old resource version: ${revision} (${floor})`, { code: 410, reason: 'Expired' });
