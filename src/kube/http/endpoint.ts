import type { Proxy } from './proxy.ts';

export interface Credentials {
  /** Request headers; the same object until the source is read again. Also updates `Endpoint.tls`. */
  headers(signal: AbortSignal): Promise<RequestHeaders>;
  /** The server rejected the headers: the next call of `headers` reads the source again. */
  refresh(): void;
}

/** Keyed by lower-case name; a list = several lines. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface Endpoint {
  /** URL, with a path if a proxy serves the server below one. */
  readonly server: string;
  /** The same object as long as the material is the same: another object means new connections. */
  readonly tls?: TlsMaterial;
  /** undefined = direct connections. */
  readonly proxy?: Proxy | undefined;
}

/** PEM where the type is Buffer or string. */
export interface TlsMaterial {
  /** undefined = the CAs that Node trusts. */
  readonly ca?: Buffer | string | readonly (Buffer | string)[] | undefined;
  readonly cert?: Buffer | string | undefined;
  readonly key?: Buffer | string | undefined;
  /** Sent to the server (SNI), and the name that its certificate must have; default the host of the URL. */
  readonly servername?: string | undefined;
  /** The certificate must have one of these names instead. */
  readonly names?: readonly string[] | undefined;
  readonly insecure?: boolean | undefined;
}
