import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';
import { runCommand } from './command.ts';

/** Runs a built command to its end and returns its output; throws with its message when it fails. */
export async function runDustpan(...args: readonly string[]): Promise<string> {
  const main = join(repositoryRoot(), 'dist/main.js');
  const { code, stdout, stderr } = await runCommand([process.execPath, main, ...args]);
  if (code !== 0) throw new Error(`dustpan ${args.join(' ')}: exit ${code}: ${stderr.trim()}`);
  return stdout;
}
