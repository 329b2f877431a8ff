import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

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
