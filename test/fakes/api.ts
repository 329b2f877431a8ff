import { responseError } from '../../src/kube/http/response-error.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from '../../src/kube/http/transport.ts';
import { ApiServer, type ApiResponse } from '../sandbox/api/api-server.ts';
import type { DirectStore } from '../sandbox/api/direct-store.ts';
import { Failure } from '../sandbox/api/failure.ts';
import { asObject } from '../sandbox/api/format/json.ts';
import type { Watch } from '../sandbox/api/watch.ts';

/** Cuts every stream in the middle of its frames. */
const chunkBytes = 1000;

interface Planned {
  readonly error: Error;
  readonly verb: 'list' | 'watch';
}

/** A connection to the API server sandbox in memory: requests resolve without time passing. Several connections may share a server. */
export class FakeApi implements KubeTransport {
  readonly server: ApiServer;
  readonly requests: KubeRequest[] = [];
  /** Runs before the server acts: throws, or delays. */
  before: (request: KubeRequest, signal: AbortSignal) => Promise<void> | void = () => undefined;
  /** Runs between the server's action and its response. */
  after: (request: KubeRequest, signal: AbortSignal) => Promise<void> | void = () => undefined;
  readonly #streams = new Set<Stream>();
  #planned: Planned[] = [];

  constructor(server = new ApiServer()) {
    this.server = server;
  }

  get objects(): DirectStore {
    return this.server.objects;
  }

  /** How many watches are open. */
  get watching(): number {
    return this.#streams.size;
  }

  get lists(): readonly KubeRequest[] {
    return this.requests.filter(({ query }) => query?.['watch'] === undefined);
  }

  get watches(): readonly KubeRequest[] {
    return this.requests.filter(({ query }) => query?.['watch'] !== undefined);
  }

  /** The next lists or watches are refused. */
  fail(verb: Planned['verb'], error: Error, times = 1): void {
    for (let i = 0; i < times; i += 1) this.#planned.push({ verb, error });
  }

  endWatches(error?: Error): void {
    for (const stream of this.#streams) stream.end(error);
  }

  /** Sends bytes as they are. */
  sendRaw(bytes: Buffer): void {
    for (const stream of this.#streams) stream.push(bytes);
  }

  /** Sends an ERROR in every stream, which then ends. */
  sendError(code: number, reason: string): void {
    this.server.failWatches(new Failure(reason, { code, reason }));
  }

  /** Hides changes from open watches. */
  silently(act: () => void): void {
    for (const stream of this.#streams) stream.deaf = true;
    act();
    for (const stream of this.#streams) stream.deaf = false;
  }

  async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const { body } = await this.#respond(request, signal);
    if (typeof body === 'function') throw new Error('a watch is a stream');
    return { status: 200, headers: {}, body: Buffer.from(body) };
  }

  async *stream(request: KubeRequest, signal: AbortSignal): AsyncGenerator<Buffer> {
    await new Promise((resolve) => setImmediate(resolve));
    const { body } = await this.#respond(request, signal);
    if (typeof body !== 'function') {
      yield* pieces(Buffer.from(body));
      return;
    }
    const stream = new Stream(signal);
    this.#streams.add(stream);
    const watch: Watch = body({
      write: (bytes) => {
        if (!stream.deaf) stream.push(bytes);
      },
      end: () => stream.end(),
    });
    try {
      yield* stream.chunks();
    } finally {
      this.#streams.delete(stream);
      this.server.forget(watch);
    }
  }

  async #respond(request: KubeRequest, signal: AbortSignal): Promise<ApiResponse> {
    signal.throwIfAborted();
    this.requests.push(request);
    const verb = request.query?.['watch'] === undefined ? 'list' : 'watch';
    const at = this.#planned.findIndex((planned) => planned.verb === verb);
    const [planned] = at < 0 ? [] : this.#planned.splice(at, 1);
    if (planned !== undefined) throw planned.error;
    await this.before(request, signal);
    signal.throwIfAborted();
    const response = this.server.handle(this.#apiRequest(request));
    await this.after(request, signal);
    signal.throwIfAborted();
    const { status, body } = response;
    if (status < 300 || typeof body === 'function') return response;
    throw responseError(request, { status, headers: {}, body: Buffer.from(body) });
  }

  #apiRequest({
    method,
    path,
    query,
    accept,
    contentType,
    body,
  }: KubeRequest): Parameters<ApiServer['handle']>[0] {
    return {
      method,
      url: new URL(`${path}?${new URLSearchParams(query).toString()}`, 'http://sandbox'),
      accept: accept ?? 'application/json',
      contentType: contentType ?? 'application/json',
      // The same as over the network.
      body: body === undefined ? undefined : asObject(JSON.parse(JSON.stringify(body))),
    };
  }
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

/** The chunks of one open watch until it ends. */
class Stream {
  deaf = false;
  readonly #signal: AbortSignal;
  readonly #queue: Uint8Array[] = [];
  #end: { readonly error: Error | undefined } | undefined;
  #wake: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake());
  }

  push(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#wake();
  }

  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *chunks(): AsyncGenerator<Buffer> {
    for (;;) {
      this.#signal.throwIfAborted();
      const bytes = this.#queue.shift();
      if (bytes !== undefined) yield* pieces(Buffer.from(bytes));
      else if (this.#end?.error) throw this.#end.error;
      else if (this.#end) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
