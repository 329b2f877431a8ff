import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { canMount } from './mounting.ts';

/** A process of its own, in a mount namespace of its own: nothing stays mounted whatever happens. */
function removeWithMount(base: string, mount: string): string {
  const roots = { pods: join(base, 'pods'), containers: join(base, 'containers') };
  const pod = join(roots.pods, 'web_crash_uid');
  const volume = join(pod, 'volume');
  mkdirSync(volume, { recursive: true });
  const program = join(base, 'remove.mjs');
  const contents = `
    import { LocalLogs } from './src/node/logs/logs.ts';
    new LocalLogs(${JSON.stringify(roots)})
      .removeDirectory(${JSON.stringify(pod)}, new AbortController().signal)
      .then(String, (err) => String(err.cause)).then(console.log);`;
  buildSync({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: program,
  });
  const script = `${mount} && : > "$1/inside" && "$3" "$4"; ls "$1"`;
  return execFileSync(
    'unshare',
    ['--mount', 'sh', '-c', script, 'sh', volume, join(base, 'elsewhere'), process.execPath, program],
    { encoding: 'utf8' },
  );
}

describe.skipIf(!canMount)('a mount point below a log directory (needs root and mount namespaces)', () => {
  test.each(['mount -t tmpfs none "$1"', 'mount --bind "$2" "$1"'])('after %s: not crossed', (mount) => {
    const base = mkdtempSync(join(tmpdir(), 'dustpan-mounts-'));
    try {
      mkdirSync(join(base, 'elsewhere'));
      writeFileSync(join(base, 'elsewhere', 'kept'), '');
      const out = removeWithMount(base, mount);
      expect(out).toContain('refusing to cross a mount point');
      expect(out).toContain('inside');
      expect(existsSync(join(base, 'elsewhere', 'kept'))).toBe(true);
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
});
