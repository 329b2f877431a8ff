import { LenientCommand, onOff } from '../../process/option.ts';
import { formatted, outputOption } from '../../process/output.ts';
import type { System } from '../../process/system.ts';
import { platform, revision, version } from '../../runtime/version.ts';

export const versionLine = (): string =>
  `dustpan ${version} (revision ${revision}, node ${process.version}, ${platform()})`;

const about = `Prints the version of dustpan, the revision it was built from, and what it runs on.

Examples:
  # for a script
  dustpan version -o json`;

export const versionCommand = (system: System) =>
  new LenientCommand('version')
    .summary('prints the version')
    .description(about)
    .option(
      '--client [true|false]',
      'Print only the version of this program, as without the option, which kubectl has.',
      onOff,
      true,
    )
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action(async ({ output }) => {
      const facts = { version, revision, nodeVersion: process.version, platform: platform() };
      system.stdout(await formatted(output, facts, () => `${versionLine()}\n`, system));
    });
