import { setMaxListeners } from 'node:events';
import type { Client } from '@grpc/grpc-js';

/** A method as the generated definitions describe it. */
export interface Method<Request, Response> {
  readonly name: string;
  readonly requestType: { encode(message: Request): { finish(): Uint8Array } };
  readonly responseType: { decode(bytes: Uint8Array): Response };
}

interface UnaryCall<Request, Response> {
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

/** Sends one call. Rejects at once with gRPC's ServiceError, DeadlinePassed or the signal's reason. */
export function unary<Request, Response>(
  client: Client,
  { service, method, request, deadlineMs }: UnaryCall<Request, Response>,
  signal: AbortSignal,
): Promise<Response> {
  signal.throwIfAborted();
  // Not gRPC's own deadline: it uses the wall clock, which somebody may set while the agent runs.
  const deadline = AbortSignal.timeout(deadlineMs);
  return new Promise((resolve, reject) => {
    const call = client.makeUnaryRequest<Request, Response>(
      `/${service}/${method.name}`,
      (message) => Buffer.from(method.requestType.encode(message).finish()),
      (bytes) => method.responseType.decode(bytes),
      request,
      (err, response) => {
        listeners.forEach((remove) => {
          remove();
        });
        if (response === undefined) reject(err ?? new Error('a response without a message'));
        else resolve(response);
      },
    );
    const end = (err: unknown): void => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the owner of a signal chooses its reason
      reject(err);
      call.cancel();
    };
    const listeners = [
      onAbort(signal, () => {
        end(signal.reason);
      }),
      onAbort(deadline, () => {
        end(new DeadlinePassed());
      }),
    ];
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
