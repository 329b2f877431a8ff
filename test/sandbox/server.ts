import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { ContractServer } from '../contract/server.ts';
import { ApiServer, failed, ofStatus, type ApiResponse } from './api-server.ts';
import type { DirectStore } from './direct-store.ts';
import { badRequest, Failure } from './failure.ts';
import { FaultPlan, type Fault, type Faults } from './faults.ts';
import { asObject, type JsonObject } from './json.ts';
import { attributesOf, type ApiRequest } from './request.ts';
import { authenticate, authorize, review, type SandboxUser } from './users.ts';
import type { WatchSink } from './watch.ts';

export interface SandboxOptions {
  /** False: the server starts without dustpan's CRDs, until `installCrds`. */
  readonly crds?: boolean;
  /** Besides the administrator. */
  readonly users?: readonly SandboxUser[];
}

/** A request as the server saw it. */
export interface SandboxRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: string;
}

/** The API server of this process, over HTTP. */
export interface Sandbox extends ContractServer {
  /** The objects, without HTTP. */
  readonly store: DirectStore;
  /** Oldest first. */
  readonly requests: readonly SandboxRequest[];
  readonly faults: Faults;
  installCrds(): Promise<void>;
  /** Kubeconfig file of a user by name. */
  kubeconfigOf(user: string): string;
}

const administrator = 'kubernetes-admin';
/** Idle connections outlive any pause of a client, so that a keep-alive client never meets one that closes. */
const keepAliveMs = 120_000;

/** Starts an API server in this process, on a free port of the loopback device. */
export async function startSandbox({
  crds = true,
  users: others = [],
}: SandboxOptions = {}): Promise<Sandbox> {
  const api = new ApiServer();
  const installCrds = (): Promise<void> => api.registry.install(join(process.cwd(), 'crds'));
  if (crds) await installCrds();
  const token = randomUUID();
  const users = [{ name: administrator, token, allow: () => true }, ...others];
  const requests: SandboxRequest[] = [];
  const plan = new FaultPlan(api);
  const front = { api, users, requests, plan };
  const server = createServer({ keepAliveTimeout: keepAliveMs, requestTimeout: 0 }, (request, response) => {
    void serve(front, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const directory = await mkdtemp(join(tmpdir(), 'dustpan-sandbox-'));
  const kubeconfigOf = (user: string): string => join(directory, `${user}.kubeconfig`);
  await Promise.all(users.map((user) => writeFile(kubeconfigOf(user.name), kubeconfig(url, user))));
  return {
    ...{ url, caFile: undefined, token, kubeconfigFile: kubeconfigOf(administrator), kubeconfigOf },
    ...{ store: api.objects, requests, faults: plan, installCrds },
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

/** JSON is YAML. */
function kubeconfig(server: string, { name, token }: SandboxUser): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'sandbox', cluster: { server } }],
    users: [{ name, user: { token } }],
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: name } }],
    'current-context': 'sandbox',
  });
}

interface Front {
  readonly api: ApiServer;
  readonly users: readonly SandboxUser[];
  readonly requests: SandboxRequest[];
  readonly plan: FaultPlan;
}

async function serve(front: Front, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', headers } = incoming;
  const { accept = 'application/json', authorization = '' } = headers;
  const url = new URL(incoming.url ?? '/', 'http://sandbox');
  const token = authorization.replace(/^Bearer /, '');
  const user = front.users.find((one) => one.token === token)?.name ?? '';
  const request = { method, path: url.pathname, query: url.searchParams, user };
  front.requests.push(request);
  const fault = front.plan.take(request);
  try {
    // Also of a request that is refused: the rest of it must not be taken for the next one.
    const bytes = await buffer(incoming);
    await suffer(fault);
    const contentType = headers['content-type'] ?? '';
    const asked = { method, url, accept, contentType, body: jsonOf(bytes) };
    send(front, response, { answer: answerTo(front, token, asked), fault });
  } catch (err) {
    send(front, response, { answer: failed(err, accept), fault });
  }
}

function answerTo({ api, users }: Front, token: string, request: ApiRequest): ApiResponse {
  const user = authenticate(users, token);
  authorize(user, attributesOf(request.method, request.url));
  const reviewed = request.method === 'POST' ? review(users, user, request) : undefined;
  return reviewed === undefined ? api.handle(request) : ofStatus(201, reviewed, 'json');
}

function jsonOf(bytes: Buffer): JsonObject | undefined {
  if (bytes.length === 0) return undefined;
  try {
    return asObject(JSON.parse(bytes.toString()));
  } catch (err) {
    throw badRequest(`the object provided is unrecognized: ${String(err)}`);
  }
}

async function suffer(fault: Fault | undefined): Promise<void> {
  if (fault?.kind === 'delay') await delay(fault.ms);
  // The client closes the connection, or the server when it stops.
  if (fault?.kind === 'hang') await new Promise<never>(() => undefined);
  if (fault?.kind !== 'status') return;
  const { status, reason = '', message = `sandbox fault: ${status}`, retryAfterSeconds } = fault;
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  throw new Failure(message, { code: status, reason, ...details });
}

function send(
  { api }: Front,
  response: ServerResponse,
  { answer, fault }: { readonly answer: ApiResponse; readonly fault: Fault | undefined },
): void {
  const { status, type, retryAfterSeconds, body } = answer;
  const later = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  response.writeHead(status, { 'content-type': type, ...later }).flushHeaders();
  const sink = cutSink(response, fault?.kind === 'cut' ? fault.afterBytes : Infinity);
  if (typeof body !== 'function') {
    for (const piece of body) sink.write(piece);
    sink.end();
    return;
  }
  const watch = body(sink);
  response.once('close', () => {
    api.forget(watch);
  });
}

/** The body of a response; after so many bytes the connection breaks. */
function cutSink(response: ServerResponse, limit: number): WatchSink {
  let left = limit;
  return {
    write: (chunk) => {
      if (left <= 0 || response.destroyed) return;
      const piece = chunk.subarray(0, left);
      left -= piece.length;
      response.write(piece, () => {
        if (left <= 0) response.destroy();
      });
    },
    end: () => {
      if (left > 0) response.end();
    },
  };
}
