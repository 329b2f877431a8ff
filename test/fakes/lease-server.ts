import type { Lease } from '../../src/kube/lease-record.ts';
import { ApiError } from '../../src/kube/transport.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from '../../src/kube/transport.ts';

/** One Lease, kept as an API server keeps it: resource versions, 404, 409. */
export class LeaseServer {
  readonly requests: KubeRequest[] = [];
  #lease: Lease | undefined;
  #version = 0;

  get lease(): Lease | undefined {
    return this.#lease;
  }

  get spec(): NonNullable<Lease['spec']> {
    return this.#lease?.spec ?? {};
  }

  get holder(): string | null | undefined {
    return this.spec.holderIdentity;
  }

  /** As someone else writes it, past all preconditions. */
  overwrite(spec: NonNullable<Lease['spec']>): void {
    this.#store({
      ...(this.#lease ?? { apiVersion: '', kind: '', metadata: { name: 'l', namespace: 'n' } }),
      spec,
    });
  }

  remove(): void {
    this.#lease = undefined;
  }

  /** A connection to this server, with faults of its own. */
  connect(): LeaseConnection {
    return new LeaseConnection(this);
  }

  handle(request: KubeRequest): Lease {
    this.requests.push(request);
    if (request.method === 'POST') return this.#create(request.body as Lease);
    if (this.#lease === undefined) throw refusal(404, 'NotFound');
    return request.method === 'PUT' ? this.#update(this.#lease, request.body as Lease) : this.#lease;
  }

  #create(lease: Lease): Lease {
    if (this.#lease !== undefined) throw refusal(409, 'AlreadyExists');
    return this.#store(lease);
  }

  #update(stored: Lease, lease: Lease): Lease {
    if (lease.metadata.resourceVersion !== stored.metadata.resourceVersion) throw refusal(409, 'Conflict');
    return this.#store(lease);
  }

  #store(lease: Lease): Lease {
    this.#version += 1;
    const metadata = { ...lease.metadata, uid: 'lease-uid', resourceVersion: String(this.#version) };
    this.#lease = { ...lease, metadata };
    return this.#lease;
  }
}

/** `down`: refused before the server sees it. `mute`: the server acts, the answer is lost. `hang`: nothing comes back at all. */
type Fault = 'down' | 'mute' | 'hang' | Error;

export class LeaseConnection implements KubeTransport {
  fault: Fault | undefined;
  /** Which requests the fault hits; default all. */
  hits: (request: KubeRequest) => boolean = () => true;
  /** Holds back the answers (the server has acted by then). */
  answersAfter: Promise<void> | undefined;
  readonly #server: LeaseServer;

  constructor(server: LeaseServer) {
    this.#server = server;
  }

  async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    signal.throwIfAborted();
    const fault = this.hits(request) ? this.fault : undefined;
    if (fault instanceof Error) throw fault;
    if (fault === 'down') throw new Error('connect ECONNREFUSED');
    const lease = this.#server.handle(request);
    await this.answersAfter;
    if (fault === 'mute') throw new Error('socket hang up');
    if (fault === 'hang') await aborted(signal);
    signal.throwIfAborted();
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(lease)) };
  }

  stream(): AsyncIterable<Buffer> {
    throw new Error('leases are not watched');
  }
}

export const refusal = (status: number, reason: string): ApiError => new ApiError(reason, { status, reason });

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
