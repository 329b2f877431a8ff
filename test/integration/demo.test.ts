import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test as sequential, type TestContext } from 'vitest';
import { built, until } from './built.ts';

const test = sequential.concurrent;
const root = process.cwd();
let directory: string;

beforeAll(() => {
  directory = dirname(dirname(built.main));
  for (const name of ['crds', 'scripts', 'test']) symlinkSync(join(root, name), join(directory, name));
});

interface DemoOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly commands?: string;
  readonly context: Pick<TestContext, 'onTestFailed'>;
}

/** Starts the demo as `npm run demo` does after its build, with a directory for temporary files of its own. */
function startDemo({ env = {}, flags = [], commands = '', context }: DemoOptions) {
  const temporary = mkdtempSync(join(directory, 'tmp-'));
  const child = spawn(process.execPath, ['test/demo/main.ts', ...flags], {
    cwd: directory,
    env: { PATH: process.env['PATH'], TMPDIR: temporary, ...env },
  });
  child.stdin.end(commands);
  /** Node may keep files of its own in the same directory. */
  const remaining = (): string[] => readdirSync(temporary).filter((name) => name.startsWith('dustpan-'));
  const demo = { child, output: '', remaining };
  child.stdout.on('data', (chunk: Buffer) => (demo.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (demo.output += chunk.toString()));
  context.onTestFailed(() => {
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

test.for([
  { name: 'with what this machine allows', env: {} },
  // Then unshare and mount are not found.
  { name: 'where nothing can be mounted', env: { PATH: '/nowhere' } },
])(
  'the demo cleans pods and a node, checks every object and leaves nothing: $name',
  async ({ env }, context) => {
    const demo = startDemo({ env, context });
    await once(demo.child, 'close');
    expect(demo.output).toContain('all is as it should be');
    expect(demo.child.exitCode).toBe(0);
    expect(demo.output.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(demo.remaining()).toEqual([]);
    // Otherwise draw it again: npm run demo:recording.
    expect(podLines(readFileSync('docs/images/demo.svg', 'utf8'))).toEqual(podLines(demo.output));
  },
);

test('its shell finds a cluster and a node', async (context) => {
  const commands = `
    dustpan why image registry.example.com/base/jdk:21
    kubectl-dustpan status
    dustpan plan -n ci -l app=ci-runner -o name
  `;
  const demo = startDemo({ env: { SHELL: 'sh' }, flags: ['--shell'], commands, context });
  await once(demo.child, 'close');
  expect(demo.output).toContain('on node-a is kept by\n    imagegc: KeepListed');
  expect(demo.output).toContain('pods: 75 due, all under DryRun policies; 0 deleted');
  expect(demo.output.match(/^pod\/.* -n ci$/gm)).toHaveLength(15);
  expect(demo.output).not.toContain('NodesBehind');
  expect(demo.output.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(demo.child.exitCode).toBe(0);
  expect(demo.remaining()).toEqual([]);
});

test('it leaves nothing when it is interrupted', async (context) => {
  const demo = startDemo({ context });
  await until('the demo shows DryRun', () => demo.output.includes('mode DryRun'));
  const closed = once(demo.child, 'close');
  demo.child.kill('SIGTERM');
  await closed;
  expect(demo.child.exitCode).toBe(130);
  expect(demo.remaining()).toEqual([]);
});
