/** Who we are to the API server. */
export interface Credentials {
  /** Request headers that authenticate; the same object until they were read anew. Also brings `Endpoint.tls` up to date. */
  headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** The server refused what `headers` gave: the next call reads the source again. */
  refresh(): void;
}

/** Where the API server is and how to know that it is the right one. */
export interface Endpoint {
  /** URL, with a path when the server stands behind one. */
  readonly server: string;
  /** The same object for as long as the material is the same: another object means new connections. */
  readonly tls?: TlsMaterial;
}

/** PEM where it says Buffer or string. */
export interface TlsMaterial {
  /** undefined = the CAs that Node trusts. */
  readonly ca?: Buffer | string | readonly (Buffer | string)[] | undefined;
  readonly cert?: Buffer | string | undefined;
  readonly key?: Buffer | string | undefined;
  /** Sent to the server (SNI), and the name that its certificate is to be for; default the host of the URL. */
  readonly servername?: string | undefined;
  /** Names of which the certificate is to be for one, instead. */
  readonly names?: readonly string[] | undefined;
  readonly insecure?: boolean | undefined;
}

export interface ClusterConnection {
  readonly endpoint: Endpoint;
  readonly auth: Credentials;
  /** For a log line: the kubeconfig file and context, or `in-cluster`. */
  readonly source: string;
  /** Of the kubeconfig's context. */
  readonly namespace?: string | undefined;
}

/** A bearer token that never changes. */
export function tokenCredentials(token: string): Credentials {
  const headers = { authorization: `Bearer ${token}` };
  return { headers: () => Promise.resolve(headers), refresh: () => undefined };
}
