import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { tokenCredentials } from '../../../src/kube/auth/credentials.ts';
import { createTransport, type HttpTransport } from '../../../src/kube/http/http-transport.ts';
import type { KubeRequest, KubeTransport } from '../../../src/kube/http/transport.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import type { ContractServer } from '../server.ts';

/** Our transport to a server under test, as its administrator or with another token. */
export async function contractTransport(
  server: ContractServer,
  token = server.token,
): Promise<HttpTransport> {
  const tls = server.caFile === undefined ? {} : { tls: { ca: await readFile(server.caFile) } };
  const endpoint = { server: server.url, ...tls };
  return createTransport({ endpoint, auth: tokenCredentials(token), clock: systemClock });
}

interface Meta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly deletionTimestamp?: string;
}

interface Pod {
  readonly metadata: Meta;
  readonly status: {
    readonly phase: string;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Readonly<Record<string, string | number>>[];
  };
}

interface PodOptions {
  readonly name?: string;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly object[];
  readonly nodeName?: string;
  readonly containers?: readonly object[];
}

export class Objects {
  readonly namespace = `actions-${randomUUID().slice(0, 8)}`;
  readonly #transport: KubeTransport;

  constructor(transport: KubeTransport) {
    this.#transport = transport;
  }

  /** A namespace in which pods can be made: the controller manager, which makes the service account, does not run. */
  async start(): Promise<void> {
    await this.post('/api/v1/namespaces', named('Namespace', this.namespace));
    const path = `/api/v1/namespaces/${this.namespace}/serviceaccounts`;
    await this.post(path, named('ServiceAccount', 'default'));
  }

  createPod({
    name = `p-${randomUUID().slice(0, 8)}`,
    nodeName = 'no-such-node',
    containers = [{ name: 'c', image: 'example.com/a' }],
    ...metadata
  }: PodOptions = {}): Promise<Pod> {
    const spec = { nodeName, automountServiceAccountToken: false, containers };
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec };
    return this.#json({ method: 'POST', path: this.#pods(), body });
  }

  async readPod(name: string): Promise<Pod> {
    return this.#json({ method: 'GET', path: this.#pods(name) });
  }

  /** Anything that gives the pod another resourceVersion. */
  async labelPod(name: string): Promise<void> {
    const body = { metadata: { labels: { touched: randomUUID().slice(0, 8) } } };
    await this.patchPod(name, body);
  }

  async patchPod(name: string, body: object): Promise<void> {
    await this.patch(this.#pods(name), body);
  }

  async removePod(name: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
    await this.request({ method: 'DELETE', path: this.#pods(name), body });
  }

  post(path: string, body: object): Promise<Buffer> {
    return this.request({ method: 'POST', path, body });
  }

  /** A merge patch. */
  patch(path: string, body: object): Promise<Buffer> {
    return this.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
  }

  delete(path: string): Promise<Buffer> {
    return this.request({ method: 'DELETE', path });
  }

  async request(request: KubeRequest): Promise<Buffer> {
    const { body } = await this.#transport.send(request, AbortSignal.timeout(90_000));
    return body;
  }

  async #json(request: KubeRequest): Promise<Pod> {
    return JSON.parse((await this.request(request)).toString()) as Pod;
  }

  #pods(name?: string): string {
    const path = `/api/v1/namespaces/${this.namespace}/pods`;
    return name === undefined ? path : `${path}/${name}`;
  }
}

const named = (kind: string, name: string): object => ({ apiVersion: 'v1', kind, metadata: { name } });
