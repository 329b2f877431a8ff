import { ApiError } from '../../src/kube/transport.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from '../../src/kube/transport.ts';

export interface StoredEvent {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly reason: string;
  readonly note: string;
  readonly reportingInstance: string;
  readonly eventTime: string;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

/** Keeps Events as an API server keeps them, and can refuse, hang or lose its answers. */
export class EventServer implements KubeTransport {
  readonly requests: KubeRequest[] = [];
  readonly #events = new Map<string, StoredEvent>();
  /** Asked before each request acts: throws, or delays. */
  before: (request: KubeRequest, signal: AbortSignal) => Promise<void> | void = () => undefined;
  /** Asked when it has acted, before it answers. */
  after: (request: KubeRequest) => void = () => undefined;

  get events(): readonly StoredEvent[] {
    return [...this.#events.values()];
  }

  get verbs(): readonly string[] {
    return this.requests.map((request) => request.method);
  }

  /** As their time to live does. */
  expireAll(): void {
    this.#events.clear();
  }

  async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    signal.throwIfAborted();
    this.requests.push(request);
    await this.before(request, signal);
    signal.throwIfAborted();
    if (request.method === 'POST') this.#create(request);
    else this.#patch(request);
    this.after(request);
    return { status: 200, headers: {}, body: Buffer.from('{}') };
  }

  stream(): AsyncIterable<Buffer> {
    throw new Error('events are not watched');
  }

  #create({ path, body }: KubeRequest): void {
    const event = body as StoredEvent;
    const key = `${path}/${event.metadata.name}`;
    if (this.#events.has(key)) throw new ApiError('exists', { status: 409, reason: 'AlreadyExists' });
    this.#events.set(key, event);
  }

  #patch({ path, body }: KubeRequest): void {
    const event = this.#events.get(path);
    if (event === undefined) throw new ApiError('not found', { status: 404, reason: 'NotFound' });
    this.#events.set(path, { ...event, ...(body as object) });
  }
}
