import type { Command } from './command.ts';
import { exitCode } from './exit.ts';
import { formatted, outputFlag } from './output.ts';
import { platform, revision, version } from './version.ts';

export const versionCommand: Command = {
  name: 'version',
  summary: 'prints the version',
  description: 'Prints the version of dustpan, the revision it was built from, and what it runs on.',
  flags: [outputFlag],
  environment: [],
  examples: [{ what: 'for a script', line: 'dustpan version -o json' }],
  run: async (line, { stdout }) => {
    const facts = { version, revision, nodeVersion: process.version, platform: platform() };
    const table = () =>
      `dustpan ${version} (revision ${revision}, node ${process.version}, ${facts.platform})\n`;
    stdout(await formatted(line.value(outputFlag), facts, table));
    return exitCode.ok;
  },
};
