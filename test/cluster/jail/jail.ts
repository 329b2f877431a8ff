import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';
import { exitCodeOf } from '../../steps/jobs.ts';
import type { LoopFileSystem } from './requirements.ts';

export interface JailOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Makes the jail a node with its well-known paths; above 0, the runtime's images lie on a file system of this size. */
  readonly imageFsMB?: number;
  /** Size of the node's own disk, which then holds /var/lib/kubelet, /var/log and, unless `imageFsMB` is above 0, the images. */
  readonly diskMB?: number | undefined;
  /** The disks are loop devices with ext4; otherwise they are tmpfs. */
  readonly loopDevices?: LoopFileSystem | undefined;
  /** File descriptor for all that the command prints; otherwise it is shown as it comes. */
  readonly output?: number | undefined;
}

/** Runs a command in a throw-away machine of namespaces and returns its exit code; nothing started in there outlives it. */
export async function jail(
  dir: string,
  command: readonly string[],
  options: JailOptions = {},
): Promise<number> {
  const script = join(repositoryRoot(), 'test/cluster/jail/jail.sh');
  // If this process is killed, the script receives TERM and ends the jail.
  const printed = options.output ?? 'inherit';
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', 'bash', script, dir, ...command], {
    stdio: ['inherit', printed, printed],
    env: {
      ...process.env,
      ...options.env,
      BED_IMAGEFS_MB: options.imageFsMB?.toString() ?? '',
      BED_DISK_MB: options.diskMB?.toString() ?? '',
      BED_LOOP_DEVICES: options.loopDevices ?? '',
    },
  });
  const stopForwarding = forwardSignals(child);
  try {
    await once(child, 'exit');
    return exitCodeOf(child);
  } finally {
    stopForwarding();
  }
}

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const patienceMs = 15_000;

/** Ends the script with the signal, then with KILL; the kernel ends the jail with it. */
function forwardSignals(child: ChildProcess): () => void {
  let timer: NodeJS.Timeout | undefined;
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
    timer ??= setTimeout(() => child.kill('SIGKILL'), patienceMs);
  };
  for (const signal of endings) process.on(signal, forward);
  return () => {
    clearTimeout(timer);
    for (const signal of endings) process.off(signal, forward);
  };
}
