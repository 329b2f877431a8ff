import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { repositoryRoot } from '../repository.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly input?: string;
}

/** Runs a command to its end; a failing code is a result, not an error. */
export async function runCommand(
  [command = '', ...args]: readonly string[],
  { env, cwd, input = '' }: CommandOptions = {},
): Promise<CommandResult> {
  const child = spawn(command, args, { env, cwd, stdio: 'pipe' });
  child.stdin.on('error', () => undefined); // it may end without reading
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode ?? -1, stdout, stderr };
}

/** The built program. */
export const builtMain = join(repositoryRoot(), 'dist/main.js');

/** Runs a built command to its end. */
export const resultOfDustpan = (...args: readonly string[]): Promise<CommandResult> =>
  runCommand([process.execPath, builtMain, ...args]);

/** Runs a built command to its end and returns its output; throws with its message when it fails. */
export async function runDustpan(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await resultOfDustpan(...args);
  if (code !== 0) throw new Error(`dustpan ${args.join(' ')}: exit ${code}: ${stderr.trim()}`);
  return stdout;
}
