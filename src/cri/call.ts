import type { Client } from '@grpc/grpc-js';
import { Metadata } from './grpc.ts';
import { deadlineAfter, onAbort } from '../runtime/scheduling/abort.ts';
import { systemClock } from '../runtime/scheduling/clock.ts';

export interface Method<Request, Response> {
  readonly name: string;
  readonly requestType: { encode(message: Request): { finish(): Uint8Array } };
  readonly responseType: { decode(bytes: Uint8Array): Response };
}

interface Call<Request, Response> {
  /** Full name of the service, e.g. `runtime.v1.RuntimeService`. */
  readonly service: string;
  readonly method: Method<Request, Response>;
  readonly request: Request;
  readonly deadlineMs: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/**
 * Sends one call and passes each message of the response to `receive`, in order; a unary response is one message. Resolves when the runtime
 * has ended the response without an error. Rejects at once with gRPC's ServiceError, DeadlinePassed, the signal's reason or what `receive`
 * throws.
 */
export function send<Request, Response>(
  client: Client,
  { service, method, request, deadlineMs, headers = {} }: Call<Request, Response>,
  receive: (message: Response) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return new Promise((resolve, reject) => {
    // Both kinds of response have the same form on the wire.
    const call = client.makeServerStreamRequest<Request, Response>(
      `/${service}/${method.name}`,
      (message) => Buffer.from(method.requestType.encode(message).finish()),
      (bytes) => method.responseType.decode(bytes),
      request,
      metadata,
    );
    // Not gRPC's own deadline: it uses the wall clock, which somebody may set while the agent runs.
    const deadline = deadlineAfter(systemClock, deadlineMs, () => new DeadlinePassed(), signal);
    const stop = (): void => {
      forget();
      deadline.stop();
    };
    const fail = (err: unknown): void => {
      stop();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the owner of a signal chooses its reason
      reject(err);
      call.cancel();
    };
    const forget = onAbort(deadline.signal, () => fail(deadline.signal.reason));
    call.on('data', (message: Response) => {
      try {
        receive(message);
      } catch (err) {
        fail(err);
      }
    });
    call.on('error', fail);
    // After an error the promise is settled already.
    call.on('end', () => {
      stop();
      resolve();
    });
  });
}
