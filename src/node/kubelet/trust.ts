import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { ClusterConnection } from '../../kube/auth/credentials.ts';
import type { Credentials, Endpoint, RequestHeaders, TlsMaterial } from '../../kube/http/endpoint.ts';
import { KubeletError, withoutCa } from './error.ts';

/** How to verify the kubelet's serving certificate: not at all, by `caFile`, or else by the cluster's CA or `ownFile`. */
interface KubeletTrust {
  /** `--kubelet-insecure-tls`. */
  readonly isInsecure: boolean;
  /** `--kubelet-certificate-authority`. */
  readonly caFile: string | undefined;
  /** The self-signed certificate of a kubelet, with its own CA: `pki/kubelet.crt` below its root directory. */
  readonly ownFile: string;
}

export interface KubeletAddress {
  /** `https://IP:10250`. */
  readonly endpoint: string;
  /** The name that the kubelet's certificate is for; the endpoint's host is accepted too. */
  readonly nodeName: string;
  /** The same user as for the API server. */
  readonly cluster: ClusterConnection;
  readonly trust: KubeletTrust;
}

/** The cluster's user, and the trust in a kubelet's certificate. Both are read again after the kubelet refused the user or its certificate failed. */
export class KubeletCredentials implements Credentials {
  readonly #address: KubeletAddress;
  /** The certificate must have one of these names. */
  readonly names: readonly string[];
  readonly endpoint: Endpoint;
  /** The CAs that were last read: file names, or a name for a reader. */
  tried: readonly string[] = [];
  #tls: TlsMaterial = {};
  /** The cluster's TLS material at the last read of the kubelet's; `unread` before that, and after a refusal. */
  #basis: TlsMaterial | undefined | 'unread' = 'unread';
  /** At most one at a time: a hung read of a file occupies a thread until it ends. */
  #reading: Promise<TlsMaterial> | undefined;

  constructor(address: KubeletAddress) {
    const { endpoint: server, nodeName } = address;
    const material = (): TlsMaterial => this.#tls;
    this.#address = address;
    this.names = [...new Set([nodeName, new URL(server).hostname.replace(/^\[|\]$/g, '')])];
    this.endpoint = {
      server,
      get tls(): TlsMaterial {
        return material();
      },
    };
  }

  async headers(signal: AbortSignal): Promise<RequestHeaders> {
    const { auth, endpoint } = this.#address.cluster;
    const headers = await auth.headers(signal);
    // After the headers: they update the TLS material, which a kubeconfig does not have before.
    const { tls } = endpoint;
    if (this.#basis !== tls) {
      this.#reading ??= this.#material(tls).finally(() => (this.#reading = undefined));
      this.#tls = await this.#reading;
      this.#basis = tls;
    }
    // A copy: the transport refreshes each refused object only once.
    return { ...headers };
  }

  refresh(): void {
    this.#basis = 'unread';
    this.#address.cluster.auth.refresh();
  }

  async #material(cluster: TlsMaterial | undefined): Promise<TlsMaterial> {
    const { nodeName, trust, endpoint } = this.#address;
    const { cert, key } = cluster ?? {};
    // Some nodes are named by their address, which TLS does not accept as server name.
    const identity = { cert, key, servername: isIP(nodeName) === 0 ? nodeName : '' };
    this.tried = [];
    if (trust.isInsecure) return { ...identity, insecure: true };
    const { ca, tried } = await readTrust(trust, cluster);
    this.tried = tried;
    if (ca.length === 0) throw withoutCa(endpoint, tried);
    return { ...identity, ca, names: this.names };
  }
}

/** Reads the CAs (PEM) for a kubelet's certificate; `cluster` has the CA of the API server's. */
async function readTrust(
  { caFile, ownFile }: KubeletTrust,
  cluster: TlsMaterial | undefined,
): Promise<{ readonly ca: readonly (Buffer | string)[]; readonly tried: readonly string[] }> {
  if (caFile !== undefined) {
    const ca = await readFile(caFile).catch((cause: unknown) => {
      const message = 'reading the CA that --kubelet-certificate-authority names';
      throw new KubeletError(message, 'untrusted', { cause });
    });
    return { ca: [ca], tried: [caFile] };
  }
  const own = await readFile(ownFile).catch(() => undefined);
  const found = [
    ...(cluster?.ca === undefined ? [] : [{ pem: cluster.ca, name: "the cluster's CA" }]),
    ...(own === undefined ? [] : [{ pem: own, name: ownFile }]),
  ];
  const missing = own === undefined ? [`${ownFile} (which cannot be read)`] : [];
  return { ca: found.flatMap(({ pem }) => pem), tried: [...found.map(({ name }) => name), ...missing] };
}
