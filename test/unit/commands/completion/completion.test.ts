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
    .option('-k, --kept [true|false]', help, onOff, false)
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

const allFlags = ['--policy', '--snapshot', '--now', '--kept', '--output', '--help'];

describe('words', () => {
  test.each([
    ['no word', [''], ['plan', 'pack', 'why', 'help']],
    ['the start of a command', ['p'], ['plan', 'pack']],
    ['a flag instead of a command', ['-'], ['--help', '--version']],
    ['help of a command', ['help', 'w'], ['why']],
    ['flags', ['plan', '-'], allFlags],
    ['the start of a flag', ['plan', '--no'], ['--now']],
    ['a flag that is given', ['plan', '--kept', '--k'], []],
    ['a flag that is given in its short form', ['plan', '-o', 'json', '--out'], []],
    ['a flag that can be repeated', ['plan', '--policy=a', '--po'], ['--policy']],
    ['the value of a flag', ['plan', '--output', ''], ['table', 'json', 'yaml']],
    ['the value of a short flag', ['plan', '-o', 'j'], ['json']],
    ['the value of the last flag of a group', ['plan', '-ko', 'j'], ['json']],
    ['the value after =', ['plan', '--output=y'], ['yaml']],
    ['the value after a short flag and =', ['plan', '-o=t'], ['table']],
    ['the value of a switch', ['plan', '--kept='], ['true', 'false']],
    ['an operand after a switch, which takes no next word', ['why', '--kept', ''], ['pod', 'image']],
    ['an operand', ['why', ''], ['pod', 'image']],
    ['an operand after flags and values', ['why', '-o', 'json', '--now=x', 'i'], ['image']],
    ['an operand after --', ['why', '--', 'p'], ['pod']],
    ['flags after operands', ['why', 'pod', 'a/b', '--ke'], ['--kept']],
  ])('%s', (_, line, expected) => {
    expect(completed(...line)).toEqual({ words: expected, names: 'none' });
  });

  test.each([
    ['a file', 'plan --policy ', 'files'],
    ['a file after =', 'plan --policy=po', 'files'],
    ['a directory', 'plan --snapshot s', 'directories'],
    ['a directory as operand', 'pack ', 'directories'],
    ['an unknown command', 'prune ', 'none'],
    ['an unknown flag', 'plan --nothing=', 'none'],
    ['a free text', 'plan --now ', 'none'],
    ['the name of an object', 'why pod ', 'none'],
    ['one operand too many', 'pack a ', 'none'],
    ['a flag after --', 'pack -- a --', 'none'],
    ['help of two commands', 'help why ', 'none'],
  ])('offers no word for %s', (_, line, names) => {
    expect(completed(...line.split(' '))).toEqual({ words: [], names });
  });
});

describe('names of objects', () => {
  const objectsOf = (line: string) => completionOf(objects, line.split(' ')).objects;
  const objects = new Command().addCommand(
    new LenientCommand('why')
      .addArgument(new Argument('<KIND>').choices(['pod', 'image']))
      .argument('[NAME...]')
      .option('--context <NAME>', help, text())
      .option('-n, --namespace <NAMESPACE>', help, text())
      .option('--node <NODES>', help, text())
      .option('--node-name <NAME>', help, text()),
  );

  test.each([
    ['why pod a', { kind: 'pod', namespace: undefined, before: '', start: 'a' }],
    ['why Pods web/a', { kind: 'pod', namespace: 'web', before: 'web/', start: 'a' }],
    ['why pod/a', { kind: 'pod', namespace: undefined, before: 'pod/', start: 'a' }],
    ['why node ', { kind: 'node', namespace: undefined, before: '', start: '' }],
    ['why --context=a', { kind: 'context', before: '', start: 'a' }],
    ['why -n ', { kind: 'namespace', before: '', start: '' }],
    ['why --node a,b', { kind: 'node', before: 'a,', start: 'b' }],
    ['why --node-name ', { kind: 'node', before: '', start: '' }],
    ['why image a', undefined],
    ['why pod a b', undefined],
    ['why pod', undefined],
  ])('%s', (line, expected) => {
    expect(objectsOf(line)).toEqual(expected);
  });
});

describe('the output for a shell', () => {
  test.each([
    ['candidates with their descriptions', ['plan', '--k'], '--kept\tWhat it does\n:4\n'],
    ['files', ['plan', '--policy', ''], ':0\n'],
    ['directories', ['pack', ''], ':16\n'],
    ['nothing', ['plan', ''], ':4\n'],
  ])('%s', (_, line, expected) => {
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
