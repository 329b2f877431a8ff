import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { certify, type ServingCertificate } from '../../certificate.ts';
import { summaryOf, type SummaryNode, type SummaryPod } from './summary.ts';

/** A fault of one request; `cut`: sends a part and breaks the connection. */
type KubeletFault =
  | { readonly kind: 'status'; readonly status: number; readonly text?: string }
  | { readonly kind: 'hang' | 'cut' }
  | { readonly kind: 'body'; readonly text: string };

export interface KubeletSandbox {
  /** `https://127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly certificate: ServingCertificate;
  pods: readonly SummaryPod[];
  node: SummaryNode;
  /** The response of `/configz`. */
  configz: object;
  /** Time of the measurement; default: the time of each request. */
  measuredAt: string | undefined;
  /** Rights of known tokens: 'stats' = get on nodes/stats and nodes/configz. */
  readonly tokens: Map<string, 'stats' | 'nothing'>;
  /** Faults of the next requests, in order. */
  readonly faults: KubeletFault[];
  /** `METHOD path` of each request, also of rejected ones. */
  readonly requests: string[];
  /** Number of connections so far. */
  readonly connections: number;
  /** Uses another certificate and closes existing connections. */
  present(certificate: ServingCertificate): void;
  /** Like a restarted kubelet. */
  dropConnections(): void;
  stop(): Promise<void>;
}

interface KubeletSandboxOptions {
  readonly nodeName: string;
  /** Has the right to get nodes/stats and nodes/configz. */
  readonly token: string;
}

/** Serves a kubelet's Summary API over TLS, with authentication and authorization. */
export async function startKubeletSandbox(options: KubeletSandboxOptions): Promise<KubeletSandbox> {
  const sandbox = new Sandbox(options);
  await sandbox.listen();
  return sandbox;
}

class Sandbox implements KubeletSandbox {
  readonly tokens: Map<string, 'stats' | 'nothing'>;
  readonly faults: KubeletFault[] = [];
  readonly requests: string[] = [];
  readonly #server: Server;
  pods: readonly SummaryPod[] = [];
  node: SummaryNode;
  configz: object = { kubeletconfig: {} };
  measuredAt: string | undefined;
  certificate: ServingCertificate;
  connections = 0;

  constructor({ nodeName, token }: KubeletSandboxOptions) {
    this.node = { name: nodeName, nodeFsBytes: 100e9, imageFsBytes: 100e9 };
    this.tokens = new Map([[token, 'stats']]);
    // Self-signed, like a kubelet's.
    this.certificate = certify([`DNS:${nodeName}`]);
    const { chain: cert, key } = this.certificate;
    // Like a real kubelet, keeps idle connections for longer than any pause of the agent.
    this.#server = createServer({ cert, key, keepAliveTimeout: 120_000 }, (request, response) =>
      this.#respond(request, response),
    );
    this.#server.on('connection', () => (this.connections += 1));
  }

  get endpoint(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  present(certificate: ServingCertificate): void {
    this.certificate = certificate;
    this.#server.setSecureContext({ cert: certificate.chain, key: certificate.key });
    this.dropConnections();
  }

  dropConnections(): void {
    this.#server.closeAllConnections();
  }

  async stop(): Promise<void> {
    this.dropConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '', headers } = request;
    this.requests.push(`${method} ${url}`);
    const fault = this.faults.shift();
    if (fault !== undefined) {
      this.#fail(fault, response);
      return;
    }
    const right = this.tokens.get((headers.authorization ?? '').replace(/^Bearer /, ''));
    if (right === undefined) response.writeHead(401).end('Unauthorized');
    else if (right === 'nothing') response.writeHead(403).end(forbiddenOf(url));
    else if (url === '/configz') response.writeHead(200).end(JSON.stringify(this.configz));
    else if (url !== '/stats/summary') response.writeHead(404).end('404 page not found\n');
    else response.writeHead(200, { 'content-type': 'application/json' }).end(this.#summary());
  }

  #fail(fault: KubeletFault, response: ServerResponse): void {
    switch (fault.kind) {
      case 'status':
        response.writeHead(fault.status).end(fault.text ?? '');
        return;
      case 'body':
        response.writeHead(200).end(fault.text);
        return;
      case 'cut':
        response
          .writeHead(200, { 'content-length': '100000' })
          .write(this.#summary().slice(0, 100), () => response.destroy());
        return;
      case 'hang':
    }
  }

  /** Indented, like a kubelet's. */
  #summary(): string {
    const time = this.measuredAt ?? new Date().toISOString();
    return JSON.stringify(summaryOf(this.node, this.pods, time), undefined, 1);
  }
}

const forbiddenOf = (url: string): string =>
  `Forbidden (user=sandbox, verb=get, resource=nodes, subresource(s)=[${url === '/configz' ? 'configz' : 'stats'}])`;
