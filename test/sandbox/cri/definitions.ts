import { join } from 'node:path';
import { loadSync } from '@grpc/proto-loader';
import type { ServiceDefinition } from '@grpc/grpc-js';

/** Services by name. 64-bit numbers are text. */
const servicesIn = (path: string): Readonly<Record<string, ServiceDefinition>> =>
  loadSync(join(process.cwd(), path), { defaults: true, longs: String }) as Readonly<
    Record<string, ServiceDefinition>
  >;

const served = servicesIn('src/cri/proto/cri.proto');
const ofKubelet = servicesIn('test/sandbox/cri/create.proto');

/** The calls of dustpan, and those that create pods. */
export const runtimeService: ServiceDefinition = {
  ...served['runtime.v1.RuntimeService'],
  ...ofKubelet['runtime.v1.RuntimeService'],
};
export const imageService: ServiceDefinition = served['runtime.v1.ImageService'] ?? {};
/** The pull, which the sandbox does not serve. */
export const pullService: ServiceDefinition = ofKubelet['runtime.v1.ImageService'] ?? {};
