import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** The wall clock of the programs that run with `env`, which a test can set; their monotonic clock does not change. */
export interface ShiftedClock {
  readonly env: Readonly<Record<string, string>>;
  /** Makes it differ from the true time by so many milliseconds, at once. */
  set(shiftMs: number): void;
}

/**
 * Keeps its files in a new folder of this one. A time namespace has no wall clock of its own, and to set that of the machine would disturb
 * everything on it. So a preloaded library (shifted-clock.c) replaces what a program reads from libc: Node has its Date and the check of
 * certificates from there.
 */
export function shiftedClock(dir: string): ShiftedClock {
  const folder = join(dir, 'clock');
  mkdirSync(folder);
  const [shift, library] = [join(folder, 'shift'), join(folder, 'shifted-clock.so')];
  writeFileSync(shift, bytesOf(0));
  const source = join(import.meta.dirname, 'shifted-clock.c');
  execFileSync(process.env['CC'] ?? 'gcc', [
    '-shared',
    '-fPIC',
    '-O2',
    '-Wall',
    '-Werror',
    '-o',
    library,
    source,
  ]);
  return {
    env: { LD_PRELOAD: library, SHIFTED_CLOCK: shift },
    set: (shiftMs) => {
      // In place: the programs have this file in their memory.
      const file = openSync(shift, 'r+');
      writeSync(file, bytesOf(shiftMs), 0, 8, 0);
      closeSync(file);
    },
  };
}

function bytesOf(shiftMs: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(shiftMs));
  return bytes;
}
