import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** Creates an empty directory before each test of the file; the function returns paths below it. */
export function temporaryDirectory(): (...names: readonly string[]) => string {
  let base = '';
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'dustpan-node-'));
  });
  afterEach(() => {
    rmSync(base, { recursive: true, force: true });
  });
  return (...names) => join(base, ...names);
}

/** Writes a file of this many bytes, and its directories. */
export function file(path: string, content: number | string = 10): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : 'x'.repeat(content));
  return path;
}
