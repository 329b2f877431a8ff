import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFailed, test } from 'vitest';
import { problemsOf } from '../demo/node/result.ts';
import { groups, podName } from '../demo/pods/objects.ts';
import { podProblems } from '../demo/pods/part.ts';
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

/** The lines about pods: they are the same on each machine. Entities of XML are characters again. */
const podLines = (text: string): readonly string[] =>
  text
    .slice(text.indexOf('dustpan demo'), text.indexOf('each with a reason'))
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .split('\n')
    .filter((line) => line !== '');

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
  // Otherwise draw it again: npm run demo:recording.
  expect(podLines(readFileSync('docs/images/demo.svg', 'utf8'))).toEqual(podLines(demo.output));
});

test('its shell finds a cluster and a node', async () => {
  const commands = `
    dustpan why pod ci/finished-ci-runners-03
    dustpan why image registry.example.com/base/jdk:21
    kubectl-dustpan status
    dustpan plan -n ci -l app=ci-runner -o name
  `;
  const demo = startDemo({ SHELL: 'sh' }, ['--shell'], commands);
  await once(demo.child, 'close');
  expect(demo.output).toContain('would be deleted by podgc:\n    TerminatedInNamespace');
  expect(demo.output).toContain('on node-a is kept by\n    imagegc: KeepListed');
  expect(demo.output).toContain('pods: 75 due, all under DryRun policies; 0 deleted');
  expect(demo.output.match(/^pod\/.* -n ci$/gm)).toHaveLength(15);
  expect(demo.output).not.toContain('NodesBehind');
  expect(demo.output.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(demo.child.exitCode).toBe(0);
  expect(remaining()).toEqual([]);
});

// It prints its kubeconfig: the real one sends a token only over TLS.
const kubectl = `#!/bin/sh
read -r kubeconfig <"$KUBECONFIG"
echo "cache: $KUBECACHEDIR, $kubeconfig"
`;

test.each([
  {
    ...{ name: 'shows commands of kubectl, which gets TLS and a cache of its own', isInstalled: true },
    shown: ['  kubectl patch gcpolicy default', 'kubectl, {', '"server":"https://127.0.0.1:', 'ca.crt"'],
  },
  { name: 'says that kubectl is missing', isInstalled: false, shown: ['kubectl is not on the PATH'] },
])('its shell $name', async ({ isInstalled, shown }) => {
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  if (isInstalled) writeFileSync(join(bin, 'kubectl'), kubectl, { mode: 0o755 });
  const demo = startDemo({ SHELL: '/bin/sh', PATH: bin }, ['--shell'], isInstalled ? 'kubectl\n' : '');
  await once(demo.child, 'close');
  for (const text of shown) expect(demo.output).toContain(text);
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

const left = groups.flatMap((group) => Array.from({ length: group.left }, (_, i) => podName(group, i)));

test.each([
  {
    name: 'a pod in use is lost',
    names: left.filter((name) => name !== 'running-web-pods-03'),
    problem: 'lost: running web pods (1 of 12)',
  },
  {
    name: 'a pod is left',
    names: [...left, 'finished-ci-runners-39'],
    problem: 'still there: finished CI runners (1 of 40)',
  },
])('the demo fails when $name', ({ names, problem }) => {
  expect(podProblems(left)).toEqual([]);
  expect(podProblems(names)).toEqual([problem]);
});

const used = { id: 'used', group: 'images in use', isGarbage: false, reason: 'InUse' };
const unused = { id: 'unused', group: 'unused images', isGarbage: true, reason: 'Age' };

test.each([
  { name: 'an object in use is lost', there: [], problem: 'lost: images in use (used)' },
  { name: 'garbage is left', there: ['used', 'unused'], problem: 'still there: unused images (unused)' },
  { name: 'all is as expected', there: ['used'], problem: undefined },
])('the demo’s result of a node when $name', ({ there, problem }) => {
  const findings = {
    isPresent: (id: string) => (there as readonly string[]).includes(id),
    removedFor: new Map([['unused', 'Age']]),
    keptFor: new Map([['used', 'InUse']]),
  };
  expect(problemsOf([used, unused], findings)).toEqual(problem === undefined ? [] : [problem]);
});
