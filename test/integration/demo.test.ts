import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFailed, test } from 'vitest';
import { build, until, type Built } from './built.ts';

const root = process.cwd();
let built: Built;
let directory: string;

beforeEach(() => {
  built = build();
  directory = dirname(dirname(built.main));
  for (const name of ['crds', 'scripts', 'test']) symlinkSync(join(root, name), join(directory, name));
  mkdirSync(join(directory, 'tmp'));
});
afterEach(() => {
  built.remove();
});

/** Starts the demo as `npm run demo` does after its build, with a directory for temporary files of its own. */
function startDemo(env: Readonly<Record<string, string>> = {}, flags: readonly string[] = [], commands = '') {
  const child = spawn(process.execPath, ['test/demo/main.ts', ...flags], {
    cwd: directory,
    env: { PATH: process.env['PATH'], TMPDIR: join(directory, 'tmp'), ...env },
  });
  child.stdin.end(commands);
  const demo = { child, output: '' };
  child.stdout.on('data', (chunk: Buffer) => (demo.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (demo.output += chunk.toString()));
  onTestFailed(() => {
    process.stderr.write(demo.output);
  });
  return demo;
}

/** Node may keep files of its own in the same directory. */
const remaining = (): string[] =>
  readdirSync(join(directory, 'tmp')).filter((name) => name.startsWith('dustpan-'));

test.each([
  { name: 'with what this machine allows', env: {} },
  // Then unshare and mount are not found.
  { name: 'where nothing can be mounted', env: { PATH: '/nowhere' } },
])('the demo cleans pods and a node, checks every object and leaves nothing: $name', async ({ env }) => {
  const demo = startDemo(env);
  await once(demo.child, 'close');
  expect(demo.output).toContain('all is as it should be');
  expect(demo.child.exitCode).toBe(0);
  expect(demo.output.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(remaining()).toEqual([]);
});

test('its shell finds a cluster and a node', async () => {
  const commands = `
    dustpan why pod ci/finished-ci-runners-03
    dustpan why image registry.example.com/base/jdk:21
    kubectl-dustpan status
  `;
  const demo = startDemo({ SHELL: 'sh' }, ['--shell'], commands);
  await once(demo.child, 'close');
  expect(demo.output).toContain('would be deleted:\n    TerminatedInNamespace');
  expect(demo.output).toContain('on node-a is kept:\n    KeepListed');
  expect(demo.output).toContain('pods: 75 due, all under DryRun policies; 0 deleted');
  expect(demo.output.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(demo.child.exitCode).toBe(0);
  expect(remaining()).toEqual([]);
});

test('it leaves nothing when it is interrupted', async () => {
  const demo = startDemo();
  await until('the demo shows DryRun', () => demo.output.includes('mode DryRun'));
  const closed = once(demo.child, 'close');
  demo.child.kill('SIGTERM');
  await closed;
  expect(demo.child.exitCode).toBe(130);
  expect(remaining()).toEqual([]);
});
