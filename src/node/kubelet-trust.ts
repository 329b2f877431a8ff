import { readFile } from 'node:fs/promises';
import type { TlsMaterial } from '../kube/credentials.ts';
import { KubeletError } from './kubelet-error.ts';

/** How the kubelet's serving certificate is to be verified; the first that is given counts, of the last two either will do. */
export interface KubeletTrust {
  /** `--kubelet-insecure-tls`. */
  readonly isInsecure: boolean;
  /** `--kubelet-certificate-authority`. */
  readonly caFile: string | undefined;
  /** The certificate that a kubelet signs for itself, with its own CA: `pki/kubelet.crt` below its root directory. */
  readonly ownFile: string;
}

export interface TrustMaterial {
  /** PEM. */
  readonly ca: readonly (Buffer | string)[];
  readonly tried: readonly string[];
}

/** Reads what a kubelet's certificate is verified against; `cluster` is what the API server's is. Rejects with KubeletError when that is nothing. */
export async function readTrust(
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
  return { ca: found.map(({ pem }) => pem), tried: [...found.map(({ name }) => name), ...missing] };
}
