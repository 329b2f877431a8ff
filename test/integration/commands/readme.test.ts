import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { missingLines } from '../../shown-output.ts';
import { dustpan, examples } from './plan/fixture.ts';

const example = join(examples, 'image-disk-full');
const offline = [`--snapshot=${join(example, 'snapshot')}`, `--policy=${join(example, 'policy.json')}`];

/** `$ dustpan …` and the output below it. */
const shown = [...readFileSync('README.md', 'utf8').matchAll(/^```\n\$ dustpan (.*)\n([\s\S]*?)^```$/gm)].map(
  ([, command = '', output = '']) => ({ command, output }),
);

test('README shows `dustpan top disk`, a plan, and an explanation', () => {
  expect(shown.map(({ command }) => command.split(' ')[0])).toEqual(['top', 'plan', 'why']);
  const tables = readFileSync('test/unit/commands/top/__snapshots__/top.txt', 'utf8');
  for (const { command, output } of shown)
    if (command.startsWith('top ')) expect(missingLines(output, tables)).toEqual([]);
});

// `top` has no snapshot directories.
test.each(shown.filter(({ command }) => !command.startsWith('top ')))(
  'README shows the output of `dustpan $command`',
  async ({ command, output }) => {
    // Of a snapshot: what the policy would do, instead of what it will do.
    const words = output.replace('agents will make', 'agents would make');
    const { stdout } = await dustpan([...command.split(' '), ...offline, '--now=2026-01-15T12:00:00Z']);
    expect(missingLines(words, stdout)).toEqual([]);
  },
);
