/** An API server under test, the sandbox or a real one: the same suite runs against both, so that the sandbox cannot drift. */
export interface ContractServer {
  readonly url: string;
  /** PEM file of the CA; undefined when the server speaks plain HTTP. */
  readonly caFile: string | undefined;
  /** Bearer token of a cluster administrator. */
  readonly token: string;
  readonly kubeconfigFile: string;
  stop(): Promise<void>;
}

/** Starts a server with dustpan's CRDs installed and established. */
export type StartServer = () => Promise<ContractServer>;
