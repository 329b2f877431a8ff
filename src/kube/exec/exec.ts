import { on } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { systemClock } from '../../runtime/scheduling/clock.ts';
import { parseJson, statusFromJson } from '../codec/json.ts';
import { podPath } from '../actions/pod-requests.ts';
import type { ClusterConnection } from '../auth/credentials.ts';
import { deadlineAfter, untilAborted } from '../../runtime/scheduling/abort.ts';
import { connectionError } from '../http/connection-errors.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { ConnectionPool } from '../http/pool.ts';
import { errorOf, responseError } from '../http/response-error.ts';
import { ApiError } from '../http/transport.ts';

interface ExecTarget {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
}

interface ExecOptions {
  readonly connection: ClusterConnection;
  readonly userAgent: string;
  /** The longest silence of the command; 0 = without end. */
  readonly silenceMs: number;
  readonly maxBytes?: number | undefined;
}

/** The second is of servers before Kubernetes 1.30; we need nothing that only the first has. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Runs a command in a container, without input. Rejects with ApiError if the server refuses it. */
export async function execInPod(
  target: ExecTarget,
  options: ExecOptions,
  signal: AbortSignal,
): Promise<ExecResult> {
  try {
    return await execOnce(target, options, signal);
  } catch (err) {
    if (!(err instanceof ApiError && err.status === 401)) throw err;
    options.connection.auth.refresh();
    return execOnce(target, options, signal);
  }
}

async function execOnce(target: ExecTarget, options: ExecOptions, signal: AbortSignal): Promise<ExecResult> {
  const { endpoint, auth } = options.connection;
  // Before the agent is made: this also reads the TLS material.
  const headers = await untilAborted(auth.headers(signal), signal);
  const pool = new ConnectionPool(endpoint);
  const silenceMs = options.silenceMs === 0 ? Infinity : options.silenceMs;
  const late = (): Error => new Error(`no output for ${silenceMs / 1000} s (--request-timeout)`);
  const silence = deadlineAfter(systemClock, silenceMs, late, signal);
  const socket = new WebSocket(urlOf(endpoint.server, target), protocols, {
    agent: pool.agent(),
    // ws types one line a header; node:http, which sends them, takes lists.
    headers: { 'user-agent': options.userAgent, ...(headers as Record<string, string>) },
    maxPayload: 16 * 1024 * 1024,
    perMessageDeflate: false,
  });
  // An error while it is closed would end the process.
  socket.on('error', () => undefined);
  const session = new ExecSession(options.maxBytes);
  const run = async (): Promise<ExecResult> => {
    for await (const message of messagesOf(socket, endpoint, silence.signal)) {
      silence.extend(silenceMs, late);
      session.add(message);
    }
    return session.result();
  };
  try {
    return await Promise.race([run(), refusal(socket, target)]);
  } finally {
    silence.stop();
    socket.terminate();
    pool.close();
  }
}

/** From the handshake to the end of the command. */
async function* messagesOf(
  socket: WebSocket,
  { server, proxy }: Endpoint,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    const messages: AsyncIterable<Buffer[]> = on(socket, 'message', { signal, close: ['close'] });
    for await (const [message] of messages) if (message !== undefined) yield message;
  } catch (err) {
    signal.throwIfAborted();
    throw connectionError(err, { server, proxy: proxy?.name });
  }
}

const execPath = ({ namespace, pod: name }: ExecTarget): string => `${podPath({ namespace, name })}/exec`;

function urlOf(server: string, target: ExecTarget): string {
  const { container, command } = target;
  const query = new URLSearchParams({ container, stdout: 'true', stderr: 'true' });
  for (const word of command) query.append('command', word);
  return `${server.replace(/^http/, 'ws').replace(/\/+$/, '')}${execPath(target)}?${query.toString()}`;
}

/** Rejects if the server refuses the command. */
const refusal = (socket: WebSocket, target: ExecTarget): Promise<never> =>
  new Promise((_, reject) => {
    socket.once('unexpected-response', (_request, response) => {
      refusedAs(target, response).then(reject, reject);
    });
  });

async function refusedAs(target: ExecTarget, response: IncomingMessage): Promise<Error> {
  const { statusCode: status = 0, headers } = response;
  return responseError(
    { method: 'GET', path: execPath(target) },
    { status, headers, body: await buffer(response) },
  );
}

interface ExecResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  /** The first bytes of it, as text. */
  readonly stderr: string;
}

/** More than the images, containers and logs of any node need. */
const maxOutputBytes = 64 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;

/** The channels of the protocol: the first byte of each message (k8s.io/apimachinery, remotecommand/constants.go). */
const channels = { stdout: 1, stderr: 2, error: 3 } as const;

class ExecSession {
  readonly #maxBytes: number;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  #outputBytes = 0;
  #errorBytes = 0;
  #status: Buffer | undefined;

  constructor(maxBytes = maxOutputBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Throws when the output is longer than the limit. */
  add(message: Buffer): void {
    const content = message.subarray(1);
    const [channel] = message;
    if (channel === channels.stdout) this.#addOutput(content);
    if (channel === channels.stderr) {
      this.#stderr.push(content.subarray(0, Math.max(0, maxErrorBytes - this.#errorBytes)));
      this.#errorBytes += content.length;
    }
    if (channel === channels.error) this.#status = content;
  }

  #addOutput(content: Buffer): void {
    this.#outputBytes += content.length;
    if (this.#outputBytes > this.#maxBytes)
      throw new Error(`the output is longer than ${this.#maxBytes} bytes`);
    this.#stdout.push(content);
  }

  /** The result after the last message; throws if the command did not run to its end. */
  result(): ExecResult {
    if (this.#status === undefined)
      throw new Error('the connection ended before the command; its pod may have been stopped');
    return {
      exitCode: exitCodeOf(this.#status),
      stdout: Buffer.concat(this.#stdout),
      stderr: Buffer.concat(this.#stderr).toString('utf8').trim(),
    };
  }
}

/** Throws the server's error if there is no exit code, for example because there is no such program. */
function exitCodeOf(content: Buffer): number {
  const json = parseJson(content);
  const status = statusFromJson(json);
  if (status.status === 'Success') return 0;
  const { causes, explanations, message } = errorOf(status);
  const code = Number(explanations[causes.indexOf('ExitCode')]);
  if (Number.isInteger(code) && code > 0) return code;
  throw new Error(message);
}
