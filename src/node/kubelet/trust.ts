import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { ClusterConnection, Credentials, Endpoint, TlsMaterial } from '../../kube/auth/credentials.ts';
import { KubeletError, withoutCa } from './error.ts';

/** How to verify the kubelet's serving certificate. The first that is given counts; of the last two either will do. */
interface KubeletTrust {
  /** `--kubelet-insecure-tls`. */
  readonly isInsecure: boolean;
  /** `--kubelet-certificate-authority`. */
  readonly caFile: string | undefined;
  /** The certificate that a kubelet signs for itself, with its own CA: `pki/kubelet.crt` below its root directory. */
  readonly ownFile: string;
}

export interface KubeletAddress {
  /** `https://IP:10250`. */
  readonly endpoint: string;
  /** The name that the kubelet's certificate is for; the endpoint's own host will do as well. */
  readonly nodeName: string;
  /** To the kubelet we are the same user as to the API server. */
  readonly cluster: ClusterConnection;
  readonly trust: KubeletTrust;
}

/** The cluster's user and a kubelet's certificate: both are read again after the kubelet refused the one or we the other. */
export class KubeletCredentials implements Credentials {
  readonly #address: KubeletAddress;
  /** Names of which the certificate must have one. */
  readonly names: readonly string[];
  readonly endpoint: Endpoint;
  /** The CAs that were last read, as a person would look for them. */
  tried: readonly string[] = [];
  #tls: TlsMaterial = {};
  /** The cluster's TLS material when the kubelet's was last read; `unread` before that, and after a refusal. */
  #basis: TlsMaterial | undefined | 'unread' = 'unread';

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

  async headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const { auth, endpoint } = this.#address.cluster;
    const headers = await auth.headers(signal);
    // Only now: the headers bring the TLS material up to date, of which a kubeconfig has none before.
    const { tls } = endpoint;
    if (this.#basis !== tls) {
      this.#tls = await this.#material(tls);
      this.#basis = tls;
    }
    // A copy: the transport has each object that was refused refreshed only once.
    return { ...headers };
  }

  refresh(): void {
    this.#basis = 'unread';
    this.#address.cluster.auth.refresh();
  }

  async #material(cluster: TlsMaterial | undefined): Promise<TlsMaterial> {
    const { nodeName, trust, endpoint } = this.#address;
    const { cert, key } = cluster ?? {};
    // Some nodes are named by their address, which is no name to ask for.
    const shown = { cert, key, servername: isIP(nodeName) === 0 ? nodeName : '' };
    this.tried = [];
    if (trust.isInsecure) return { ...shown, insecure: true };
    const { ca, tried } = await readTrust(trust, cluster);
    this.tried = tried;
    if (ca.length === 0) throw withoutCa(endpoint, tried);
    return { ...shown, ca, names: this.names };
  }
}

interface TrustMaterial {
  /** PEM. */
  readonly ca: readonly (Buffer | string)[];
  readonly tried: readonly string[];
}

/** Reads the CAs for a kubelet's certificate; `cluster` has those for the API server's. */
async function readTrust(
  { caFile, ownFile }: KubeletTrust,
  cluster: TlsMaterial | undefined,
): Promise<TrustMaterial> {
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
