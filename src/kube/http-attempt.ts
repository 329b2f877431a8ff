import type { Origin } from './http-origin.ts';
import { acceptJson } from './media-types.ts';
import type { KubeRequest, KubeResponse } from './transport.ts';

/** One request on its way; `request.timeoutMs` is for the whole exchange, body included, and absent for a stream. */
export interface Attempt {
  readonly request: KubeRequest;
  readonly origin: Origin;
  readonly userAgent: string;
  /** What authenticates. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer whose headers have come. */
export interface Exchange {
  readonly status: number;
  /** Reads all of it, and with that the exchange is closed. */
  whole(): Promise<KubeResponse>;
}

export const bodyOf = ({ body }: KubeRequest): string | undefined =>
  body === undefined ? undefined : JSON.stringify(body);

/** Path and query as the server is to see them. */
export const targetOf = ({ request: { path, query }, origin }: Attempt): string =>
  origin.pathPrefix + path + (query === undefined ? '' : `?${new URLSearchParams(query).toString()}`);

/** Names and values in turn: that spares node:http a table of its own for each request. */
export function headersOf(
  { request: { accept, contentType, compressed }, origin, userAgent, headers }: Attempt,
  body: string | undefined,
): string[] {
  const list = [
    ...['host', origin.host, 'user-agent', userAgent],
    ...['accept', accept ?? acceptJson],
    ...['accept-encoding', compressed === true ? 'gzip' : 'identity'],
  ];
  for (const [name, value] of Object.entries(headers)) list.push(name, value);
  if (body === undefined) return list;
  list.push('content-type', contentType ?? 'application/json');
  list.push('content-length', String(Buffer.byteLength(body)));
  return list;
}

/** `GET /api/v1/nodes`: for messages, so without the query. */
export const describe = ({ method, path }: KubeRequest): string => `${method} ${path}`;
