import { expect, test } from 'vitest';
import { commandsOf } from '../../../src/commands/cli/program.ts';
import { FakeSystem } from '../../fakes/system.ts';
import { firstCells, partOf, referencePage } from './page.ts';

const page = referencePage('cli.md');
const commands = commandsOf(new FakeSystem()).map((command) => ({ name: command.name(), command }));

test('the page lists every command', () => {
  expect(firstCells(page.replaceAll('[`', '`'), 'Command')).toEqual(commands.map(({ name }) => name));
});

const options = commands.flatMap(({ name, command }) => command.options.map((option) => ({ name, option })));

test.each(options)('dustpan $name $option.long', ({ name, option }) => {
  const { long = '', envVar = '', description, defaultValueDescription, helpGroupHeading = '' } = option;
  const part = partOf(page, `dustpan ${name}`);
  const title = helpGroupHeading.replace(':', '');
  const group = part.includes(`[${title}](#`) ? partOf(page, title) : part;
  const row = group.split('\n').find((line) => line.startsWith('| `-') && isOf(line, long));
  expect(row).toContain(envVar);
  expect(row).toContain(description.replaceAll('|', '\\|'));
  if (defaultValueDescription !== undefined)
    expect(row).toMatch(new RegExp(`\\| \`[^|]*${defaultValueDescription}[^|]*\` \\|`));
});

const isOf = (line: string, option: string): boolean =>
  line.includes(`\`${option}\``) || line.includes(`\`${option}=`);

test('options of several commands are listed once', () => {
  for (const option of ['--kubeconfig=', '--as-group=', '--cri-socket=', '--metrics-bind-address='])
    expect(page.split('\n').filter((line) => line.startsWith(`| \`${option}`))).toHaveLength(1);
});
