import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxUser } from './users.ts';

/** A folder with one kubeconfig file for each user. */
export interface KubeconfigFolder {
  fileOf(user: string): string;
  remove(): Promise<void>;
}

export async function kubeconfigFolder(
  server: string,
  users: readonly SandboxUser[],
): Promise<KubeconfigFolder> {
  const directory = await mkdtemp(join(tmpdir(), 'dustpan-sandbox-'));
  const fileOf = (user: string): string =>
    join(directory, `${user.replaceAll(/[^-A-Za-z0-9]/g, '_')}.kubeconfig`);
  await Promise.all(
    users.map(({ name, token }) =>
      writeFile(fileOf(name), kubeconfig(server, { name, token }), { mode: 0o600 }),
    ),
  );
  return { fileOf, remove: () => rm(directory, { recursive: true, force: true }) };
}

/** JSON is YAML. */
function kubeconfig(
  server: string,
  { name, token }: { readonly name: string; readonly token: string },
): string {
  const context = { cluster: 'sandbox', user: name };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'sandbox', cluster: { server } }],
    users: [{ name, user: { token } }],
    contexts: [{ name: 'sandbox', context }],
    'current-context': 'sandbox',
  });
}
