import { describe, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { envName } from '../../../src/cli/flags.ts';
import { firstCells, partOf, referencePage } from './page.ts';

const page = referencePage('cli.md');

test('the page lists every command', () => {
  expect(firstCells(page.replaceAll('[`', '`'), 'Command')).toEqual(commands.map(({ name }) => name));
});

describe.each(commands)('dustpan $name', ({ name, flags, examples, description }) => {
  const part = partOf(page, `dustpan ${name}`);

  test.each(flags)('--$name', (flag) => {
    const row = part.split('\n').find((line) => line.startsWith('| `-') && isOf(line, flag.name));
    expect(row).toContain(envName(flag));
    expect(row).toContain(flag.help.replaceAll('|', '\\|'));
    if (flag.default !== '') expect(row).toContain(`| \`${flag.default}\` |`);
  });

  test('is described, with examples', () => {
    expect(part).toContain(description);
    for (const { line } of examples) expect(part).toContain(line);
  });
});

const isOf = (line: string, flag: string): boolean =>
  line.includes(`\`--${flag}\``) || line.includes(`\`--${flag}=`);
