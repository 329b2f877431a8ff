import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type { handleUnaryCall, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { CriCall, CriFault, CriFaults } from './faults.ts';
import { SimError } from './sim-error.ts';

interface Codec {
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): unknown;
}

/** A service as ts-proto defines it. */
export interface GenericService {
  readonly fullName: string;
  readonly methods: Readonly<Record<string, GenericMethod>>;
}

interface GenericMethod {
  readonly name: string;
  readonly requestType: unknown;
  readonly responseType: unknown;
}

interface Wiring {
  readonly faults: CriFaults;
  /** Told of each call as it arrives. */
  readonly seen: (call: CriCall) => void;
}

/** The generated definition in the form of grpc-js. */
export function grpcDefinition({ fullName, methods }: GenericService): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(methods).map(([key, { name, requestType, responseType }]) => {
      const [request, response] = [requestType as Codec, responseType as Codec];
      const bytes = (codec: Codec) => (message: unknown) => Buffer.from(codec.encode(message).finish());
      const message = (codec: Codec) => (buffer: Buffer) => codec.decode(buffer);
      return [
        key,
        {
          path: `/${fullName}/${name}`,
          requestStream: false,
          responseStream: false,
          requestSerialize: bytes(request),
          requestDeserialize: message(request),
          responseSerialize: bytes(response),
          responseDeserialize: message(response),
        },
      ];
    }),
  );
}

/** The handlers in the form of grpc-js, each behind the faults. */
export function grpcHandlers(
  { methods }: GenericService,
  handlers: Readonly<Record<string, (request: never) => unknown>>,
  wiring: Wiring,
): UntypedServiceImplementation {
  return Object.fromEntries(
    Object.entries(methods).map(([key, { name }]) => {
      const serve = handlers[key];
      if (serve === undefined) throw new Error(`no handler for ${name}`);
      return [key, unaryHandler(name, serve as (request: unknown) => unknown, wiring)];
    }),
  );
}

function unaryHandler(
  method: string,
  serve: (request: unknown) => unknown,
  { faults, seen }: Wiring,
): handleUnaryCall<unknown, unknown> {
  return ({ request }, answer) => {
    const call = { method, request };
    seen(call);
    const fault = faults.take(call);
    if (fault?.kind === 'hang') return;
    withFault(() => serve(request), fault).then(
      (response) => {
        answer(null, response);
      },
      (err: unknown) => {
        answer(err instanceof SimError ? err : { code: status.UNKNOWN, message: String(err) });
      },
    );
  };
}

async function withFault(
  serve: () => unknown,
  fault: Exclude<CriFault, { kind: 'hang' }> | undefined,
): Promise<unknown> {
  switch (fault?.kind) {
    case undefined:
      return serve();
    case 'fail':
      throw new SimError(fault.code, fault.message ?? 'a planned failure');
    case 'lost':
      serve();
      throw new SimError(fault.code, fault.message ?? 'a planned loss of the answer');
    case 'delay':
      await sleep(fault.ms);
      return serve();
    case 'before':
      await fault.act();
      return serve();
    case 'answer':
      return fault.change(serve());
  }
}
