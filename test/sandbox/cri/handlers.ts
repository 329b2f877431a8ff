import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { CriCall, CriFault, CriFaults } from './faults.ts';
import { SimError } from './sim-error.ts';

/** Methods of a service by name, e.g. `RemoveImage`; undefined is an empty response, a stream an iterable of messages. */
export type Methods = Readonly<Record<string, (request: never) => unknown>>;

interface Wiring {
  readonly faults: CriFaults;
  /** Called for each call. */
  readonly seen: (call: CriCall) => void;
}

export function grpcHandlers(
  service: ServiceDefinition,
  methods: Methods,
  wiring: Wiring,
): UntypedServiceImplementation {
  return Object.fromEntries(
    Object.entries(service).flatMap(([name, { responseStream }]) => {
      const serve = methods[name];
      // An older runtime: grpc-js responds with UNIMPLEMENTED.
      if (serve === undefined && responseStream) return [];
      if (serve === undefined) throw new Error(`no handler for ${name}`);
      return [[name, (responseStream ? streamHandler : unaryHandler)(name, serve, wiring)]];
    }),
  );
}

function unaryHandler(
  method: string,
  serve: (request: never) => unknown,
  { faults, seen }: Wiring,
): handleUnaryCall<unknown, unknown> {
  return ({ request }, respond) => {
    const call = { method, request };
    seen(call);
    const fault = faults.take(call);
    if (fault?.kind === 'hang') return;
    withFault(() => serve(request as never), fault).then(
      (response) => respond(null, response ?? {}),
      (err: unknown) =>
        respond(err instanceof SimError ? err : { code: status.UNKNOWN, message: String(err) }),
    );
  };
}

function streamHandler(
  method: string,
  serve: (request: never) => unknown,
  { faults, seen }: Wiring,
): handleServerStreamingCall<unknown, unknown> {
  return (stream) => {
    const call = { method, request: stream.request };
    seen(call);
    const fault = faults.take(call);
    if (fault?.kind === 'hang') return;
    withFault(() => serve(stream.request as never), fault)
      .then((messages) => {
        for (const message of messages as Iterable<unknown>) stream.write(message);
        stream.end();
      })
      .catch((err: unknown) =>
        stream.emit('error', err instanceof SimError ? err : { code: status.UNKNOWN, message: String(err) }),
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
