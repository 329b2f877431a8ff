import { join } from 'node:path';
import { loadSync } from '@grpc/proto-loader';
import type { ServiceDefinition } from '@grpc/grpc-js';

/** The CRI by a proto file of its own: it shares nothing with dustpan's generated code, whose mistakes it would repeat. 64-bit numbers are text. */
const definitions = loadSync(join(process.cwd(), 'test/sandbox/cri/proto/node.proto'), {
  defaults: true,
  longs: String,
});

export const runtimeService = definitions['runtime.v1.RuntimeService'] as ServiceDefinition;
export const imageService = definitions['runtime.v1.ImageService'] as ServiceDefinition;
