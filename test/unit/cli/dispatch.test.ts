import { describe, expect, test } from 'vitest';
import type { Command } from '../../../src/cli/command.ts';
import { commands } from '../../../src/cli/commands.ts';
import { logFlags } from '../../../src/cli/controller-flags.ts';
import { dispatch } from '../../../src/cli/dispatch.ts';
import { envName } from '../../../src/cli/flags.ts';
import { stringFlag } from '../../../src/cli/flag-types.ts';
import { FakeSystem } from '../../fakes/system.ts';

const about = { description: 'Says something.', environment: [], examples: [] };

const echoText = stringFlag({ name: 'text', default: 'hello', help: 'What to say.' });

const echo: Command = {
  ...about,
  name: 'echo',
  summary: 'says something',
  flags: [echoText],
  run: (line, { stdout }) => {
    stdout(`${line.value(echoText)}\n`);
    return Promise.resolve(0);
  },
};

const fail: Command = {
  ...about,
  name: 'fail',
  summary: 'fails',
  flags: Object.values(logFlags),
  run: () => Promise.reject(new Error('listing pods', { cause: new Error('connect\n  refused') })),
};

const ask: Command = {
  ...about,
  name: 'ask',
  summary: 'asks',
  operands: ['pod|image', 'NAME'],
  flags: [],
  run: ({ args }, { stdout }) => {
    if (args.includes('fails')) return Promise.reject(new Error('it fails'));
    stdout(`${args.join(' ')}\n`);
    return Promise.resolve(0);
  },
};

interface Options {
  readonly env?: Record<string, string>;
  readonly from?: readonly Command[];
  readonly program?: string;
}

async function ran(
  argv: readonly string[],
  { env = {}, from = [echo, fail, ask], program = 'dustpan' }: Options = {},
) {
  const system = new FakeSystem({ env, program });
  const code = await dispatch(from, argv, system);
  return { code, out: system.out, err: system.err };
}

describe('a command', () => {
  test.each([
    { name: 'runs', argv: ['echo', '--text=x'], expected: { code: 0, out: 'x\n', err: '' } },
    {
      name: 'a problem with a flag is bad usage',
      argv: ['echo', '--test=x'],
      expected: { code: 2, out: '', err: 'dustpan: echo: unknown flag --test, did you mean --text?\n' },
    },
    {
      name: 'no argument is expected',
      argv: ['echo', 'x y'],
      expected: { code: 2, out: '', err: 'dustpan: echo: unexpected argument "x y"\n' },
    },
    {
      name: 'what may be the value of an unknown flag is not told as well',
      argv: ['echo', '--test', 'x'],
      expected: { code: 2, out: '', err: 'dustpan: echo: unknown flag --test, did you mean --text?\n' },
    },
    {
      name: 'an operand is missing',
      argv: ['ask'],
      expected: {
        code: 2,
        out: '',
        err: 'dustpan: ask: pod|image is missing\ndustpan: ask: NAME is missing\n',
      },
    },
    {
      name: 'an operand is none of the words it may be',
      argv: ['ask', 'pods', 'a'],
      expected: {
        code: 2,
        out: '',
        err: 'dustpan: ask: "pods" is none of pod, image, did you mean pod?\n',
      },
    },
    {
      name: 'an operand is nothing like a word it may be',
      argv: ['ask', 'node', 'a'],
      expected: { code: 2, out: '', err: 'dustpan: ask: "node" is none of pod, image\n' },
    },
    { name: 'has its operands', argv: ['ask', 'pod', 'a'], expected: { code: 0, out: 'pod a\n', err: '' } },
    {
      name: 'a failure is one line with its causes',
      argv: ['fail'],
      expected: { code: 1, out: '', err: 'dustpan: listing pods: connect refused\n' },
    },
    {
      name: 'unknown',
      argv: ['ohec'],
      expected: { code: 2, out: '', err: 'dustpan: unknown command "ohec", see dustpan --help\n' },
    },
    {
      name: 'unknown, but near',
      argv: ['ehco'],
      expected: { code: 2, out: '', err: 'dustpan: unknown command "ehco", did you mean echo?\n' },
    },
    {
      name: 'unknown, one letter off',
      argv: ['ech'],
      expected: { code: 2, out: '', err: 'dustpan: unknown command "ech", did you mean echo?\n' },
    },
    {
      name: 'none',
      argv: [],
      expected: {
        code: 2,
        out: '',
        err: 'dustpan: no command given (echo, fail, ask), see dustpan --help\n',
      },
    },
    {
      name: 'a flag before it',
      argv: ['--text=x', 'echo'],
      expected: {
        code: 2,
        out: '',
        err: 'dustpan: --text=x must come after the command, see dustpan --help\n',
      },
    },
  ])('$name', async ({ argv, expected }) => {
    expect(await ran(argv)).toEqual(expected);
  });
});

describe('a stack', () => {
  test.each([
    { name: 'by flag', argv: ['fail', '--v=5'], env: {}, stack: true },
    { name: 'by variable', argv: ['fail'], env: { DUSTPAN_V: '5' }, stack: true },
    { name: 'not below', argv: ['fail', '--v=4'], env: {}, stack: false },
    { name: 'not by default', argv: ['fail'], env: {}, stack: false },
    { name: 'not of bad usage', argv: ['echo', '--v=5'], env: {}, stack: false },
  ])('$name', async ({ argv, env, stack }) => {
    const { err } = await ran(argv, { env });
    expect(err.includes('\n    at ')).toBe(stack);
  });

  test.each([
    { argv: ['fail', '--v=x'], env: {}, line: 'fail: --v: "x" is not a whole number' },
    { argv: ['fail', '-v=x'], env: {}, line: 'fail: -v: "x" is not a whole number' },
    { argv: ['fail', '-v'], env: {}, line: 'fail: -v needs a value: -v=N' },
    { argv: ['fail'], env: { DUSTPAN_V: 'x' }, line: 'fail: DUSTPAN_V: "x" is not a whole number' },
    { argv: ['no'], env: { DUSTPAN_V: '11' }, line: 'unknown command "no", see dustpan --help' },
    { argv: ['ask', 'pod', 'fails'], env: { DUSTPAN_V: 'x' }, line: 'it fails' },
  ])('is not asked for by a bad verbosity: $argv, $env', async ({ argv, env, line }) => {
    expect((await ran(argv, { env })).err).toBe(`dustpan: ${line}\n`);
  });
});

describe('help', () => {
  test.each([['--help'], ['-h'], ['help']])('%s lists the commands', async (word) => {
    const { code, out } = await ran([word], { from: commands });
    expect(code).toBe(0);
    for (const { name, summary } of commands)
      expect(out).toMatch(new RegExp(`^ {4}${name} +${summary}$`, 'm'));
  });

  test.each([[['echo', '--help']], [['echo', '--bad', '-h']], [['help', 'echo']]])(
    '%j explains the command',
    async (argv) => {
      const { code, out } = await ran(argv);
      expect(code).toBe(0);
      expect(out).toContain('dustpan echo - says something');
      expect(out).toContain('What to say. (default hello; env DUSTPAN_TEXT)');
    },
  );

  test.each(commands.map((command) => ({ command, name: command.name })))(
    '$name: every flag is in it',
    async ({ command }) => {
      const { out } = await ran([command.name, '--help'], { from: commands });
      for (const flag of command.flags) {
        expect(out).toContain(`--${flag.name}`);
        expect(out.replaceAll(/\s+/g, ' ')).toContain(`env ${envName(flag)})`);
      }
    },
  );

  test('every default is a valid value', () => {
    const flags = commands.flatMap((command) => command.flags);
    expect(flags.filter((flag) => 'problem' in flag.parse(flag.default))).toEqual([]);
  });
});

describe('as a plugin of kubectl', () => {
  test.each([
    { argv: [], says: 'see kubectl dustpan --help' },
    { argv: ['nothing'], says: 'see kubectl dustpan --help' },
    { argv: ['--x'], says: 'see kubectl dustpan --help' },
  ])('$argv', async ({ argv, says }) => {
    expect((await ran(argv, { program: 'kubectl dustpan' })).err).toContain(says);
  });
});

describe('version', () => {
  test.each([[['version']], [['--version']]])('%j is one line', async (argv) => {
    const { out } = await ran(argv, { from: commands });
    expect(out).toMatch(/^dustpan test \(revision test, node v[\d.]+, \w+\/\w+\)\n$/);
  });

  test('for a machine', async () => {
    const { out } = await ran(['version', '-o', 'json'], { from: commands });
    expect(JSON.parse(out)).toMatchObject({
      version: 'test',
      revision: 'test',
      nodeVersion: process.version,
    });
    expect((await ran(['version', '--output=yaml'], { from: commands })).out).toContain('revision: test\n');
  });
});
