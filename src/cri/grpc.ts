// The client half of grpc-js: its index also loads the server, DNS and three more load balancers, 1.4 MiB resident that the agent never uses.
// Its modules import each other in a circle, which holds only when credentials and channel come first, as in the index.
import { ChannelCredentials } from '@grpc/grpc-js/build/src/channel-credentials.js';
import type { ChannelOptions } from '@grpc/grpc-js/build/src/channel-options.js';
import '@grpc/grpc-js/build/src/channel.js';
import { Client } from '@grpc/grpc-js/build/src/client.js';
import { setup as registerPickFirst } from '@grpc/grpc-js/build/src/load-balancer-pick-first.js';
import { setup as registerUnixSockets } from '@grpc/grpc-js/build/src/resolver-uds.js';

export { Status as status } from '@grpc/grpc-js/build/src/constants.js';

/** A client without TLS of a `unix://` address. */
export function insecureClient(address: string, options: ChannelOptions): Client {
  registerPickFirst();
  registerUnixSockets();
  return new Client(address, ChannelCredentials.createInsecure(), options);
}
