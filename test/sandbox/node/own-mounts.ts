import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodeOf } from '../../steps/jobs.ts';

const mark = 'DUSTPAN_OWN_MOUNTS';

/** Whether this process has its own mount namespace: started by `withOwnMounts`, or in the jail of the test bed. */
export const hasOwnMounts = (): boolean =>
  process.env[mark] === '1' || process.env['DUSTPAN_BED_BIN'] !== undefined;

/**
 * Runs the command in its own mount namespace, where it may mount memory file systems. Needs no root if the kernel allows user namespaces.
 * Resolves with its exit code; undefined = not possible here.
 */
export async function withOwnMounts(command: readonly string[]): Promise<number | undefined> {
  if (process.platform !== 'linux' || !canMount()) return undefined;
  const child = spawn('unshare', [...namespaceFlags, ...command], {
    stdio: 'inherit',
    env: { ...process.env, [mark]: '1' },
  });
  // The child cleans up; a terminal may already have signalled it.
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, pass);
  await once(child, 'exit');
  return exitCodeOf(child);
}

/** Root needs no user namespace, and could not access files of others in it. */
const namespaceFlags = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount'];

function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'dustpan-mount-'));
  const probe = ['mount', ...mountArguments(directory, 1)];
  const { status } = spawnSync('unshare', [...namespaceFlags, ...probe], { stdio: 'ignore' });
  rmdirSync(directory);
  return status === 0;
}

/** Mounts a memory file system of this size; returns the function that unmounts it, or undefined if not possible. */
export function mountMemory(directory: string, sizeMiB: number): (() => void) | undefined {
  if (!hasOwnMounts()) return undefined;
  const { status } = spawnSync('mount', mountArguments(directory, sizeMiB), { stdio: 'ignore' });
  return status === 0 ? () => void spawnSync('umount', ['--lazy', directory]) : undefined;
}

const mountArguments = (directory: string, sizeMiB: number): string[] => [
  ...['-t', 'tmpfs', '-o', `size=${sizeMiB}m,mode=0755`],
  ...['dustpan-demo', directory],
];
