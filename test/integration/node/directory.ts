import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** Creates an empty directory before each test of the file; the function returns paths below it. */
export function temporaryDirectory(): (...names: readonly string[]) => string {
  let base = '';
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'dustpan-node-'));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));
  return (...names) => join(base, ...names);
}

/** Writes a file of this many bytes, and its directories. */
export function file(path: string, content: number | string = 10): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : 'x'.repeat(content));
  return path;
}

/** The paths that this process has open, at or below `path`. Their number alone would change with whatever else is open. */
export function openBelow(path: string): readonly string[] {
  return readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return ''; // the handle of the list itself
      }
    })
    .filter((open) => open === path || open.startsWith(`${path}/`));
}
