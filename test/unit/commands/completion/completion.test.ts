import { describe, expect, test } from 'vitest';
import { Argument, Command } from '@commander-js/extra-typings';
import { candidatesText, completionOf } from '../../../../src/commands/completion/completion.ts';
import { choice, LenientCommand, list, onOff, text } from '../../../../src/commands/cli/option.ts';
import { commandsOf } from '../../../../src/commands/cli/program.ts';
import { ran } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

const help = 'What it does. And more.';
const command = (name: string) =>
  new LenientCommand(name)
    .summary(`${name}s`)
    .option('--policy <FILE>', help, list)
    .option('--snapshot <DIRECTORY>', help, text())
    .option('--now <TIME>', help, text())
    .option('--kept [true|false]', help, onOff, false)
    .addOption(choice('-o, --output <FORMAT>', help, ['table', 'json', 'yaml']));
const table = new Command()
  .addCommand(command('plan'))
  .addCommand(command('pack').argument('<DIR>'))
  .addCommand(
    command('why')
      .addArgument(new Argument('<KIND>').choices(['pod', 'image']))
      .argument('<NAME>'),
  );

/** The offered words, and the names that the shell adds. */
function completed(...words: readonly string[]) {
  const { candidates, names } = completionOf(table, words);
  return { words: candidates.map(({ word }) => word), names };
}

const isNothing = { words: [], names: 'none' };
const allFlags = ['--policy', '--snapshot', '--now', '--kept', '--output', '--help'];

describe('words', () => {
  test.each([
    { name: 'no word', line: [''], expected: ['plan', 'pack', 'why', 'help'] },
    { name: 'the start of a command', line: ['p'], expected: ['plan', 'pack'] },
    { name: 'a flag instead of a command', line: ['-'], expected: ['--help', '--version'] },
    { name: 'help of a command', line: ['help', 'w'], expected: ['why'] },
    { name: 'flags', line: ['plan', '-'], expected: allFlags },
    { name: 'the start of a flag', line: ['plan', '--no'], expected: ['--now'] },
    {
      name: 'a flag that is given',
      line: ['plan', '--kept', '--k'],
      expected: [],
    },
    {
      name: 'a flag that is given in its short form',
      line: ['plan', '-o', 'json', '--out'],
      expected: [],
    },
    {
      name: 'a flag that can be repeated',
      line: ['plan', '--policy=a', '--po'],
      expected: ['--policy'],
    },
    { name: 'the value of a flag', line: ['plan', '--output', ''], expected: ['table', 'json', 'yaml'] },
    { name: 'the value of a short flag', line: ['plan', '-o', 'j'], expected: ['json'] },
    { name: 'the value after =', line: ['plan', '--output=y'], expected: ['yaml'] },
    { name: 'the value after a short flag and =', line: ['plan', '-o=t'], expected: ['table'] },
    { name: 'the value of a switch', line: ['plan', '--kept='], expected: ['true', 'false'] },
    {
      name: 'an operand after a switch, which takes no next word',
      line: ['why', '--kept', ''],
      expected: ['pod', 'image'],
    },
    { name: 'an operand', line: ['why', ''], expected: ['pod', 'image'] },
    {
      name: 'an operand after flags and values',
      line: ['why', '-o', 'json', '--now=x', 'i'],
      expected: ['image'],
    },
    { name: 'an operand after --', line: ['why', '--', 'p'], expected: ['pod'] },
    { name: 'flags after operands', line: ['why', 'pod', 'a/b', '--ke'], expected: ['--kept'] },
  ])('$name', ({ line, expected }) => {
    expect(completed(...line)).toEqual({ words: expected, names: 'none' });
  });

  test.each([
    { name: 'a file', line: ['plan', '--policy', ''], names: 'files' },
    { name: 'a file after =', line: ['plan', '--policy=po'], names: 'files' },
    { name: 'a directory', line: ['plan', '--snapshot', 's'], names: 'directories' },
    { name: 'a directory as operand', line: ['pack', ''], names: 'directories' },
  ])('$name', ({ line, names }) => {
    expect(completed(...line)).toEqual({ words: [], names });
  });

  test.each([
    { name: 'an unknown command', line: ['prune', ''] },
    { name: 'an unknown flag', line: ['plan', '--nothing='] },
    { name: 'a free text', line: ['plan', '--now', ''] },
    { name: 'the name of an object', line: ['why', 'pod', ''] },
    { name: 'one operand too many', line: ['pack', 'a', ''] },
    { name: 'a flag after --', line: ['pack', '--', 'a', '--'] },
    { name: 'help of two commands', line: ['help', 'why', ''] },
  ])('offers nothing: $name', ({ line }) => {
    expect(completed(...line)).toEqual(isNothing);
  });
});

describe('the output for a shell', () => {
  test.each([
    {
      name: 'candidates with their descriptions',
      line: ['plan', '--k'],
      expected: '--kept\tWhat it does\n:4\n',
    },
    { name: 'files', line: ['plan', '--policy', ''], expected: ':0\n' },
    { name: 'directories', line: ['pack', ''], expected: ':16\n' },
    { name: 'nothing', line: ['plan', ''], expected: ':4\n' },
  ])('$name', ({ line, expected }) => {
    expect(candidatesText(completionOf(table, line))).toBe(expected);
  });
});

describe('the real commands', () => {
  const completedBy = async (...words: readonly string[]): Promise<string> =>
    (await ran(['__complete', ...words])).out;

  const commands = commandsOf(new FakeSystem()).map((one) => ({ name: one.name(), options: one.options }));
  test.each(commands)('$name is completed, and each of its flags', async ({ name, options }) => {
    expect(await completedBy(name.slice(0, -1))).toMatch(new RegExp(`^${name}\t`, 'm'));
    const out = await completedBy(name, '--');
    for (const { long = '' } of options) expect(out).toMatch(new RegExp(`^${long}\t.+$`, 'm'));
  });
});
