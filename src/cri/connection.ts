import type { Client } from '@grpc/grpc-js';
import { send } from './call.ts';
import type { Method } from './call.ts';
import { isBeingRemoved, isNotFound, isUnimplemented, runtimeError } from './failure.ts';
import { insecureClient } from './grpc.ts';
import { systemClock as clock } from '../runtime/scheduling/clock.ts';

export interface Service {
  readonly fullName: string;
}

/** A method of a service and the conversion of its response; an error of the conversion counts as a failed call. */
export type CriCall<Request, Response, Result> = readonly [
  Service,
  Method<Request, Response>,
  (response: Response) => Result,
];

interface RuntimeCall {
  readonly operation: string;
  readonly ok: boolean;
  readonly seconds: number;
}

export type OnCall = (call: RuntimeCall) => void;

interface Sent<Request> {
  readonly request: Request;
  readonly deadlineMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const options = {
  // Twice the kubelet's limit, for a list of some 20 000 containers: gRPC's default of 4 MiB is too small for a full node. Two copies of
  // a message must fit the agent's memory limit. A list that is larger needs a runtime that streams it.
  'grpc.max_receive_message_length': 32 * 1024 * 1024,
  'grpc.max_send_message_length': 16 * 1024 * 1024,
  'grpc.enable_http_proxy': 0,
  // Default: the path of the socket, which is not a host name.
  'grpc.default_authority': 'localhost',
  // A restarted runtime is back within a second or two; gRPC's own pauses grow to two minutes.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_channelz': 0,
  'grpc.use_local_subchannel_pool': 1,
};

/**
 * A connection to the runtime's socket. It connects at the first call and reconnects after each loss; a call without a connection fails at
 * once (`unavailable`).
 */
export class CriConnection {
  readonly #socket: string;
  readonly #client: Client;
  readonly #onCall: OnCall;

  constructor(socket: string, onCall: OnCall) {
    this.#socket = socket;
    this.#onCall = onCall;
    this.#client = insecureClient(`unix://${socket}`, options);
  }

  /** Throws RuntimeError, or the signal's reason. */
  async send<Request, Response, Result>(
    call: CriCall<Request, Response, Result>,
    sent: Sent<Request>,
    signal: AbortSignal,
  ): Promise<Result> {
    return this.#recorded({ method: call[1].name, deadlineMs: sent.deadlineMs }, signal, async () => {
      const [result] = await this.#results(call, sent, signal);
      if (result === undefined) throw new Error('a response without a message');
      return result.value;
    });
  }

  /** Each message of a streamed response of containerd's own services, converted. Throws RuntimeError, or the signal's reason. */
  async stream<Request, Response, Result>(
    call: CriCall<Request, Response, Result>,
    sent: Sent<Request>,
    signal: AbortSignal,
  ): Promise<readonly Result[]> {
    const [service, { name }] = call;
    const method = `${service.fullName.split('.').at(-1)}/${name}`;
    return this.#recorded({ method, deadlineMs: sent.deadlineMs }, signal, async () =>
      (await this.#results(call, sent, signal)).map(({ value }) => value),
    );
  }

  /**
   * A list of any size: streamed where the runtime implements it (containerd 2.4 does), else in one message. A stream that breaks off is a
   * failed call. Errors name the unary method.
   */
  async list<Streamed, Listed, Item>(
    streamed: CriCall<object, Streamed, readonly Item[]>,
    listed: CriCall<object, Listed, readonly Item[]>,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<readonly Item[]> {
    const sent = { request: {}, deadlineMs };
    return this.#recorded({ method: listed[1].name, deadlineMs }, signal, async () => {
      const results = await this.#results(streamed, sent, signal).catch((err: unknown) => {
        if (!isUnimplemented(err)) throw err;
        return this.#results(listed, sent, signal);
      });
      return results.flatMap(({ value }) => value);
    });
  }

  async #results<Request, Response, Result>(
    [service, method, convert]: CriCall<Request, Response, Result>,
    { request, deadlineMs, headers }: Sent<Request>,
    signal: AbortSignal,
  ): Promise<readonly { readonly value: Result }[]> {
    const results: { readonly value: Result }[] = [];
    const call = { service: service.fullName, method, request, deadlineMs, headers };
    await send(this.#client, call, (message) => results.push({ value: convert(message) }), signal);
    return results;
  }

  /** Reports the end of a call, also of an aborted one. It is no failure to find nothing, an object that another client removes now, or a runtime without this method. */
  async #recorded<T>(
    call: { readonly method: string; readonly deadlineMs: number },
    signal: AbortSignal,
    run: () => Promise<T>,
  ): Promise<T> {
    const startMs = clock.monotonicMs();
    let ok = false;
    try {
      const value = await run();
      ok = true;
      return value;
    } catch (err) {
      signal.throwIfAborted();
      ok = isNotFound(err) || isBeingRemoved(err) || isUnimplemented(err);
      throw await runtimeError(err, { ...call, socket: this.#socket });
    } finally {
      const seconds = (clock.monotonicMs() - startMs) / 1_000;
      this.#onCall({ operation: operationOf(call.method), ok, seconds });
    }
  }

  close(): void {
    this.#client.close();
  }
}

/** The kubelet's name of a method in its metrics: `ListPodSandbox` is `list_podsandbox`; of containerd's own `Images/List`, `images_list`. */
const operationOf = (method: string): string =>
  method
    .replace('PodSandbox', 'Podsandbox')
    .replace('/', '')
    .replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase();
