import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The built command; the checkout's dist/ belongs to others. */
    readonly main: string;
  }
}

export interface Built {
  readonly main: string;
  remove(): void;
}

/** Builds the command in a place of its own. */
export function build(): Built {
  const root = process.cwd();
  const place = mkdtempSync(join(tmpdir(), 'dustpan-built-'));
  copyFileSync(join(root, 'package.json'), join(place, 'package.json'));
  for (const name of ['src', 'node_modules', 'tsconfig.json'])
    symlinkSync(join(root, name), join(place, name));
  execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: place });
  return {
    main: join(place, 'dist', 'main.js'),
    remove: () => rmSync(place, { recursive: true, force: true }),
  };
}

/** Builds the command once for all files of a vitest project. */
export function setup(project: TestProject): () => void {
  const built = build();
  project.provide('main', built.main);
  return () => built.remove();
}
