import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** PEM. */
export interface ServingCertificate {
  /** The leaf and its CA, like a kubelet's pki/kubelet.crt. */
  readonly chain: string;
  readonly key: string;
  readonly ca: string;
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A new CA and a leaf for the given names (`DNS:node-1`), like a kubelet's self-signed certificate. */
export function certify(names: readonly string[]): ServingCertificate {
  const cwd = mkdtempSync(join(tmpdir(), 'dustpan-kubelet-'));
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', ['req', '-x509', ...newKey, '-days', '2', ...args], { cwd, stdio: 'pipe' });
  };
  const pem = (file: string): string => readFileSync(join(cwd, file), 'utf8');
  try {
    const isCa = ['-addext', 'basicConstraints=critical,CA:TRUE'];
    openssl('-subj', '/CN=sandbox-ca', '-keyout', 'ca.key', '-out', 'ca.crt', ...isCa);
    const leaf = ['-addext', `subjectAltName=${names.join(',')}`, '-addext', 'extendedKeyUsage=serverAuth'];
    const signer = ['-CA', 'ca.crt', '-CAkey', 'ca.key'];
    openssl('-subj', '/CN=sandbox-kubelet', '-keyout', 'leaf.key', '-out', 'leaf.crt', ...signer, ...leaf);
    return { chain: pem('leaf.crt') + pem('ca.crt'), key: pem('leaf.key'), ca: pem('ca.crt') };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}
