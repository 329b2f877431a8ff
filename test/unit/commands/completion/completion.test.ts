import { describe, expect, test } from 'vitest';
import { Argument, Command } from '@commander-js/extra-typings';
import { completionOf } from '../../../../src/commands/completion/completion.ts';
import { choice, LenientCommand, list, onOff, text } from '../../../../src/process/option.ts';
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
    ['the start of a command', ['p'], ['plan', 'pack']],
    ['a flag instead of a command', ['-'], ['--help', '--version']],
    ['help of a command', ['help', 'w'], ['why']],
    ['flags', ['plan', '-'], allFlags],
    ['a flag that is given in its short form', ['plan', '-o', 'json', '--out'], []],
    ['a flag that can be repeated', ['plan', '--policy=a', '--po'], ['--policy']],
    ['the value of the last flag of a group', ['plan', '-ko', 'j'], ['json']],
    ['the value after =', ['plan', '--output=y'], ['yaml']],
    ['the value of a switch', ['plan', '--kept='], ['true', 'false']],
    ['an operand after a switch, which takes no next word', ['why', '--kept', ''], ['pod', 'image']],
    ['an operand after flags and values', ['why', '-o', 'json', '--now=x', 'i'], ['image']],
    ['an operand after --', ['why', '--', 'p'], ['pod']],
  ])('%s', (_, line, expected) => {
    expect(completed(...line)).toEqual({ words: expected, names: 'none' });
  });

  test.each([
    ['a file', 'plan --policy ', 'files'],
    ['a directory as operand', 'pack ', 'directories'],
    ['an unknown flag', 'plan --nothing=', 'none'],
    ['the name of an object', 'why pod ', 'none'],
    ['one operand too many', 'pack a ', 'none'],
    ['a flag after --', 'pack -- a --', 'none'],
  ])('offers no word for %s', (_, line, names) => {
    expect(completed(...line.split(' '))).toEqual({ words: [], names });
  });
});

// test/integration/commands/cli/completion-names.test.ts has the others.
test.each([
  ['why image a', { kind: 'image', before: '', start: 'a' }],
  ['why image/a/b:1', { kind: 'image', before: 'image/', start: 'a/b:1' }],
  ['why container a', undefined],
  ['why pod a b', undefined],
  ['why Pods web/a', { kind: 'pod', namespace: 'web', before: 'web/', start: 'a' }],
  ['agent --node-name ', { kind: 'node', before: '', start: '' }],
])('names of objects: %s', (line, objects) => {
  const program = new Command();
  for (const one of commandsOf(new FakeSystem())) program.addCommand(one);
  expect(completionOf(program, line.split(' ')).objects).toEqual(objects);
});

test.each([
  ['top ns --sort-by=', 'bytes layers volumes logs growth pods nodes age name'],
  ['top pods --sort-by ev', 'eviction'],
  // Without a kind, the fields of all.
  ['top --sort-by=l', 'layers logs limit'],
  ['top nodes -o ', 'table wide json yaml name'],
])('values: %s', (line, words) => {
  const program = new Command();
  for (const one of commandsOf(new FakeSystem())) program.addCommand(one);
  const { candidates } = completionOf(program, line.split(' '));
  expect(candidates.map(({ word }) => word)).toEqual(words.split(' '));
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
