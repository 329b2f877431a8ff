import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findProgram } from '../programs/find.ts';
import { programsOf, type Part } from '../programs/parts.ts';

/** Why this machine cannot run these parts; undefined when it can. */
export function cannotRun(parts: readonly Part[], env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (process.platform !== 'linux') return 'not Linux';
  if (process.getuid?.() !== 0) return 'not root';
  return missingCommand(env) ?? namespacesRefused(env) ?? missingProgram(parts, env);
}

/** A file system of loop devices. */
export type LoopFileSystem = 'ext4' | 'xfs';

const packages: Readonly<Record<LoopFileSystem, string>> = { ext4: 'e2fsprogs', xfs: 'xfsprogs' };

/** Why this machine has no loop devices with this file system; undefined when it has. */
export function noLoopDevices(
  type: LoopFileSystem,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  if (!canRun(`mkfs.${type}`, env)) return `mkfs.${type} missing: apt-get install ${packages[type]}`;
  if (!new RegExp(`\\t${type}$`, 'm').test(readFileSync('/proc/filesystems', 'utf8')))
    return `the kernel has no ${type}: modprobe ${type}`;
  const { status, stderr } = spawnSync('losetup', ['--find'], { env, encoding: 'utf8' });
  return status === 0 ? undefined : `no loop device: ${stderr.trim()}`;
}

function missingCommand(env: NodeJS.ProcessEnv): string | undefined {
  const missing = ['unshare', 'setpriv', 'flock'].find((command) => !canRun(command, env));
  if (missing) return `${missing} missing: apt-get install util-linux`;
  // runc is built with it, and so is the clock that a test can set.
  return canRun(env['CC'] ?? 'gcc', env) ? undefined : 'no C compiler: apt-get install gcc libc6-dev';
}

function canRun(command: string, env: NodeJS.ProcessEnv): boolean {
  return spawnSync(command, ['--version'], { env }).error === undefined;
}

function namespacesRefused(env: NodeJS.ProcessEnv): string | undefined {
  const namespaces = ['--net', '--mount', '--pid', '--uts', '--ipc', '--fork', '--mount-proc'];
  const { status, stderr } = spawnSync('unshare', [...namespaces, 'true'], { env, encoding: 'utf8' });
  return status === 0 ? undefined : `no namespaces of its own: ${stderr.trim()}`;
}

function missingProgram(parts: readonly Part[], env: NodeJS.ProcessEnv): string | undefined {
  const missing = programsOf(parts).find((program) => !findProgram(program, env));
  const trouble = missing && goTrouble(env);
  return trouble && `${trouble} and no ${missing.name}`;
}

function goTrouble(env: NodeJS.ProcessEnv): string | undefined {
  const { stdout, error } = spawnSync('go', ['version'], { env, encoding: 'utf8' });
  if (error) return 'no go';
  const [version = 'go', major = '0', minor = '0'] = /go(\d+)\.(\d+)/.exec(stdout) ?? [];
  // `tool` lines in go.mod came with 1.24.
  return Number(major) * 1000 + Number(minor) < 1024 ? `${version} is older than go1.24` : undefined;
}
