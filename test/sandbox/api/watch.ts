import { encodeErrorEvent, encodeEvent, type Form } from './format/encode.ts';
import { Failure } from './failure.ts';
import type { KubeObject } from './format/json.ts';
import type { Call } from './request.ts';
import { apiVersionOf } from './resources.ts';
import { selectorOf } from './list.ts';
import type { Change } from './store.ts';

export interface WatchSink {
  write(frame: Uint8Array): void;
  end(): void;
}

/** Between the half hour and the hour of the real server. */
const defaultTimeoutSeconds = 2700;
const bookmarkIntervalMs = 5000;

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

  /** Sends the changes since the requested revision, then each new one. */
  start(): void {
    const { store, resource, query } = this.#call;
    const collection = store.collection(resource);
    const revision = Number(query.get('resourceVersion') ?? 0);
    const changes = revision === 0 ? [] : collection.since(revision);
    if (changes === undefined) {
      this.fail(tooOld(revision, collection.floor));
      return;
    }
    if (revision === 0)
      for (const object of collection.sorted()) if (this.#matches(object)) this.#send('ADDED', object);
    if (query.get('sendInitialEvents') === 'true')
      this.#mark({ annotations: { 'k8s.io/initial-events-end': 'true' } });
    for (const change of changes) this.#sendChange(change);
    this.#unsubscribe = collection.subscribe((change) => this.#sendChange(change));
    this.#startTimers();
  }

  bookmark(): void {
    if (this.#call.query.get('allowWatchBookmarks') === 'true') this.#mark({});
  }

  #mark(more: { readonly annotations?: Readonly<Record<string, string>> }): void {
    const { store, resource } = this.#call;
    const metadata = { resourceVersion: String(store.revision), ...more };
    const object = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
    this.#send('BOOKMARK', object as unknown as KubeObject);
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

  /** Stops without an end for the client, which has closed the connection. */
  stop(): void {
    this.#unsubscribe();
    for (const timer of this.#timers) clearTimeout(timer);
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
    const close = (): void => this.close();
    const mark = (): void => this.bookmark();
    this.#timers.push(setTimeout(close, seconds * 1000), setInterval(mark, bookmarkIntervalMs));
  }
}

const tooOld = (revision: number, floor: number): Failure =>
  new Failure(`too old resource version: ${revision} (${floor})`, { code: 410, reason: 'Expired' });
