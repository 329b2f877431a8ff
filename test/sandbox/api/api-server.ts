import { remove } from './delete.ts';
import { DirectStore } from './direct-store.ts';
import { discoveryOf } from './discovery.ts';
import {
  contentType,
  encodeList,
  encodeObject,
  encodeStatus,
  formOf,
  type Encoding,
  type Form,
} from './format/encode.ts';
import { evict } from './evict.ts';
import { Failure, notFound, PageNotFound } from './failure.ts';
import type { JsonObject, KubeObject } from './format/json.ts';
import { list } from './list.ts';
import { callOf, type ApiRequest, type Call } from './request.ts';
import { Registry } from './resources.ts';
import { Store } from './store.ts';
import { Watch, type WatchSink } from './watch.ts';
import { create, patch, update } from './write.ts';

export interface ApiResponse {
  readonly status: number;
  readonly type: string;
  readonly retryAfterSeconds?: number | undefined;
  /** A function starts a watch. */
  readonly body: Uint8Array | ((sink: WatchSink) => Watch);
}

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** The API server without transport and users. */
export class ApiServer {
  readonly registry = new Registry();
  readonly #store = new Store();
  /** Direct access to the objects. */
  readonly objects = new DirectStore(this.registry, this.#store);
  readonly #watches = new Set<Watch>();
  /** Whether a watch may begin with a list: older servers refuse the parameter, and proxies or other servers may ignore it. */
  listsByWatch: 'sent' | 'refused' | 'ignored' = 'sent';

  constructor() {
    for (const name of namespaces) this.objects.ensureNamespace(name);
  }

  /** Never throws: a failure is a response too. */
  handle(request: ApiRequest): ApiResponse {
    try {
      const served = request.method === 'GET' && discoveryOf(request.url.pathname, this.registry.resources);
      if (served) return ofStatus(200, served, 'json');
      return this.#serve(callOf(request, { registry: this.registry, store: this.#store }), request.accept);
    } catch (err) {
      return failed(err, request.accept);
    }
  }

  /** Ends open watches, like a server that shuts down. */
  closeWatches(): void {
    for (const watch of this.#watches) watch.close();
  }

  /** Ends open watches with an ERROR in the stream. */
  failWatches(failure: Failure): void {
    for (const watch of this.#watches) watch.fail(failure);
  }

  /** Expires older revisions and continue tokens. */
  compact(): void {
    this.#store.compact();
  }

  /** Sends a bookmark of a new revision to every watch. */
  bookmark(): void {
    this.#store.advance();
    for (const watch of this.#watches) watch.bookmark();
  }

  #serve(call: Call, accept: string): ApiResponse {
    const form = formOf(call, accept);
    switch (call.verb) {
      case 'get':
        return ofObject(200, get(call), form);
      case 'list':
        return { status: 200, type: contentType(form.media.encoding), body: encodeList(list(call), form) };
      case 'watch':
        this.#checkInitialEvents(call);
        return {
          status: 200,
          type: contentType(form.media.encoding, true),
          body: (sink) => this.#watch(call, form, sink),
        };
      case 'create':
        if (call.subresource === 'eviction') return ofStatus(201, evict(call), form.media.encoding);
        return ofObject(201, create(call), form);
      case 'update':
        return ofObject(200, update(call), form);
      case 'patch':
        return ofObject(200, patch(call), form);
      case 'delete':
        return ofObject(200, remove(call), form);
    }
  }

  #checkInitialEvents({ query }: Call): void {
    if (!query.has('sendInitialEvents') || this.listsByWatch === 'sent') return;
    if (this.listsByWatch === 'refused')
      throw new Failure(
        'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
        { code: 422, reason: 'Invalid' },
      );
    query.delete('sendInitialEvents');
  }

  #watch(call: Call, form: Form, sink: WatchSink): Watch {
    const watch: Watch = new Watch(call, form, {
      write: (frame) => sink.write(frame),
      end: () => {
        this.#watches.delete(watch);
        sink.end();
      },
    });
    this.#watches.add(watch);
    watch.start();
    return watch;
  }

  /** Stops a watch whose client has closed the connection. */
  forget(watch: Watch): void {
    this.#watches.delete(watch);
    watch.stop();
  }
}

function get({ store, resource, namespace, name }: Call): KubeObject {
  const object = store.get(resource, namespace, name);
  if (object === undefined) throw notFound(resource, name);
  return object;
}

const ofObject = (status: number, object: KubeObject, form: Form): ApiResponse => ({
  status,
  type: contentType(form.media.encoding),
  body: encodeObject(object, form),
});

export const ofStatus = (status: number, body: JsonObject, encoding: Encoding): ApiResponse => ({
  status,
  type: contentType(encoding),
  body: encodeStatus(body, encoding),
});

/** An error in the encoding that the client prefers. */
export function failed(err: unknown, accept: string): ApiResponse {
  if (err instanceof PageNotFound)
    return { status: 404, type: 'text/plain; charset=utf-8', body: Buffer.from('404 page not found\n') };
  const failure =
    err instanceof Failure ? err : new Failure(String(err), { code: 500, reason: 'InternalError' });
  const encoding = accept.startsWith('application/vnd.kubernetes.protobuf') ? 'protobuf' : 'json';
  const { details } = failure.status as { readonly details?: { readonly retryAfterSeconds?: number } };
  return {
    ...ofStatus(failure.code, failure.status, encoding),
    retryAfterSeconds: details?.retryAfterSeconds,
  };
}
