import * as http from 'node:http';
import * as https from 'node:https';
import { urlToHttpOptions } from 'node:url';

/** Where requests go, taken apart once for all of them. */
export interface Origin {
  /** As configured, for messages. */
  readonly server: string;
  readonly request: (options: http.RequestOptions) => http.ClientRequest;
  readonly address: Pick<http.RequestOptions, 'protocol' | 'hostname' | 'port'>;
  /** The header; with a port unless it is the protocol's own. */
  readonly host: string;
  /** Without a slash at its end; '' unless the server stands behind a path. */
  readonly pathPrefix: string;
}

/** Throws when the server's URL is none. */
export function originOf(server: string): Origin {
  const url = new URL(server);
  const { protocol, hostname, port } = urlToHttpOptions(url);
  return {
    server,
    request: protocol === 'https:' ? https.request : http.request,
    address: { protocol, hostname, port },
    host: url.host,
    pathPrefix: url.pathname.replace(/\/+$/, ''),
  };
}
