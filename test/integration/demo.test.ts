import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFailed, test } from 'vitest';
import { build, until, type Built } from './built.ts';

const root = process.cwd();
let built: Built;
let place: string;

beforeEach(() => {
  built = build();
  place = dirname(dirname(built.main));
  for (const name of ['crds', 'scripts', 'test']) symlinkSync(join(root, name), join(place, name));
  mkdirSync(join(place, 'tmp'));
});
afterEach(() => {
  built.remove();
});

/** As `npm run demo` runs it after its build, with temporary files of its own. */
function startDemo(env: Readonly<Record<string, string>> = {}, flags: readonly string[] = [], commands = '') {
  const child = spawn(process.execPath, ['test/demo/main.ts', ...flags], {
    cwd: place,
    env: { PATH: process.env['PATH'], TMPDIR: join(place, 'tmp'), ...env },
  });
  child.stdin.end(commands);
  const demo = { child, said: '' };
  child.stdout.on('data', (chunk: Buffer) => (demo.said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (demo.said += chunk.toString()));
  onTestFailed(() => {
    process.stderr.write(demo.said);
  });
  return demo;
}

/** Node may keep files of its own there for the next time. */
const leftBehind = (): string[] =>
  readdirSync(join(place, 'tmp')).filter((name) => name.startsWith('dustpan-'));

test.each([
  { name: 'as this machine lets it', env: {} },
  // Neither unshare nor mount is found.
  { name: 'where nothing can be mounted', env: { PATH: '/nowhere' } },
])('the demo cleans pods and a node, checks every object and leaves nothing: $name', async ({ env }) => {
  const demo = startDemo(env);
  await once(demo.child, 'close');
  expect(demo.said).toContain('all is as it should be');
  expect(demo.child.exitCode).toBe(0);
  expect(demo.said.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(leftBehind()).toEqual([]);
});

test('its shell has a cluster and a node to ask about', async () => {
  const commands = `
    dustpan why pod ci/finished-ci-runners-03
    dustpan why image registry.example.com/base/jdk:21
    kubectl-dustpan status
  `;
  const demo = startDemo({ SHELL: 'sh' }, ['--shell'], commands);
  await once(demo.child, 'close');
  expect(demo.said).toContain('would be deleted:\n    TerminatedInNamespace');
  expect(demo.said).toContain('on node-a is kept:\n    KeepListed');
  expect(demo.said).toContain('pods: 75 due, all under DryRun policies; 0 deleted');
  expect(demo.said.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(demo.child.exitCode).toBe(0);
  expect(leftBehind()).toEqual([]);
});

test('ended in the middle it leaves nothing either', async () => {
  const demo = startDemo();
  await until('it is in the middle', () => demo.said.includes('mode DryRun'));
  const closed = once(demo.child, 'close');
  demo.child.kill('SIGTERM');
  await closed;
  expect(demo.child.exitCode).toBe(130);
  expect(leftBehind()).toEqual([]);
});
