import { onTestFinished } from 'vitest';
import type { Identified } from '../../../src/kube/cache/objects.ts';
import { Reflector } from '../../../src/kube/cache/reflector.ts';
import type { Resource } from '../../../src/kube/cache/resources.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from '../../../src/kube/http/transport.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { silentLogger } from '../../fakes/logger.ts';

/** A running reflector with pages of two; it stops with its test. */
export function reflect<T extends Identified>(transport: KubeTransport, resource: Resource<T>): Reflector<T> {
  const stop = new AbortController();
  onTestFinished(() => {
    stop.abort();
  });
  const deps = { transport, resource, clock: systemClock, log: silentLogger, random: Math.random };
  const reflector = new Reflector({ ...deps, pageSize: 2 });
  void reflector.run(stop.signal);
  return reflector;
}

/** The object of a name, or undefined. */
export function named<T extends Identified>(reflector: Reflector<T>, name: string): T | undefined {
  return [...reflector.items.values()].find((object) => object.name === name);
}

/** A transport that records requests and whose watches a test can end, as a load balancer does. */
export class CutTransport implements KubeTransport {
  readonly requests: KubeRequest[] = [];
  readonly #inner: KubeTransport;
  #cut = new AbortController();
  #open: Promise<void> = Promise.resolve();

  constructor(inner: KubeTransport) {
    this.#inner = inner;
  }

  send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    return this.#inner.send(request, signal);
  }

  async *stream(request: KubeRequest, signal: AbortSignal): AsyncGenerator<Buffer> {
    await this.#open;
    this.requests.push(request);
    const cut = this.#cut;
    try {
      yield* this.#inner.stream(request, AbortSignal.any([signal, cut.signal]));
    } catch (err) {
      if (signal.aborted || !cut.signal.aborted) throw err;
    }
  }

  /** Ends every stream; the next ones begin after `meanwhile`. */
  async cutDuring(meanwhile: () => Promise<void>): Promise<void> {
    let open: () => void = () => undefined;
    this.#open = new Promise((resolve) => (open = resolve));
    this.#cut.abort();
    this.#cut = new AbortController();
    await meanwhile();
    open();
  }
}
