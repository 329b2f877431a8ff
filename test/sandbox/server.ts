import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { newAuthority, type Certified } from '../certificate.ts';
import type { ContractServer } from '../contract/server.ts';
import { ApiServer, failed, ofStatus, type ApiResponse } from './api/api-server.ts';
import type { DirectStore, Manifest } from './api/direct-store.ts';
import { badRequest, Failure } from './api/failure.ts';
import { serveExec, type SandboxExec } from './api/exec.ts';
import { Faults, type Fault, type Refusal } from './api/faults.ts';
import { asObject, type JsonObject } from './api/format/json.ts';
import { attributesOf, type ApiRequest } from './api/request.ts';
import { authenticate, authorize, review, type SandboxUser } from './api/users.ts';

export interface SandboxOptions {
  /** false = start without dustpan's CRDs, until `installCrds`. */
  readonly crds?: boolean;
  /** Users in addition to the administrator. */
  readonly users?: readonly SandboxUser[];
  /** Runs a command in a container; not given: no pod has containers that run. */
  readonly exec?: SandboxExec;
  /** Serves HTTPS, over which alone kubectl sends a token. */
  readonly tls?: boolean;
}

export interface SandboxRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: string;
}

export interface Sandbox extends ContractServer {
  /** Direct access to the objects, without HTTP. */
  readonly store: DirectStore;
  /** Oldest first. */
  readonly requests: readonly SandboxRequest[];
  readonly faults: Faults;
  installCrds(): Promise<void>;
  /** Kubeconfig file of a user by name. */
  kubeconfigOf(user: string): string;
}

/** What the commands read of the chart: the CRDs, and a controller that acts without a Lease. */
const installed: readonly Manifest[] = [
  ...['gcpolicies', 'nodegcreports'].map((name) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}.gc.dustpan.dev` },
    spec: { versions: [{ name: 'v1alpha1', served: true }] },
    status: { storedVersions: ['v1alpha1'] },
  })),
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...{ namespace: 'dustpan-system', name: 'dustpan-controller' },
      labels: {
        'app.kubernetes.io/part-of': 'dustpan',
        'app.kubernetes.io/component': 'controller',
        'app.kubernetes.io/version': '0.1.0',
      },
      annotations: { 'gc.dustpan.dev/no-agents': 'the sandbox has none' },
    },
    spec: {
      replicas: 1,
      template: { spec: { containers: [{ args: ['controller', '--leader-elect=false'] }] } },
    },
    status: { readyReplicas: 1 },
  },
];

const administrator = 'kubernetes-admin';
/** Longer than any pause of a client, so that no client sends a request on a closing connection. */
const keepAliveMs = 120_000;

/** Starts an API server on a free port of the loopback device. */
export async function startSandbox({
  crds = true,
  users: others = [],
  exec,
  tls = false,
}: SandboxOptions = {}): Promise<Sandbox> {
  const api = new ApiServer();
  const installCrds = async (): Promise<void> => {
    await api.registry.install(join(process.cwd(), 'crds'));
    for (const one of installed) api.objects.apply(one);
  };
  if (crds) await installCrds();
  const token = randomUUID();
  const users = [{ name: administrator, token, allow: () => true }, ...others];
  const requests: SandboxRequest[] = [];
  const faults = new Faults(api);
  const front = { api, users, requests, faults };
  const authority = tls ? newAuthority('sandbox', ['IP:127.0.0.1']) : undefined;
  const server = serverWith(authority, (request, response) => void serve(front, request, response));
  serveExec(server, { api, users, requests, exec });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const directory = await mkdtemp(join(tmpdir(), 'dustpan-sandbox-'));
  const kubeconfigOf = (user: string): string => join(directory, `${user}.kubeconfig`);
  const caFile = authority && join(directory, 'ca.crt');
  if (caFile) await writeFile(caFile, authority.certificate);
  const cluster = { server: url, 'certificate-authority': caFile };
  await Promise.all(users.map((user) => writeFile(kubeconfigOf(user.name), kubeconfig(cluster, user))));
  return {
    ...{ url, caFile, token, kubeconfigFile: kubeconfigOf(administrator), kubeconfigOf },
    ...{ store: api.objects, requests, faults, installCrds },
    stop: async () => {
      api.closeWatches();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function serverWith(authority: Certified | undefined, listener: RequestListener): Server | TlsServer {
  const timeouts = { keepAliveTimeout: keepAliveMs, requestTimeout: 0 };
  if (authority === undefined) return createServer(timeouts, listener);
  return createTlsServer({ ...timeouts, cert: authority.certificate, key: authority.key }, listener);
}

/** JSON is YAML. */
function kubeconfig(cluster: object, { name, token }: SandboxUser): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'sandbox', cluster }],
    users: [{ name, user: { token } }],
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: name } }],
    'current-context': 'sandbox',
  });
}

interface Front {
  readonly api: ApiServer;
  readonly users: readonly SandboxUser[];
  readonly requests: SandboxRequest[];
  readonly faults: Faults;
}

async function serve(front: Front, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', headers } = incoming;
  const { accept = 'application/json', authorization = '' } = headers;
  const url = new URL(incoming.url ?? '/', 'http://sandbox');
  const token = authorization.replace(/^Bearer /, '');
  const user = front.users.find((one) => one.token === token)?.name ?? '';
  const request = { method, path: url.pathname, query: url.searchParams, user };
  front.requests.push(request);
  const fault = front.faults.take(request);
  try {
    // Always reads the whole body: the rest of it must not become part of the next request.
    const bytes = await buffer(incoming);
    await applyFault(fault);
    const contentType = headers['content-type'] ?? '';
    const call = { method, url, accept, contentType, body: jsonOf(bytes) };
    send(front, response, respond(front, token, call));
  } catch (err) {
    send(front, response, failed(err, accept));
  }
}

function respond({ api, users }: Front, token: string, request: ApiRequest): ApiResponse {
  const user = authenticate(users, token);
  authorize(user, attributesOf(request.method, request.url));
  const reviewed = request.method === 'POST' ? review(users, user, request) : undefined;
  return reviewed === undefined ? api.handle(request) : ofStatus(201, reviewed, 'json');
}

function jsonOf(bytes: Buffer): JsonObject | undefined {
  if (bytes.length === 0) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString());
    // A JSON patch is a list.
    return asObject(Array.isArray(value) ? { operations: value } : value);
  } catch (err) {
    throw badRequest(`the object provided is unrecognized: ${String(err)}`);
  }
}

async function applyFault(fault: Fault | undefined): Promise<void> {
  switch (fault?.kind) {
    case 'hang':
      // Ends when the client closes the connection, or the server stops.
      await new Promise<never>(() => undefined);
      return;
    case 'hold':
      await fault.until;
      return;
    case 'status':
      throw refusal(fault);
    case undefined:
  }
}

function refusal({ status, reason = '', message, retryAfterSeconds }: Refusal): Failure {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  return new Failure(message ?? `sandbox fault: ${status}`, { code: status, reason, ...details });
}

function send({ api }: Front, response: ServerResponse, result: ApiResponse): void {
  const { status, type, retryAfterSeconds, body } = result;
  const retryAfter = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  response.writeHead(status, { 'content-type': type, ...retryAfter }).flushHeaders();
  if (typeof body !== 'function') {
    response.end(body);
    return;
  }
  const watch = body({
    write: (chunk) => {
      if (!response.destroyed) response.write(chunk);
    },
    end: () => response.end(),
  });
  response.once('close', () => api.forget(watch));
}
