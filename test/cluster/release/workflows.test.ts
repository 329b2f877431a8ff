import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../repository.ts';
import { runCommand } from '../servers/command.ts';

const { DUSTPAN_BED_BIN: bin = '' } = process.env;
const folder = join(repositoryRoot(), '.github', 'workflows');

test('actionlint finds nothing wrong with the workflows', async () => {
  const files = readdirSync(folder).map((name) => join(folder, name));
  // Without other linters of scripts, which a machine may have or not.
  const command = [join(bin, 'actionlint'), '-shellcheck=', '-pyflakes=', ...files];
  expect(await runCommand(command)).toEqual({ code: 0, stdout: '', stderr: '' });
});
