import { execFileSync } from 'node:child_process';

/** Whether a test may mount, in a namespace of its own. */
export const canMount = process.platform === 'linux' && process.getuid?.() === 0 && mayMount();

function mayMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
