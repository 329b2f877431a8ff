import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The oldest Node of each line that dustpan runs on, as `engines` of package.json has it: an older one ignores the proxy of a kubeconfig. */
const oldest: Readonly<Record<number, number>> = { 22: 21, 24: 5 };

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major <= 24 && minor < (oldest[major] ?? Infinity)) {
  // In a checkout on Linux.
  const installed = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
  const remedy = existsSync(installed) ? `run ${installed}, which npm ci installed, or install` : 'install';
  process.stderr.write(
    `dustpan: Node ${process.version} is too old: ${remedy} Node 24.5 or newer, or 22.21 or a later 22\n`,
  );
  process.exit(1);
}
// Before the first use of the pool. A read of a file on a mount that hangs occupies a thread for ever: of each disk (3), of logs, orphaned
// resources, snapshots, of the two state files, of the token and CAs (5), of images of a node. The default is 4.
process.env['UV_THREADPOOL_SIZE'] ??= '16';
await import('./dustpan.ts');
