import { afterEach, describe, expect, test, vi } from 'vitest';
import { Argument } from '@commander-js/extra-typings';
import { currentSystem, withCluster } from '../../../../src/commands/cli/config.ts';
import { exitCode } from '../../../../src/commands/cli/exit.ts';
import { LenientCommand, text } from '../../../../src/commands/cli/option.ts';
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
    new LenientCommand('show')
      .addArgument(new Argument('<KIND>').choices(['pod', 'image']))
      .argument('<NAME>')
      .action((kind, name) => void done.push(`${kind} ${name}`)),
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
  test.each([
    { name: 'runs', argv: ['echo', '--text=x'], done: 'x' },
    { name: 'receives its arguments', argv: ['show', 'pod', 'a'], done: 'pod a' },
  ])('$name', async ({ argv, done }) => {
    expect(await ran(argv)).toEqual({ done: [done], code: 0, out: '', err: '' });
  });

  test.each([
    {
      name: 'an unknown option',
      argv: ['echo', '--test=x'],
      err: "dustpan: echo: unknown option '--test' (Did you mean --text?)\n",
    },
    {
      name: 'an option that resembles one',
      argv: ['echo', '--tex'],
      err: "dustpan: echo: unknown option '--tex' (Did you mean --text?)\n",
    },
    { name: 'too many arguments', argv: ['echo', 'x'], err: /^dustpan: echo: too many arguments/ },
    {
      name: 'a missing argument',
      argv: ['show', 'pod'],
      err: "dustpan: show: missing required argument 'NAME'\n",
    },
    {
      name: 'a wrong argument',
      argv: ['show', 'pods', 'a'],
      err: /^dustpan: show: .*'pods' is invalid.*Allowed choices are pod, image\.\n/,
    },
    { name: 'an unknown command', argv: ['nothing'], err: "dustpan: unknown command 'nothing'\n" },
    {
      name: 'a command that resembles one',
      argv: ['ehco'],
      err: "dustpan: unknown command 'ehco' (Did you mean echo?)\n",
    },
    {
      name: 'an option before the command',
      argv: ['--text=x', 'echo'],
      err: "dustpan: unknown option '--text=x'\n",
    },
  ])('bad usage is one line and exit code 2: $name, $argv', async ({ argv, err }) => {
    const result = await ran(argv);
    expect(result).toMatchObject({ done: [], code: 2, out: '' });
    expect(result.err).toMatch(err);
    expect(result.err.split('\n')).toHaveLength(2);
  });

  test('a failure is one line with its causes, and exit code 1', async () => {
    expect(await ran(['fail'])).toMatchObject({
      code: 1,
      out: '',
      err: 'dustpan: listing pods: connect refused\n',
    });
  });

  test.each([[[]], [['help', 'nothing']]])(
    '%j is bad usage and prints the help to standard error',
    async (argv) => {
      const { code, out, err } = await ran(argv);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain('Usage: dustpan');
    },
  );
});

test.each([
  { name: 'by option', argv: ['fail', '--v=5'], env: {}, stack: true },
  { name: 'by variable', argv: ['fail'], env: { DUSTPAN_V: '5' }, stack: true },
  { name: 'not below', argv: ['fail', '--v=4'], env: {}, stack: false },
  { name: 'not by default', argv: ['fail'], env: {}, stack: false },
  { name: 'not of bad usage', argv: ['fail', '--v=5', '--nothing'], env: {}, stack: false },
  { name: 'not with an invalid level', argv: ['fail', '--v=x'], env: {}, stack: false },
])('a stack is printed $name', async ({ argv, env, stack }) => {
  const { err } = await ran(argv, { env });
  expect(err.includes('\n    at ')).toBe(stack);
});

describe('an empty variable counts as unset', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('if its name begins with DUSTPAN_', () => {
    for (const name of ['DUSTPAN_POD_GC_PERIOD', 'OTHER']) vi.stubEnv(name, '');
    const { env } = currentSystem('dustpan');
    expect([env['DUSTPAN_POD_GC_PERIOD'], env['OTHER']]).toEqual([undefined, '']);
  });
});

describe('help', () => {
  test.each([['-h'], ['help']])('%s is --help', async (word) => {
    expect(await ranHere([word])).toEqual(await ranHere(['--help']));
  });

  test.each([[['echo', '--help']], [['echo', '--bad', '--help']], [['help', 'echo']]])(
    '%j prints the help of a command',
    async (argv) => {
      const { code, out } = await ran(argv);
      expect(code).toBe(0);
      expect(out).toContain('--text=TEXT\n        The text. Not set: hello. (env: DUSTPAN_TEXT)');
    },
  );

  test.each([
    { argv: ['echo', '-h'] },
    { argv: ['echo', '--bad', '-h'] },
    { argv: ['echo', '-h', '--help'] },
    { argv: ['echo', '--text', '--help', '-h'] },
  ])('$argv prints the short help: what it does, examples, its own options', async ({ argv }) => {
    expect((await ran(argv)).out).toBe(
      [
        ...['Usage: dustpan echo [options]', '', 'Prints a text. Prints nothing else.', ''],
        ...['Examples:', '  dustpan echo --text=x', ''],
        ...['Options:', '      --text=TEXT  The text.', '', 'dustpan echo --help shows all options.', ''],
      ].join('\n'),
    );
  });

  test.each([
    { argv: ['echo', '--help', '-h'], text: 'And a third.' },
    { argv: ['echo', '--text', '-h', '--help'], text: 'And a third.' },
  ])('$argv prints the whole help', async ({ argv, text: whole }) => {
    expect((await ran(argv)).out).toContain(whole);
  });

  test('of the program has every exit status', async () => {
    const { out } = await ranHere(['--help']);
    const [, text = ''] = /Exit status: ([^]*)$/.exec(out) ?? [];
    expect(text.match(/\d/g)).toEqual(Object.values(exitCode).map(String));
  });

  const pages = ['dustpan', 'kubectl dustpan'].flatMap((program) => [
    ...[[], ...names].map((name) => ({ program, argv: [name, '--help'].flat() })),
    ...names.map((name) => ({ program, argv: [name, '-h'] })),
  ]);
  test.each(pages)('$program $argv fits 80 columns and names the program', async ({ program, argv }) => {
    const { out } = await ranHere(argv, { program });
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(out).toContain(`Usage: ${program} `);
    const calls =
      out.match(
        new RegExp(`(?<=^  (?:source <\\()?)(?:kubectl )?dustpan (?=(?:${names.join('|')})\\b)`, 'gm'),
      ) ?? [];
    expect(new Set(calls).size).toBe(argv.length === 1 ? 0 : 1);
    expect(calls.filter((call) => call !== `${program} `)).toEqual([]);
  });

  test('of the program and of every command is that of the file', async () => {
    const texts: string[] = [];
    for (const argv of [
      ['--help'],
      ...names.flatMap((name) => [
        [name, '-h'],
        [name, '--help'],
      ]),
    ]) {
      const { code, out, err } = await ranHere(argv);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      texts.push(`# dustpan ${argv.join(' ')}\n\n${out}`);
    }
    await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/help.txt');
  });
});

describe('version', () => {
  test.each([[['version']], [['--version']]])('%j is one line', async (argv) => {
    const { code, out } = await ranHere(argv);
    expect(code).toBe(0);
    expect(out).toMatch(/^dustpan test \(revision test, node v[\d.]+, \w+\/\w+\)\n$/);
  });

  test('is also JSON and YAML', async () => {
    const { out } = await ranHere(['version', '-o=json']);
    expect(JSON.parse(out)).toMatchObject({
      version: 'test',
      revision: 'test',
      nodeVersion: process.version,
    });
    expect((await ranHere(['version', '--output=yaml'])).out).toContain('revision: test\n');
  });
});
