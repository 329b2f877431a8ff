import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { file, temporaryDirectory } from './directory.ts';
import { canMount, runWithMounts } from './mounting.ts';

const at = temporaryDirectory();

describe.skipIf(!canMount)('a mount point below a log directory (needs root and mount namespaces)', () => {
  test.each([
    { name: 'another file system', mount: (volume: string) => `mount -t tmpfs none "${volume}"` },
    { name: 'a bind mount', mount: (volume: string) => `mount --bind "${at('elsewhere')}" "${volume}"` },
  ])('is not crossed: $name', ({ mount }) => {
    file(at('elsewhere', 'kept'));
    const pod = at('pods', 'web_crash_uid');
    const volume = at('pods', 'web_crash_uid', 'volume');
    file(at('pods', 'web_crash_uid', 'volume', 'hidden'));
    const roots = { pods: at('pods'), containers: at('containers') };
    const program = `
      import { LocalLogs } from './src/node/logs/logs.ts';
      new LocalLogs(${JSON.stringify(roots)})
        .removeDirectory(${JSON.stringify(pod)}, new AbortController().signal)
        .then(String, (err) => String(err.cause)).then(console.log);`;
    const out = runWithMounts(
      at(),
      program,
      (run) => `${mount(volume)} && : > "${volume}/inside" && ${run}; ls "${volume}"`,
    );
    expect(out).toContain('refusing to cross a mount point');
    expect(out).toContain('inside');
    expect(existsSync(at('elsewhere', 'kept'))).toBe(true);
  });
});
