import type { V1Pod } from '@kubernetes/client-node';
import { podPath } from '../actions/pod-requests.ts';
import { asObject, parseJson } from '../codec/json.ts';
import type { HolderPod, Lease } from './record.ts';
import { isMissing, isNotFound, unless } from '../http/transport.ts';
import type { KubeRequest, KubeTransport } from '../http/transport.ts';

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** The requests of leader election. None is retried: the elector tries again in its next round. */
export class LeaseClient {
  readonly #transport: KubeTransport;
  readonly #collection: string;
  readonly #name: string;
  readonly #timeoutMs: number;

  constructor(transport: KubeTransport, { namespace, name }: LeaseName, timeoutMs: number) {
    this.#transport = transport;
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
    this.#name = encodeURIComponent(name);
    this.#timeoutMs = timeoutMs;
  }

  /** undefined = the lease, or its namespace, does not exist. */
  get(signal: AbortSignal): Promise<Lease | undefined> {
    return unless(
      isNotFound,
      this.#send({ method: 'GET', path: `${this.#collection}/${this.#name}` }, signal),
    );
  }

  async isGone(pod: HolderPod, signal: AbortSignal): Promise<boolean> {
    const request = { method: 'GET', path: podPath(pod), timeoutMs: this.#timeoutMs, retries: 0 } as const;
    const found = await unless(isMissing, this.#transport.send(request, signal));
    if (found === undefined) return true;
    const { metadata } = asObject<V1Pod>(parseJson(found.body));
    return asObject(metadata).uid !== pod.uid;
  }

  /** Creates a new lease or updates a stored one. Rejected with a conflict if it has changed since it was read. */
  write(body: Lease, signal: AbortSignal): Promise<Lease> {
    const isNew = body.metadata.resourceVersion === undefined;
    return isNew
      ? this.#send({ method: 'POST', path: this.#collection, body }, signal)
      : this.#send({ method: 'PUT', path: `${this.#collection}/${this.#name}`, body }, signal);
  }

  async #send(request: KubeRequest, signal: AbortSignal): Promise<Lease> {
    const timed = { ...request, timeoutMs: this.#timeoutMs, retries: 0 };
    const { body } = await this.#transport.send(timed, signal);
    return parseJson(body) as Lease;
  }
}
