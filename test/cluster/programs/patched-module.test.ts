import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { applyPatches, patchedModule } from './patched-module.ts';

function folderWith(files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'dustpan-quick-test-'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  return dir;
}

const patch = { file: 'a/b.go', from: 'period = time.Minute', to: 'period = time.Second' };

describe('patching a module', () => {
  test('replaces the text and nothing else', () => {
    const dir = folderWith({ 'a/b.go': 'x\nperiod = time.Minute\ny\n', 'a/c.go': 'period = time.Minute\n' });
    applyPatches(dir, [patch]);
    expect(readFileSync(join(dir, 'a/b.go'), 'utf8')).toBe('x\nperiod = time.Second\ny\n');
    expect(readFileSync(join(dir, 'a/c.go'), 'utf8')).toBe('period = time.Minute\n');
  });

  test.each([
    { name: 'not there any more', text: 'period = 60 * time.Second\n', count: 0 },
    { name: 'there twice', text: 'period = time.Minute\n'.repeat(2), count: 2 },
  ])('fails when the text is $name, and names it', ({ text, count }) => {
    const dir = folderWith({ 'a/b.go': text });
    expect(() => {
      applyPatches(dir, [patch]);
    }).toThrow(`a/b.go has "period = time.Minute" ${count} times, not once`);
  });

  test('works on a copy, which is removed after the build', async () => {
    const original = folderWith({ 'a/b.go': 'period = time.Minute\n' });
    const folder = folderWith({ 'go.mod': 'module bed\n', 'go.sum': 'sums\n' });
    const bin = folderWith({ go: `#!/bin/sh\nprintf '{"Dir": "${original}"}'\n` });
    chmodSync(join(bin, 'go'), 0o755);
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const given = { folder, module: 'example.test/a', env };

    let modfile = '';
    {
      using module = await patchedModule({ ...given, patches: [patch] });
      modfile = /^-modfile=(.*)$/.exec(module.args[0] ?? '')?.[1] ?? '';
      const [, copy = ''] = /replace example\.test\/a => (.*)\n/.exec(readFileSync(modfile, 'utf8')) ?? [];
      expect(readFileSync(join(copy, 'a/b.go'), 'utf8')).toBe('period = time.Second\n');
      expect(readFileSync(join(dirname(modfile), 'go.sum'), 'utf8')).toBe('sums\n');
    }
    expect(existsSync(dirname(modfile))).toBe(false);
    expect(readFileSync(join(original, 'a/b.go'), 'utf8')).toBe('period = time.Minute\n');
    const stale = { ...patch, from: 'another text' };
    await expect(patchedModule({ ...given, patches: [stale] })).rejects.toThrow('another text');
  });
});
