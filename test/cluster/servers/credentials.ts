import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newAuthority, type Authority, type Certified } from '../../certificate.ts';

/** The node whose kubelet serves. */
interface Kubelet {
  readonly name: string;
  readonly address: string;
}

/** Writes pki/: a CA, the certificates that it signs, and the key of service account tokens. */
export async function writePki(dir: string, kubelet?: Kubelet): Promise<void> {
  await mkdir(join(dir, 'pki'), { recursive: true });
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await writeKey(dir, 'sa', privateKey);
  const ca = await renewCa(dir);
  if (kubelet) await writeNodePki(dir, ca, kubelet);
}

/** Writes another CA and the serving certificate of API server and controller manager for later starts; the key of tokens stays. */
export async function renewCa(dir: string): Promise<Authority> {
  const ca = newAuthority('bed-ca');
  await writeCertificate(dir, 'ca', ca);
  await writeCertificate(
    dir,
    'server',
    ca.issue({ commonName: 'bed-server', usage: 'server', names: serverNames }),
  );
  return ca;
}

// The last two are on the jail's loopback device: the service address and the node's.
const serverNames = [
  'DNS:kubernetes',
  'DNS:kubernetes.default',
  'DNS:kubernetes.default.svc',
  'DNS:kubernetes.default.svc.cluster.local',
  'DNS:localhost',
  'IP:127.0.0.1',
  'IP:10.96.0.1',
  'IP:10.97.0.1',
];

/** The kubelet's serving certificate, and the certificate of the API server as its client. */
async function writeNodePki(dir: string, ca: Authority, { name, address }: Kubelet): Promise<void> {
  const names = [`DNS:${name}`, `IP:${address}`];
  await writeCertificate(dir, 'kubelet', ca.issue({ commonName: 'bed-kubelet', usage: 'server', names }));
  const organization = 'system:masters';
  await writeCertificate(
    dir,
    'api-client',
    ca.issue({ commonName: 'bed-api-client', usage: 'client', organization }),
  );
}

async function writeCertificate(dir: string, name: string, { certificate, key }: Certified): Promise<void> {
  await writeKey(dir, name, key);
  await writeFile(join(dir, `pki/${name}.crt`), certificate);
}

async function writeKey(dir: string, name: string, key: string): Promise<void> {
  await writeFile(join(dir, `pki/${name}.key`), key, { mode: 0o600 });
}

/** A user with a static token; RBAC defines its rights. */
export interface Identity {
  /** Names the kubeconfig and the token. */
  readonly key: string;
  readonly user: string;
  readonly groups: readonly string[];
}

/** The token of an identity's key. */
export function tokenOf(key: string): string {
  return `${key}-token`;
}

/** Writes tokens.csv for the API server and a kubeconfig for each identity, TLS verified. */
export async function writeIdentities(
  dir: string,
  server: string,
  identities: readonly Identity[],
): Promise<void> {
  const lines = identities.map(({ key, user, groups }) => {
    return `${tokenOf(key)},${user},uid-${key},"${groups.join(',')}"\n`;
  });
  await writeFile(join(dir, 'tokens.csv'), lines.join(''), { mode: 0o600 });
  await Promise.all(
    identities.map(({ key }) =>
      writeFile(kubeconfigFile(dir, key), kubeconfig(dir, server, key), { mode: 0o600 }),
    ),
  );
}

/** The kubeconfig of an identity's key. */
export function kubeconfigFile(dir: string, key: string): string {
  return join(dir, `${key}.kubeconfig`);
}

function kubeconfig(dir: string, server: string, key: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bed', cluster: { server, 'certificate-authority': join(dir, 'pki/ca.crt') } }],
    users: [{ name: key, user: { token: tokenOf(key) } }],
    contexts: [{ name: 'bed', context: { cluster: 'bed', user: key } }],
    'current-context': 'bed',
  });
}
