import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** Whether a test may mount, in a mount namespace of its own. */
export const canMount = process.platform === 'linux' && process.getuid?.() === 0 && mayMount();

function mayMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Runs a shell script in a mount namespace of its own, so that no mount outlives it. `run` is the command that runs the program. */
export function runWithMounts(base: string, contents: string, script: (run: string) => string): string {
  const outfile = join(base, 'program.mjs');
  const stdin = { contents, resolveDir: process.cwd() };
  buildSync({ stdin, bundle: true, platform: 'node', format: 'esm', outfile });
  const command = script(`"${process.execPath}" "${outfile}"`);
  return execFileSync('unshare', ['--mount', 'sh', '-c', command], { encoding: 'utf8' });
}
