import { parseJson } from '../codec/json.ts';
import type { Lease } from './record.ts';
import { isNotFound } from '../http/transport.ts';
import type { KubeTransport } from '../http/transport.ts';

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** The requests of leader election. None is retried: the elector tries again in its next round. */
export class LeaseClient {
  readonly #transport: KubeTransport;
  readonly #lease: LeaseName;
  readonly #timeoutMs: number;

  constructor(transport: KubeTransport, lease: LeaseName, timeoutMs: number) {
    this.#transport = transport;
    this.#lease = lease;
    this.#timeoutMs = timeoutMs;
  }

  /** undefined = the lease, or its namespace, does not exist. */
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

  /** Rejected with a conflict if the lease has changed since it was read. */
  update(lease: Lease, signal: AbortSignal): Promise<Lease> {
    return this.#send('PUT', lease, signal);
  }

  async #send(method: 'GET' | 'POST' | 'PUT', body: Lease | undefined, signal: AbortSignal): Promise<Lease> {
    const { namespace, name } = this.#lease;
    const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
    const path = method === 'POST' ? collection : `${collection}/${encodeURIComponent(name)}`;
    const request = { method, path, body, timeoutMs: this.#timeoutMs, retries: 0 };
    const { body: stored } = await this.#transport.send(request, signal);
    return parseJson(stored) as Lease;
  }
}
