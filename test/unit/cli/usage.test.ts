import { describe, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import type { Command } from '../../../src/cli/command.ts';
import { commandHelp, overview } from '../../../src/cli/usage.ts';

const names = commands.map(({ name }) => name).join('|');
const programs = ['dustpan', 'kubectl dustpan'];

/** Every page of help, by what it is called for. */
const pages = programs.flatMap((program) => [
  { name: `${program} --help`, program, page: overview(commands, program) },
  ...commands.map((command) => ({
    name: `${program} ${command.name} --help`,
    program,
    page: commandHelp(command, program),
  })),
]);

describe.each(pages)('$name', ({ page, program }) => {
  test('fits 80 columns', () => {
    expect(page.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('calls the program what it was called', () => {
    const calls = page.match(new RegExp(`(?:kubectl )?\\bdustpan (?=(?:${names})\\b)`, 'g')) ?? [];
    expect(new Set(calls)).toEqual(page.includes('SEE ALSO') ? new Set() : new Set([`${program} `]));
  });
});

const command: Command = {
  name: 'x',
  summary: 'does something',
  description: 'Does it.',
  operands: ['DIR'],
  flags: [],
  environment: [],
  examples: [
    { what: 'short?', line: 'dustpan x -o json | dustpan x --in=-' },
    {
      what: 'long',
      line: 'dustpan x dir --first-flag=with-a-value --second-flag=with-another-value --third=3 --fourth=4',
    },
  ],
  run: () => Promise.resolve(0),
};

test('a long example is one command in several lines', () => {
  const [, long = ''] = commandHelp(command, 'kubectl dustpan').split('long:\n');
  expect(long.split('\n').slice(0, 3)).toEqual([
    '        kubectl dustpan x dir --first-flag=with-a-value \\',
    '          --second-flag=with-another-value --third=3 --fourth=4',
    '',
  ]);
});

test('each call in a pipe is renamed, and a question is its own title', () => {
  expect(commandHelp(command, 'kubectl dustpan')).toContain(
    '    short?\n        kubectl dustpan x -o json | kubectl dustpan x --in=-',
  );
});

test('a page has the parts of a man page, without those that are empty', () => {
  const titles = commandHelp(command, 'dustpan').match(/^[A-Z ]+$/gm);
  expect(titles).toEqual([
    'NAME',
    'SYNOPSIS',
    'DESCRIPTION',
    'OPTIONS',
    'ENVIRONMENT',
    'EXAMPLES',
    'EXIT STATUS',
  ]);
});
