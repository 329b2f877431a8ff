import {
  ApiError,
  type KubeRequest,
  type KubeResponse,
  type KubeTransport,
} from '../../src/kube/transport.ts';
import { hasProtobuf, Wire, type FakeObject, type FakeStatus } from './api-wire.ts';

const expired: FakeStatus = { code: 410, reason: 'Expired', message: 'too old resource version' };

interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: FakeObject;
}

/** One collection of an API server: list in pages, watch from a version, forget the past; in protobuf for the kinds that have it. */
export class FakeApi implements KubeTransport {
  readonly requests: KubeRequest[] = [];
  /** Answers in JSON although protobuf was asked for. */
  jsonOnly = false;
  watchList = true;
  /** Every answer is cut into chunks of this many bytes. */
  chunkBytes = 1000;
  /** Called before each page is read. */
  beforePage: (token: string) => void = () => undefined;
  readonly #kind: string;
  readonly #objects = new Map<string, FakeObject>();
  readonly #failures: { readonly error: Error; readonly verb: 'list' | 'watch' }[] = [];
  readonly #lists = new Map<string, readonly FakeObject[]>();
  #watches: FakeWatch[] = [];
  #changes: Change[] = [];
  #version = 100;
  #forgotten = 0;

  constructor(kind: string) {
    this.#kind = kind;
  }

  /** How many watches are open. */
  get watching(): number {
    return this.#watches.length;
  }

  get lists(): readonly KubeRequest[] {
    return this.requests.filter((r) => r.query?.['watch'] === undefined);
  }

  get watches(): readonly KubeRequest[] {
    return this.requests.filter((r) => r.query?.['watch'] !== undefined);
  }

  put(object: FakeObject): void {
    const type = this.#objects.has(object.metadata.uid) ? 'MODIFIED' : 'ADDED';
    const stored = this.#stamp(object);
    this.#objects.set(object.metadata.uid, stored);
    this.#change(type, stored);
  }

  remove(uid: string): void {
    const object = this.#objects.get(uid);
    if (object === undefined) throw new Error(`no object ${uid}`);
    this.#objects.delete(uid);
    this.#change('DELETED', this.#stamp(object));
  }

  /** A change that no watch is told of. */
  removeSilently(uid: string): void {
    this.#objects.delete(uid);
  }

  /** The next lists or watches are refused. */
  fail(verb: 'list' | 'watch', error: Error, times = 1): void {
    for (let i = 0; i < times; i += 1) this.#failures.push({ verb, error });
  }

  /** Forgets every change so far and every list in progress, as a compaction does. */
  compact(): void {
    this.#forgotten = this.#version;
    this.#lists.clear();
  }

  endWatches(error?: Error): void {
    for (const watch of this.#watches.splice(0)) watch.end(error);
  }

  bookmark(): void {
    this.#version += 1;
    for (const watch of this.#watches) watch.push(watch.wire.bookmark(String(this.#version)));
  }

  /** Sends bytes as they are. */
  sendRaw(bytes: Buffer): void {
    for (const watch of this.#watches) watch.push(bytes);
  }

  /** An ERROR in the stream. */
  sendError(status: FakeStatus): void {
    for (const watch of this.#watches) watch.push(watch.wire.error(status));
  }

  async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.stream(request, signal)) chunks.push(chunk);
    return { status: 200, headers: {}, body: Buffer.concat(chunks) };
  }

  async *stream(request: KubeRequest, signal: AbortSignal): AsyncGenerator<Buffer> {
    signal.throwIfAborted();
    this.requests.push(request);
    const isWatch = request.query?.['watch'] === 'true';
    this.#refuse(isWatch ? 'watch' : 'list');
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    for await (const bytes of isWatch ? this.#watch(request, signal) : [this.#list(request)]) {
      for (let at = 0; at < bytes.length; at += this.chunkBytes)
        yield bytes.subarray(at, at + this.chunkBytes);
    }
  }

  #refuse(verb: 'list' | 'watch'): void {
    const at = this.#failures.findIndex((failure) => failure.verb === verb);
    const [failure] = at < 0 ? [] : this.#failures.splice(at, 1);
    if (failure) throw failure.error;
  }

  #list(request: KubeRequest): Buffer {
    const { continue: token = '', limit = '500' } = request.query ?? {};
    this.beforePage(token);
    const [version = '', start = ''] = token === '' ? this.#openList() : token.split(':');
    const all = this.#lists.get(version);
    if (all === undefined)
      throw new ApiError('the continue token is too old', { status: 410, reason: 'Expired' });
    const end = Number(start) + Number(limit);
    const next = end < all.length ? `${version}:${end}` : '';
    return this.#wire(request).list(all.slice(Number(start), end), {
      resourceVersion: version,
      continue: next,
    });
  }

  #openList(): readonly string[] {
    this.#lists.set(String(this.#version), [...this.#objects.values()]);
    return [String(this.#version), '0'];
  }

  async *#watch(request: KubeRequest, signal: AbortSignal): AsyncGenerator<Buffer> {
    const watch = new FakeWatch(this.#wire(request), signal);
    const { resourceVersion, sendInitialEvents } = request.query ?? {};
    if (sendInitialEvents === 'true') this.#sendInitial(watch);
    else if (Number(resourceVersion) < this.#forgotten) {
      watch.push(watch.wire.error(expired));
      watch.end();
    } else this.#replay(watch, Number(resourceVersion));
    this.#watches.push(watch);
    try {
      yield* watch.chunks();
    } finally {
      this.#watches = this.#watches.filter((other) => other !== watch);
    }
  }

  #replay(watch: FakeWatch, after: number): void {
    for (const change of this.#changes.filter(({ version }) => version > after)) {
      watch.push(watch.wire.event(change.type, change.object));
    }
  }

  #sendInitial(watch: FakeWatch): void {
    if (!this.watchList)
      throw new ApiError('sendInitialEvents is forbidden', { status: 422, reason: 'Invalid' });
    for (const object of this.#objects.values()) {
      watch.push(watch.wire.event('ADDED', object));
    }
    watch.push(watch.wire.bookmark(String(this.#version), { 'k8s.io/initial-events-end': 'true' }));
  }

  #wire(request: KubeRequest): Wire {
    const isJson = this.jsonOnly || !(request.accept ?? '').includes('protobuf') || !hasProtobuf(this.#kind);
    return new Wire(this.#kind, isJson);
  }

  #stamp(object: FakeObject): FakeObject {
    this.#version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
  }

  #change(type: Change['type'], object: FakeObject): void {
    const change = { version: this.#version, type, object };
    this.#changes.push(change);
    for (const watch of this.#watches) watch.push(watch.wire.event(change.type, change.object));
  }
}

/** One open watch: what is pushed comes out, until it ends. */
class FakeWatch {
  readonly wire: Wire;
  readonly #signal: AbortSignal;
  readonly #queue: Buffer[] = [];
  #end: { readonly error: Error | undefined } | undefined;
  #wake: () => void = () => undefined;

  constructor(wire: Wire, signal: AbortSignal) {
    this.wire = wire;
    this.#signal = signal;
    signal.addEventListener('abort', () => {
      this.#wake();
    });
  }

  push(bytes: Buffer): void {
    this.#queue.push(bytes);
    this.#wake();
  }

  end(error?: Error): void {
    this.#end = { error };
    this.#wake();
  }

  async *chunks(): AsyncGenerator<Buffer> {
    for (;;) {
      this.#signal.throwIfAborted();
      const bytes = this.#queue.shift();
      if (bytes !== undefined) yield bytes;
      else if (this.#end?.error) throw this.#end.error;
      else if (this.#end) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
