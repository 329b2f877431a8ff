import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test.each([
  { script: 'scripts/image.ts', arg: '--help', line: "image: Unknown option '--help'" },
  { script: 'scripts/plugin.ts', arg: '--bogus', line: "plugin: Unknown option '--bogus'" },
  { script: 'test/bench/podgc.ts', arg: '--pods', line: "podgc: Option '--pods <value>' argument missing" },
])('$script $arg: one line of what is wrong, and 2', ({ script, arg, line }) => {
  const command = [script, arg];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: `${line}\n` });
});
