import { setMaxListeners } from 'node:events';
import type { Client } from '@grpc/grpc-js';

/** A method as the generated definitions describe it. */
export interface Method<Request, Response> {
  readonly name: string;
  readonly requestType: { encode(message: Request): { finish(): Uint8Array } };
  readonly responseType: { decode(bytes: Uint8Array): Response };
}

/** A call that is ready to be sent. */
interface UnaryCall<Request, Response> {
  /** Whole name of the service, e.g. `runtime.v1.RuntimeService`. */
  readonly service: string;
  readonly method: Method<Request, Response>;
  readonly request: Request;
  readonly deadlineMs: number;
}

/** The deadline of a call has passed, whatever it was waiting for. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** Sends one call; rejects with gRPC's ServiceError, with DeadlinePassed, or with the signal's reason, as soon as each of them happens. */
export function unary<Request, Response>(
  client: Client,
  { service, method, request, deadlineMs }: UnaryCall<Request, Response>,
  signal: AbortSignal,
): Promise<Response> {
  signal.throwIfAborted();
  // Not gRPC's own deadline: that one is a time of the wall clock, which may be set while the agent runs.
  const deadline = AbortSignal.timeout(deadlineMs);
  return new Promise((resolve, reject) => {
    const call = client.makeUnaryRequest<Request, Response>(
      `/${service}/${method.name}`,
      (message) => Buffer.from(method.requestType.encode(message).finish()),
      (bytes) => method.responseType.decode(bytes),
      request,
      (err, response) => {
        forget.forEach((stop) => {
          stop();
        });
        if (response === undefined) reject(err ?? new Error('an answer without a message'));
        else resolve(response);
      },
    );
    const end = (err: unknown): void => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason of a signal is what its owner chose
      reject(err);
      call.cancel();
    };
    const forget = [
      onAbort(signal, () => {
        end(signal.reason);
      }),
      onAbort(deadline, () => {
        end(new DeadlinePassed());
      }),
    ];
  });
}

/** Returns how to stop listening. */
function onAbort(signal: AbortSignal, act: () => void): () => void {
  // A pass has dozens of calls under way on one signal; Node's warning would call that a leak.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', act, { once: true });
  return () => {
    signal.removeEventListener('abort', act);
  };
}
