import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { tokenCredentials } from '../../../../src/kube/auth/credentials.ts';
import type { Credentials } from '../../../../src/kube/http/endpoint.ts';
import {
  createTransport,
  type ApiCall,
  type HttpTransport,
} from '../../../../src/kube/http/http-transport.ts';
import type { KubeRequest } from '../../../../src/kube/http/transport.ts';
import { FakeClock } from '../../../fakes/clock.ts';

export type Respond = (response: ServerResponse, request: IncomingMessage) => void;

interface TestTransport {
  /** The requests that the server got. */
  readonly seen: IncomingMessage[];
  readonly connections: ReadonlySet<object>;
  readonly url: string;
  readonly clock: FakeClock;
  readonly transport: HttpTransport;
  readonly calls: ApiCall[];
  readonly stopServer: () => void;
}

interface Options {
  readonly auth?: Credentials;
  /** Below which the server is reached. */
  readonly path?: string;
  readonly qps?: number;
  readonly burst?: number;
}

/** A transport and its server, which sends the responses in turn and repeats the last one. Both end with the test. */
export async function startTransport(
  responses: Respond | readonly Respond[],
  { path = '', ...options }: Options = {},
): Promise<TestTransport> {
  const inTurn = [responses].flat();
  const seen: IncomingMessage[] = [];
  const connections = new Set<object>();
  const server = createServer((request, response) => {
    const respond = inTurn[Math.min(seen.length, inTurn.length - 1)];
    seen.push(request);
    connections.add(request.socket);
    respond?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stopServer = (): void => {
    server.close();
    server.closeAllConnections();
  };
  const clock = new FakeClock();
  const calls: ApiCall[] = [];
  const transport = createTransport({
    endpoint: { server: `${url}${path}` },
    auth: tokenCredentials('t'),
    clock,
    random: () => 0.5,
    metrics: (call) => calls.push(call),
    ...options,
  });
  onTestFinished(() => {
    transport.close();
    stopServer();
  });
  return { seen, connections, url, clock, transport, calls, stopServer };
}

export const ok =
  (json: unknown = { kind: 'Ok' }): Respond =>
  (response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(json));

export const refuse =
  (status: number, body = '', headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** Never responds. */
export const hang: Respond = () => undefined;

/** Closes the connection without a response. */
export const reset: Respond = (_, request) => request.socket.resetAndDestroy();

/** A metav1.Status as JSON. */
export const statusJson = (message: string, reason: string, details?: object): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, details });

export const never = new AbortController().signal;
export const get: KubeRequest = { method: 'GET', path: '/api/v1/pods' };
/** A read and a deletion: retries and faults are tested for both. */
export const methods = ['GET', 'DELETE'] as const;
