import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { instructionsOf } from '../unit/release/dockerfile.ts';

/** Runs the Dockerfile's first stage without a container engine: the build sees only the copied files. */
const stage = mkdtempSync(join(tmpdir(), 'dustpan-dockerfile-'));
const all = instructionsOf(readFileSync('Dockerfile', 'utf8'));
const first = all.slice(
  0,
  all.findLastIndex(({ name }) => name === 'FROM'),
);

beforeAll(() => {
  for (const { rest } of first.filter(({ name }) => name === 'COPY')) {
    const words = rest.split(' ');
    const to = words.pop() ?? '';
    // A destination with a trailing slash is a directory.
    for (const from of words)
      cpSync(from, join(stage, to.endsWith('/') ? join(to, basename(from)) : to), { recursive: true });
  }
  symlinkSync(join(process.cwd(), 'node_modules'), join(stage, 'node_modules'));
});

afterAll(() => rmSync(stage, { recursive: true }));

test('the bundle can be built from the files that the Dockerfile copies, and names its revision', () => {
  const runs = first.filter(({ name }) => name === 'RUN').map(({ rest }) => JSON.parse(rest) as string[]);
  expect(runs).toEqual([
    ['npm', 'ci', '--ignore-scripts'],
    ['npm', 'run', 'build'],
  ]);
  const env = { ...process.env, DUSTPAN_REVISION: 'abc1234' };
  execFileSync('npm', ['run', 'build'], { cwd: stage, env, stdio: 'pipe' });
  expect(readdirSync(join(stage, 'dist'))).toContain('main.js');
  const said = execFileSync(process.execPath, [join(stage, 'dist', 'main.js'), 'version'], {
    encoding: 'utf8',
  });
  expect(said).toContain('abc1234');
});
