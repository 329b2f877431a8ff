import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PartSpec } from '../servers/part-process.ts';
import type { PartInputs } from '../servers/part-spec.ts';
import { statusOf } from '../servers/probe.ts';

/** The registry of a jail: plain HTTP on its loopback device, without authentication. */
export function registrySpec(inputs: PartInputs): Pick<PartSpec, 'command' | 'args' | 'env' | 'isReady'> {
  const { dir, ports } = inputs;
  const config = {
    version: '0.1',
    log: { level: 'warn' },
    storage: { filesystem: { rootdirectory: join(dir, 'registry') } },
    http: { addr: `127.0.0.1:${ports.registry}`, secret: 'of this jail' },
  };
  writeFileSync(join(dir, 'registry.json'), JSON.stringify(config));
  return {
    command: 'registry',
    args: ['serve', 'registry.json'],
    // Its default is to send traces to a collector on this machine.
    env: { OTEL_TRACES_EXPORTER: 'none' },
    isReady: async () => (await statusOf(`${registryUrl(inputs)}/v2/`)) === 200,
  };
}

export const registryUrl = ({ ports }: Pick<PartInputs, 'ports'>): string =>
  `http://127.0.0.1:${ports.registry}`;

/** containerd reads this directory at each pull. */
export const registryHosts = (dir: string): string => join(dir, 'registry-hosts');

/** Makes containerd pull the images of a registry, such as `docker.io`, or of all others (`_default`), from this URL. */
export function pullFrom(url: string, { dir, host }: { readonly dir: string; readonly host: string }): void {
  const folder = join(registryHosts(dir), host);
  mkdirSync(folder, { recursive: true });
  const hosts = `server = '${url}'\n[host.'${url}']\n  capabilities = ['pull', 'resolve']\n`;
  writeFileSync(join(folder, 'hosts.toml'), hosts);
}
