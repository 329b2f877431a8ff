import { rmSync } from 'node:fs';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { CriFaults } from './faults.ts';
import type { CriCall } from './faults.ts';
import { imageService, runtimeService } from './definitions.ts';
import { grpcHandlers } from './handlers.ts';
import { imageMethods, runtimeMethods, streamMethods } from './service.ts';
import { SimulatedRuntime } from './simulated-runtime.ts';
import type { NodeOptions } from './simulated-runtime.ts';

export interface CriSandboxOptions extends NodeOptions {
  /** Path of the socket in an existing folder. */
  readonly socket: string;
  /** Whether the runtime streams its lists, like containerd 2.4; default false. */
  readonly streams?: boolean;
}

export interface CriSandbox {
  readonly socket: string;
  readonly runtime: SimulatedRuntime;
  readonly faults: CriFaults;
  /** The latest calls, oldest first. */
  readonly calls: readonly CriCall[];
  /** Names of the changing calls, oldest first. */
  readonly changes: readonly string[];
  /** Like a killed runtime: breaks connections and removes the socket; the node keeps its state. */
  down(): void;
  /** Like a restarted runtime. */
  up(): Promise<void>;
  stop(): void;
}

const maxCalls = 10_000;
/** CRI-O sends 80 MiB; containerd 16 MiB, which no test here reaches. */
const maxMessageBytes = 80 * 1024 * 1024;
const changing = /^(Stop|Remove|Run|Create|Start)/;

export async function startCriSandbox({
  socket,
  streams = false,
  ...node
}: CriSandboxOptions): Promise<CriSandbox> {
  const runtime = new SimulatedRuntime(node);
  const faults = new CriFaults();
  let calls: CriCall[] = [];
  const seen = (call: CriCall): void => {
    calls.push(call);
    if (calls.length > maxCalls) calls = calls.slice(-maxCalls / 2);
  };
  const streamed = streams ? streamMethods(runtime) : {};
  const services = [
    [runtimeService, { ...runtimeMethods(runtime), ...streamed }],
    [imageService, { ...imageMethods(runtime), ...streamed }],
  ] as const;
  const up = (): Promise<Server> => {
    const server = new Server({
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': maxMessageBytes,
    });
    for (const [service, methods] of services) {
      server.addService(service, grpcHandlers(service, methods, { faults, seen }));
    }
    // Removes the socket of a killed server, like containerd.
    rmSync(socket, { force: true });
    return listen(server, socket);
  };
  let server = await up();
  const down = (): void => {
    server.forceShutdown();
    rmSync(socket, { force: true });
  };
  return {
    socket,
    runtime,
    faults,
    get calls() {
      return calls;
    },
    get changes() {
      return calls.map(({ method }) => method).filter((method) => changing.test(method));
    },
    down,
    up: async () => {
      server = await up();
    },
    stop: down,
  };
}

function listen(server: Server, socket: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (err) => {
      if (err === null) resolve(server);
      else reject(err);
    });
  });
}
