import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { SandboxRequest } from '../server.ts';
import type { ApiServer } from './api-server.ts';
import { Failure } from './failure.ts';
import { attributesOf } from './request.ts';
import { authenticate, authorize, type SandboxUser } from './users.ts';

interface SandboxCommand {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
}

interface SandboxOutput {
  /** undefined = the connection breaks before the command ends. */
  readonly exitCode?: number | undefined;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Runs a command in a container. An error is one of the runtime: no command was run. */
export type SandboxExec = (command: SandboxCommand) => Promise<SandboxOutput>;

interface Front {
  readonly api: ApiServer;
  readonly users: readonly SandboxUser[];
  readonly requests: SandboxRequest[];
  readonly exec: SandboxExec | undefined;
}

/** Serves pods/exec over WebSocket, as the kubelet does behind the API server. */
export function serveExec(server: EventEmitter, front: Front): void {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: ([first]) => first ?? false });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { headers, url: path = '/' } = request;
    const url = new URL(path, 'http://sandbox');
    try {
      const run = runnerOf(front, { url, authorization: headers.authorization ?? '' });
      sockets.handleUpgrade(request, socket, head, (client) => void answer(client, run));
    } catch (err) {
      if (!(err instanceof Failure)) throw err;
      const body = JSON.stringify(err.status);
      socket.end(
        `HTTP/1.1 ${err.code} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    }
  });
}

function runnerOf(
  { api, users, requests, exec }: Front,
  { url, authorization }: { readonly url: URL; readonly authorization: string },
): () => Promise<SandboxOutput> {
  const user = authenticate(users, authorization.replace(/^Bearer /, ''));
  requests.push({ method: 'GET', path: url.pathname, query: url.searchParams, user: user.name });
  const attributes = attributesOf('GET', url);
  authorize(user, attributes);
  // As from Kubernetes 1.35 on.
  authorize(user, attributesOf('POST', url));
  const { namespace = '', name: pod } = attributes;
  const known = api.handle({
    ...{ method: 'GET', url: new URL(url.pathname.replace(/\/exec$/, ''), url) },
    ...{ accept: 'application/json', contentType: '', body: undefined },
  });
  if (known.status !== 200 || exec === undefined)
    throw new Failure(`pods "${pod}" not found`, { code: 404, reason: 'NotFound', details: {} });
  const query = url.searchParams;
  const command = query.getAll('command');
  return () => exec({ namespace, pod, container: query.get('container') ?? '', command });
}

const message = (channel: number, text: string): Buffer =>
  Buffer.concat([Buffer.from([channel]), Buffer.from(text)]);

async function answer(client: WebSocket, run: () => Promise<SandboxOutput>): Promise<void> {
  try {
    const { exitCode, stdout = '', stderr = '' } = await run();
    for (let i = 0; i < stdout.length; i += 32_768) client.send(message(1, stdout.slice(i, i + 32_768)));
    if (stderr !== '') client.send(message(2, stderr));
    if (exitCode !== undefined) client.send(message(3, JSON.stringify(endOf(exitCode))));
  } catch (err) {
    client.send(
      message(3, JSON.stringify({ status: 'Failure', reason: 'InternalError', message: String(err) })),
    );
  }
  client.close();
}

/** As k8s.io/kubelet, remotecommand/exec.go. */
const endOf = (exitCode: number): object =>
  exitCode === 0
    ? { metadata: {}, status: 'Success' }
    : {
        ...{ metadata: {}, status: 'Failure', reason: 'NonZeroExitCode' },
        message: `command terminated with non-zero exit code: exit status ${exitCode}`,
        details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
      };
