import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Writes pki/: a CA, the certificate with which API server and controller manager serve, and the key of service account tokens.
 * `env` is added to the environment of openssl.
 */
export async function writePki(dir: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const pki = join(dir, 'pki');
  await mkdir(pki, { recursive: true });
  await writeKey(join(pki, 'sa.key'));
  await renewCa(dir, env);
}

/** Writes another CA and its serving certificate for later starts; the key of tokens stays. */
export async function renewCa(dir: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const pki = join(dir, 'pki');
  await Promise.all(['ca', 'server'].map((name) => writeKey(join(pki, `${name}.key`))));
  await certify(pki, 'ca', {
    env,
    extensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'],
  });
  const names = `subjectAltName=${serverNames.join(',')}`;
  await certify(pki, 'server', { env, extensions: ['extendedKeyUsage=serverAuth', names] });
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

/** Adds the kubelet's serving certificate and the API server's client certificate to pki/. */
export async function writeNodePki(
  dir: string,
  { name, address }: { readonly name: string; readonly address: string },
): Promise<void> {
  const pki = join(dir, 'pki');
  await Promise.all(['kubelet', 'api-client'].map((key) => writeKey(join(pki, `${key}.key`))));
  const names = `subjectAltName=DNS:${name},IP:${address}`;
  await certify(pki, 'kubelet', { extensions: ['extendedKeyUsage=serverAuth', names] });
  const subject = '/O=system:masters/CN=bed-api-client';
  await certify(pki, 'api-client', { extensions: ['extendedKeyUsage=clientAuth'], subject });
}

async function writeKey(file: string): Promise<void> {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await writeFile(file, privateKey, { mode: 0o600 });
}

interface Certificate {
  readonly extensions: readonly string[];
  readonly subject?: string;
  readonly env?: NodeJS.ProcessEnv;
}

async function certify(
  pki: string,
  name: string,
  { extensions, subject = `/CN=bed-${name}`, env }: Certificate,
): Promise<void> {
  const request = ['-subj', subject, '-days', '30'];
  const signer = name === 'ca' ? [] : ['-CA', 'ca.crt', '-CAkey', 'ca.key'];
  const added = extensions.flatMap((extension) => ['-addext', extension]);
  const files = ['-key', `${name}.key`, '-out', `${name}.crt`];
  const args = ['req', '-x509', '-new', ...request, ...signer, ...added, ...files];
  await run('openssl', args, { cwd: pki, env: { ...process.env, ...env } });
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
