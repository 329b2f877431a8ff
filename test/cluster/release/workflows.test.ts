import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../repository.ts';
import { runCommand } from '../servers/command.ts';

const { DUSTPAN_BED_BIN: bin = '' } = process.env;
const folder = join(repositoryRoot(), '.github', 'workflows');
const actionlint = (input: string, ...files: readonly string[]) =>
  // Without other linters of scripts, which a machine may have or not.
  runCommand([join(bin, 'actionlint'), '-shellcheck=', '-pyflakes=', ...files], { input });

test('actionlint finds nothing wrong with the workflows', async () => {
  const files = readdirSync(folder).map((name) => join(folder, name));
  expect(await actionlint('', ...files)).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('it would find an unknown key', async () => {
  const workflow = 'on: push\njobs: {a: {runs-on: ubuntu-24.04, stepz: []}}\n';
  expect(await actionlint(workflow, '-')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('stepz') as string,
  });
});
