import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { currentSystem, withCluster } from '../../../../src/process/config.ts';
import { LenientCommand, text } from '../../../../src/process/option.ts';
import { commandsOf } from '../../../../src/commands/cli/program.ts';
import { ran as ranHere } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

const all = commandsOf(new FakeSystem());
const names = all.map((command) => command.name());

/** Some commands, which record their actions in `done`. */
function someCommands(done: string[]) {
  return [
    new LenientCommand('echo')
      .summary('prints a text')
      .description('Prints a text. Prints nothing else. And a third.\n\nExamples:\n  dustpan echo --text=x')
      .option('--text <TEXT>', 'The text. Not set: hello.', text())
      .action(({ text: given = 'hello' }) => void done.push(given)),
    withCluster(new LenientCommand('fail')).action(() =>
      Promise.reject(new Error('listing pods', { cause: new Error('connect\n  refused') })),
    ),
  ];
}

async function ran(
  argv: readonly string[],
  options: { env?: Record<string, string>; program?: string } = {},
) {
  const done: string[] = [];
  return { done, ...(await ranHere(argv, { ...options, commands: someCommands(done) })) };
}

describe('a command', () => {
  test('runs', async () => {
    expect(await ran(['echo', '--text=x'])).toEqual({ done: ['x'], code: 0, out: '', err: '' });
  });

  test('a failure is one line with its causes, and exit code 1', async () => {
    const err = 'dustpan: listing pods: connect refused\n';
    expect(await ran(['fail'])).toMatchObject({ code: 1, out: '', err });
  });

  test('help of an unknown command is bad usage and prints the help to standard error', async () => {
    const { code, out, err } = await ran(['help', 'nothing']);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: dustpan');
  });
});

test.each([
  ['by option', ['fail', '--v=5'], {}, true],
  ['by variable', ['fail'], { DUSTPAN_V: '5' }, true],
  ['not by default', ['fail'], {}, false],
  ['not of bad usage', ['fail', '--v=5', '--nothing'], {}, false],
])('a stack is printed %s', async (_, argv, env, stack) => {
  const { err } = await ran(argv, { env });
  expect(err.includes('\n    at ')).toBe(stack);
});

test.each([
  ['a terminal may have colours', { NO_COLOR: undefined, TERM: 'xterm' }, { NO_COLOR: undefined }],
  ['a dumb terminal has none', { NO_COLOR: undefined, TERM: 'dumb' }, { NO_COLOR: '1' }],
  [
    'an empty variable of ours counts as unset',
    { DUSTPAN_V: '', OTHER: '' },
    { DUSTPAN_V: undefined, OTHER: '' },
  ],
])('environment: %s', (_, variables, expected) => {
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const { env } = currentSystem('dustpan');
  for (const [name, value] of Object.entries(expected)) expect(env[name]).toBe(value);
});

describe('help', () => {
  test.each([[[]], [['-h']], [['help']]])('%j is --help', async (argv) => {
    const { code, out, err } = await ranHere(argv);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe((await ranHere(['--help'])).out);
  });

  test.each([[['echo', '--bad', '--help']], [['help', 'echo']]])(
    '%j prints the help of a command',
    async (argv) => {
      const { code, out } = await ran(argv);
      expect(code).toBe(0);
      expect(out).toContain('--text=TEXT\n        The text. Not set: hello. (env: DUSTPAN_TEXT)');
    },
  );

  test.each(['--bad -h', '-h --help', '--text --help -h'])(
    'echo %s prints the short help: what it does, examples, its own options',
    async (flags) => {
      const argv = ['echo', ...flags.split(' ')];
      expect((await ran(argv)).out).toBe(
        [
          ...['Usage: dustpan echo [options]', '', 'Prints a text. Prints nothing else.', ''],
          ...['Examples:', '  dustpan echo --text=x', ''],
          ...['Options:', '      --text=TEXT  The text.', '', 'dustpan echo --help shows all options.', ''],
        ].join('\n'),
      );
    },
  );

  test('the first of several requests for help counts', async () => {
    expect((await ran(['echo', '--text', '-h', '--help', '-h'])).out).toContain('And a third.');
  });

  test.each(names)('of %s fits 80 columns, and that of the plugin names the plugin', async (name) => {
    const out = (await ranHere([name, '--help'], { program: 'kubectl dustpan' })).out;
    expect(out).not.toMatch(/.{81}/);
    expect(out).toContain(`Usage: kubectl dustpan ${name}`);
    expect(out).not.toMatch(new RegExp(`^  (source <\\()?dustpan (${names.join('|')})\\b`, 'm'));
  });

  test('of the program and of every command is that of the file', async () => {
    const texts: string[] = [];
    const ofCommands = names.flatMap((name) => [`${name} -h`, `${name} --help`]);
    for (const line of ['--help', ...ofCommands]) {
      const { code, out, err } = await ranHere(line.split(' '));
      expect({ code, err }).toEqual({ code: 0, err: '' });
      texts.push(`# dustpan ${line}\n\n${out}`);
    }
    await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/help.txt');
  });
});

test.each([['version'], ['--version']])('%s prints one line', async (word) => {
  const { code, out } = await ranHere([word]);
  expect(code).toBe(0);
  expect(out).toMatch(/^dustpan test \(revision test, node v[\d.]+, \w+\/\w+\)\n$/);
});

test('version is also JSON', async () => {
  const { out } = await ranHere(['version', '-o=json']);
  const nodeVersion = process.version;
  expect(JSON.parse(out)).toMatchObject({ version: 'test', revision: 'test', nodeVersion });
});
