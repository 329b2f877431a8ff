import { rmSync } from 'node:fs';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { CriFaults } from './faults.ts';
import type { CriCall } from './faults.ts';
import { ImageServiceDefinition, RuntimeServiceDefinition } from './gen/node.ts';
import { grpcDefinition, grpcHandlers } from './grpc-service.ts';
import type { GenericService } from './grpc-service.ts';
import { imageHandlers, runtimeHandlers } from './service.ts';
import { SimulatedRuntime } from './simulated-runtime.ts';
import type { NodeOptions } from './simulated-runtime.ts';

export interface CriSandboxOptions extends NodeOptions {
  /** Path of the socket, in a folder that exists. */
  readonly socket: string;
}

/** A CRI server in this process with its simulated node. */
export interface CriSandbox {
  readonly socket: string;
  readonly runtime: SimulatedRuntime;
  readonly faults: CriFaults;
  /** The latest calls, oldest first. */
  readonly calls: readonly CriCall[];
  /** Names of the calls made, oldest first; without those that only ask. */
  readonly changes: readonly string[];
  forgetCalls(): void;
  /** As a runtime that is killed: connections break, the socket is gone; the node goes on. */
  down(): void;
  /** As a runtime that starts again. */
  up(): Promise<void>;
  restart(): Promise<void>;
  stop(): void;
}

const maxCalls = 10_000;
const maxMessageBytes = 16 * 1024 * 1024;
const changing = /^(Stop|Remove|Run|Create|Start)/;

/** Starts a CRI server on a unix socket. */
export async function startCriSandbox({ socket, ...node }: CriSandboxOptions): Promise<CriSandbox> {
  const runtime = new SimulatedRuntime(node);
  const faults = new CriFaults();
  let calls: CriCall[] = [];
  const seen = (call: CriCall): void => {
    calls.push(call);
    if (calls.length > maxCalls) calls = calls.slice(-maxCalls / 2);
  };
  const services: readonly (readonly [GenericService, Record<string, (request: never) => unknown>])[] = [
    [RuntimeServiceDefinition, runtimeHandlers(runtime)],
    [ImageServiceDefinition, imageHandlers(runtime)],
  ];
  const up = (): Promise<Server> => {
    const server = new Server({
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': maxMessageBytes,
    });
    for (const [service, handlers] of services) {
      server.addService(grpcDefinition(service), grpcHandlers(service, handlers, { faults, seen }));
    }
    // What a killed server left behind, as containerd does.
    rmSync(socket, { force: true });
    return listen(server, socket);
  };
  let server = await up();
  const down = (): void => {
    server.forceShutdown();
    rmSync(socket, { force: true });
  };
  const upAgain = async (): Promise<void> => {
    server = await up();
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
    forgetCalls: () => {
      calls = [];
    },
    down,
    up: upAgain,
    restart: async () => {
      down();
      await upAgain();
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
