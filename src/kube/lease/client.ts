import { emptyLease } from './record.ts';
import type { Lease } from './record.ts';
import { isNotFound } from '../http/transport.ts';
import type { KubeTransport } from '../http/transport.ts';

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** The three requests leader election makes. None is retried here: the elector's next round is the retry. */
export class LeaseClient {
  readonly #transport: KubeTransport;
  readonly #lease: LeaseName;
  readonly #timeoutMs: number;

  constructor(transport: KubeTransport, lease: LeaseName, timeoutMs: number) {
    this.#transport = transport;
    this.#lease = lease;
    this.#timeoutMs = timeoutMs;
  }

  /** A lease without anything in it, to be claimed and created. */
  blank(): Lease {
    return emptyLease(this.#lease.namespace, this.#lease.name);
  }

  /** undefined when there is none (or not even its namespace). */
  async get(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await this.#send('GET', undefined, signal);
    } catch (err) {
      if (isNotFound(err)) return undefined;
      throw err;
    }
  }

  create(lease: Lease, signal: AbortSignal): Promise<Lease> {
    return this.#send('POST', lease, signal);
  }

  /** Refused with a conflict when the lease is no longer the one that was read. */
  update(lease: Lease, signal: AbortSignal): Promise<Lease> {
    return this.#send('PUT', lease, signal);
  }

  async #send(method: 'GET' | 'POST' | 'PUT', body: Lease | undefined, signal: AbortSignal): Promise<Lease> {
    const { namespace, name } = this.#lease;
    const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
    const path = method === 'POST' ? collection : `${collection}/${encodeURIComponent(name)}`;
    const request = { method, path, body, timeoutMs: this.#timeoutMs, retries: 0 };
    const answer = await this.#transport.send(request, signal);
    return JSON.parse(answer.body.toString()) as Lease;
  }
}
