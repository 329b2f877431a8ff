import type { Client } from '@grpc/grpc-js';
import { unary } from './call.ts';
import type { Method } from './call.ts';
import { runtimeError } from './failure.ts';
import type { FailedCall } from './failure.ts';
import { insecureClient } from './grpc.ts';

/** A service as the generated definitions describe it. */
interface Service {
  readonly fullName: string;
}

/** A method of a service and the conversion of its response; an error of the conversion counts as a failed call. */
export type CriCall<Request, Response, Result> = readonly [
  Service,
  Method<Request, Response>,
  (response: Response) => Result,
];

const options = {
  // The kubelet's limit; gRPC's default of 4 MiB is too small for a full node.
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
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

  constructor(socket: string) {
    this.#socket = socket;
    this.#client = insecureClient(`unix://${socket}`, options);
  }

  /** Throws RuntimeError, or the signal's reason. */
  async send<Request, Response, Result>(
    [service, method, convert]: CriCall<Request, Response, Result>,
    { request, deadlineMs }: { readonly request: Request; readonly deadlineMs: number },
    signal: AbortSignal,
  ): Promise<Result> {
    const call = { service: service.fullName, method, request, deadlineMs };
    try {
      return convert(await unary(this.#client, call, signal));
    } catch (err) {
      if (signal.aborted) throw signal.reason;
      const failed: FailedCall = { method: method.name, socket: this.#socket, deadlineMs };
      throw await runtimeError(err, failed);
    }
  }

  close(): void {
    this.#client.close();
  }
}
