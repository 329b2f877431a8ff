// Only the client of grpc-js: its index also loads the server, DNS and three more load balancers, 1.4 MiB of memory.
// Its modules import each other in a cycle that works only if credentials and channel are first, as in the index.
import { ChannelCredentials } from '@grpc/grpc-js/build/src/channel-credentials.js';
import type { ChannelOptions } from '@grpc/grpc-js/build/src/channel-options.js';
import '@grpc/grpc-js/build/src/channel.js';
import { Client } from '@grpc/grpc-js/build/src/client.js';
import { setup as registerPickFirst } from '@grpc/grpc-js/build/src/load-balancer-pick-first.js';
import { setup as registerUnixSockets } from '@grpc/grpc-js/build/src/resolver-uds.js';

export { Metadata } from '@grpc/grpc-js/build/src/metadata.js';
export { Status as status } from '@grpc/grpc-js/build/src/constants.js';

export function insecureClient(address: string, options: ChannelOptions): Client {
  registerPickFirst();
  registerUnixSockets();
  return new Client(address, ChannelCredentials.createInsecure(), options);
}
