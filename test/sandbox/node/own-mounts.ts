import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

const mark = 'DUSTPAN_OWN_MOUNTS';

/** True in a process that `withOwnMounts` started, or that is in the test bed's jail: what it mounts nobody else sees, and it goes with it. */
export const hasOwnMounts = (): boolean =>
  process.env[mark] === '1' || process.env['DUSTPAN_BED_BIN'] !== undefined;

/**
 * Runs the command in a mount namespace of its own, where it may mount memory file systems; no root is needed where the kernel lets users
 * have namespaces. Resolves with its exit code; undefined = it cannot be done here.
 */
export async function withOwnMounts(command: readonly string[]): Promise<number | undefined> {
  if (process.platform !== 'linux' || !canMount()) return undefined;
  const child = spawn('unshare', [...namespaceFlags, ...command], {
    stdio: 'inherit',
    env: { ...process.env, [mark]: '1' },
  });
  // The child is the one that tidies up; a terminal may have told it already.
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, pass);
  await once(child, 'exit');
  return child.exitCode ?? 128 + (child.signalCode ? constants.signals[child.signalCode] : 0);
}

/** Root needs no users of its own, and would lose the files of others in such a namespace. */
const namespaceFlags = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount'];

function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'dustpan-mount-'));
  const probe = ['mount', ...mountArguments(directory, 1)];
  const { status } = spawnSync('unshare', [...namespaceFlags, ...probe], { stdio: 'ignore' });
  rmdirSync(directory);
  return status === 0;
}

/** Mounts a memory file system of this size; answers how to undo it, or undefined where that cannot be done. */
export function mountMemory(directory: string, sizeMiB: number): (() => void) | undefined {
  if (!hasOwnMounts()) return undefined;
  const { status } = spawnSync('mount', mountArguments(directory, sizeMiB), { stdio: 'ignore' });
  return status === 0 ? () => void spawnSync('umount', ['--lazy', directory]) : undefined;
}

const mountArguments = (directory: string, sizeMiB: number): string[] => [
  ...['-t', 'tmpfs', '-o', `size=${sizeMiB}m,mode=0755`],
  ...['dustpan-demo', directory],
];
