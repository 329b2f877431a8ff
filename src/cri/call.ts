import { setMaxListeners } from 'node:events';
import type { Client } from '@grpc/grpc-js';
import { timerMs } from '../runtime/scheduling/clock.ts';

/** A method as the generated definitions describe it. */
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
}

/** The deadline of a call has passed. */
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
  { service, method, request, deadlineMs }: Call<Request, Response>,
  receive: (message: Response) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  // Not gRPC's own deadline: it uses the wall clock, which somebody may set while the agent runs.
  const deadline = AbortSignal.timeout(timerMs(deadlineMs));
  return new Promise((resolve, reject) => {
    // Both kinds of response have the same form on the wire.
    const call = client.makeServerStreamRequest<Request, Response>(
      `/${service}/${method.name}`,
      (message) => Buffer.from(method.requestType.encode(message).finish()),
      (bytes) => method.responseType.decode(bytes),
      request,
    );
    const removeListeners = (): void => {
      for (const remove of listeners) remove();
    };
    const fail = (err: unknown): void => {
      removeListeners();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the owner of a signal chooses its reason
      reject(err);
      call.cancel();
    };
    const listeners = [
      onAbort(signal, () => {
        fail(signal.reason);
      }),
      onAbort(deadline, () => {
        fail(new DeadlinePassed());
      }),
    ];
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
      removeListeners();
      resolve();
    });
  });
}

/** Returns a function that removes the listener. */
function onAbort(signal: AbortSignal, listener: () => void): () => void {
  // A pass has dozens of calls in progress on one signal; Node would warn of a leak.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
  return () => {
    signal.removeEventListener('abort', listener);
  };
}
