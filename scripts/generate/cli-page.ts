import type { Command } from '../../src/cli/command.ts';
import { exitCode } from '../../src/cli/exit.ts';
import type { Flag } from '../../src/cli/flag-types.ts';
import { envName } from '../../src/cli/flags.ts';
import { code, heading, page, table } from './markdown.ts';

/** docs/reference/cli.md: every command as its `--help` has it. */
export function cliPage(commands: readonly Command[]): string {
  return page('Command line', 'src/cli', [
    'The same texts as `dustpan COMMAND --help`. A flag is written `--flag=value` or `--flag value`, a switch `--flag` or `--flag=false`; the last of',
    'several wins. Each flag can be set by the variable in its row: the command line wins over it, and an empty variable is none.',
    ...table(
      ['Command', ''],
      commands.map(({ name, summary }) => [`[${code(name)}](#dustpan-${name})`, summary]),
    ),
    ...table(
      ['Exit status', ''],
      [
        [String(exitCode.ok), 'all is well'],
        [String(exitCode.failure), 'failure'],
        [String(exitCode.usage), 'bad usage or input'],
      ],
    ),
    '',
    'What went wrong is one line each on standard error; only `--v=5` shows stacks.',
    'Started as `kubectl-dustpan`, which is how kubectl finds its plugins, every command is also `kubectl dustpan COMMAND`.',
    ...commands.flatMap(commandSection),
  ]);
}

function commandSection(command: Command): readonly string[] {
  const { name, description, operands = [], flags, environment, examples } = command;
  return [
    ...heading(2, `dustpan ${name}`),
    description,
    ...block('sh', [['dustpan', name, ...operands, '[--flag=value]...'].join(' ')]),
    ...table(['Flag', 'Default', 'Variable', ''], [...flags.map(flagRow), helpRow]),
    ...(environment.length > 0
      ? table(
          ['Variable', ''],
          environment.map((one) => [namesOf(one.name), one.help]),
        )
      : []),
    ...block(
      'sh',
      examples.flatMap(({ what, line }, i) => [...(i > 0 ? [''] : []), `# ${what}`, line]),
    ),
  ];
}

function flagRow(flag: Flag<unknown>): readonly string[] {
  const { short, name, placeholder, default: byDefault, help } = flag;
  const value = placeholder === '' ? '' : `=${placeholder}`;
  const forms = [short === undefined ? '' : `-${short}`, `--${name}${value}`].filter(Boolean);
  return [forms.map(code).join(', '), code(byDefault), code(envName(flag)), help];
}

const helpRow = ['`-h`, `--help`', '', '', 'Show the help of the command.'];

const namesOf = (names: string): string => names.split(', ').map(code).join(', ');

const block = (language: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', `\`\`\`${language}`, ...lines, '```'];
