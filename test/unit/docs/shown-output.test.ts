import { expect, test } from 'vitest';
import { shownCommands } from '../../shown-output.ts';
import { textOf } from './pages.ts';

const commands = shownCommands(textOf('docs/getting-started.md'));

test('Getting started shows the output of each command, except of builds of the program', () => {
  const without = commands.filter(({ shown }) => shown === undefined).map(({ script }) => script);
  expect(without).toEqual([expect.stringContaining('npm run build')]);
});
