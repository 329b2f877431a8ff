import type { Argument, CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { exitCode } from '../../src/commands/cli/exit.ts';
import { code, heading, page, table } from './markdown.ts';

/** docs/reference/cli.md. */
export function cliPage(commands: readonly CommandUnknownOpts[]): string {
  return page('Command line', 'src/commands', [
    'The same texts as `dustpan COMMAND --help`. An option is written `--option=value` or `--option value`, a switch `--option` or `--option=false`; the last of',
    'several wins. Each option can be set by the variable in its row: the command line wins over it, and an empty variable counts as unset.',
    ...table(
      ['Command', ''],
      commands.map((command) => [`[${code(command.name())}](#dustpan-${command.name()})`, command.summary()]),
    ),
    ...table(
      ['Exit status', ''],
      [
        [String(exitCode.ok), 'success, whatever was found'],
        [String(exitCode.failure), 'failure'],
        [String(exitCode.usage), 'bad usage or input'],
        [
          String(exitCode.found),
          'only with `--exit-code`: `plan` would remove something, `status` found a problem',
        ],
      ],
    ),
    '',
    'Each error is one line on standard error; only `--v=5` prints stacks.',
    'Started as `kubectl-dustpan`, which is how kubectl finds its plugins, every command is also `kubectl dustpan COMMAND`.',
    ...commands.flatMap(commandSection),
  ]);
}

function commandSection(command: CommandUnknownOpts): readonly string[] {
  const [about = '', examples = ''] = command.description().split('\n\nExamples:\n');
  const operands = command.registeredArguments;
  return [
    ...heading(2, `dustpan ${command.name()}`),
    about,
    ...block(`dustpan ${command.name()} ${command.usage()}`),
    ...(operands.length > 0 ? table(['Argument', ''], operands.map(argumentRow)) : []),
    ...table(['Option', 'Default', 'Variable', ''], [...command.options.map(optionRow), helpRow]),
    ...block(examples.replaceAll(/^ {2}/gm, '')),
  ];
}

const argumentRow = (argument: Argument): readonly string[] => [
  code(argument.name()),
  `${argument.description}${choicesText(argument)}`,
];

function optionRow(option: Option): readonly string[] {
  const { short, long = '', flags, required, envVar = '' } = option;
  const value = required ? `=${/<(.+)>$/.exec(flags)?.[1] ?? ''}` : '';
  const forms = [short ?? '', `${long}${value}`].filter(Boolean);
  return [
    forms.map(code).join(', '),
    code(defaultOf(option)),
    code(envVar),
    `${option.description}${choicesText(option)}`,
  ];
}

function defaultOf({
  defaultValue,
  defaultValueDescription,
}: {
  defaultValue?: unknown;
  defaultValueDescription?: string;
}): string {
  if (defaultValueDescription !== undefined) return defaultValueDescription;
  return defaultValue === undefined ? '' : JSON.stringify(defaultValue).replaceAll('"', '');
}

const choicesText = ({ argChoices }: Pick<Option, 'argChoices'>): string =>
  argChoices === undefined ? '' : ` One of ${argChoices.map(code).join(', ')}.`;

const helpRow = ['`-h`, `--help`', '', '', 'Show the help.'];

const block = (lines: string): readonly string[] => ['', '```sh', lines, '```'];
