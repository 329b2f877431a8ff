import type { Argument, CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { exitCode } from '../../src/process/exit.ts';
import { ownGroup } from '../../src/process/help.ts';
import { code, heading, page, table } from './markdown.ts';

/** docs/reference/cli.md. */
export function cliPage(commands: readonly CommandUnknownOpts[]): string {
  const shared = sharedGroups(commands);
  return page('Command line', 'src/commands', [
    'The same texts as `dustpan COMMAND --help`; `-h` shows fewer. An option is written `--option=value` or `--option value`, a switch `--option` or `--option=false`; the last of',
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
    ...commands.flatMap((command) => commandSection(command, shared)),
    ...shared.flatMap(groupSection),
  ]);
}

/** Options that several commands have. */
interface Group {
  readonly title: string;
  readonly members: readonly { readonly command: string; readonly options: readonly Option[] }[];
}

function sharedGroups(commands: readonly CommandUnknownOpts[]): readonly Group[] {
  const titles = new Set(commands.flatMap(({ options }) => options.map(titleOf)));
  const groups = [...titles].map((title) => ({
    title,
    members: commands
      .map((command) => ({
        command: command.name(),
        options: command.options.filter((one) => titleOf(one) === title),
      }))
      .filter(({ options }) => options.length > 0),
  }));
  return groups.filter(({ title, members }) => title !== titleText(ownGroup) && members.length > 1);
}

const titleText = (heading: string): string => heading.replace(/:$/, '');
const titleOf = ({ helpGroupHeading = ownGroup }: Option): string => titleText(helpGroupHeading);

/** Each option once, by its name. */
const optionsOf = ({ members }: Group): ReadonlyMap<string, Option> =>
  new Map(members.flatMap(({ options }) => options).map((one) => [one.long ?? '', one]));

function groupSection(group: Group): readonly string[] {
  const names = group.members.map(({ command }) => `[${code(command)}](#dustpan-${command})`);
  const rows = [...optionsOf(group)].map(([name, option]) =>
    optionRow(option, sharedDefault(name, group) ?? defaultOf(option)),
  );
  return [
    ...heading(2, group.title),
    `Options of ${names.join(', ')}.`,
    ...table(['Option', 'Default', 'Variable', ''], rows),
  ];
}

/** The defaults by command; undefined where all have the same. */
function sharedDefault(name: string, { members }: Group): string | undefined {
  const defaults = members.flatMap(({ command, options }) =>
    options.filter(({ long }) => long === name).map((one) => ({ command, text: defaultOf(one) })),
  );
  if (new Set(defaults.map(({ text }) => text)).size === 1) return undefined;
  return defaults.map(({ command, text }) => `${text} (${command})`).join(', ');
}

/** Links to a group, naming the options where the command has only some. */
function groupLink(command: CommandUnknownOpts, group: Group): readonly string[] {
  const own = group.members.find((one) => one.command === command.name());
  if (own === undefined) return [];
  const anchor = group.title.toLowerCase().replaceAll(' ', '-');
  const isPart = own.options.length < optionsOf(group).size;
  const names = own.options.map(({ long = '' }) => code(long)).join(', ');
  return [`[${group.title}](#${anchor})${isPart ? ` (only ${names})` : ''}`];
}

function commandSection(command: CommandUnknownOpts, shared: readonly Group[]): readonly string[] {
  const [about = '', examples = ''] = command.description().split('\n\nExamples:\n');
  const operands = command.registeredArguments;
  const own = command.options.filter((one) => !shared.some(({ title }) => title === titleOf(one)));
  const links = shared.flatMap((group) => groupLink(command, group));
  return [
    ...heading(2, `dustpan ${command.name()}`),
    about,
    ...block(`dustpan ${command.name()} ${command.usage()}`),
    ...(operands.length > 0 ? table(['Argument', ''], operands.map(argumentRow)) : []),
    ...table(
      ['Option', 'Default', 'Variable', ''],
      [...own.map((one) => optionRow(one, defaultOf(one))), helpRow],
    ),
    ...(links.length > 0 ? ['', `Also the options of ${links.join(', ')}.`] : []),
    ...block(examples.replaceAll(/^ {2}/gm, '')),
  ];
}

const argumentRow = (argument: Argument): readonly string[] => [
  code(argument.name()),
  `${argument.description}${choicesText(argument)}`,
];

function optionRow(option: Option, byDefault: string): readonly string[] {
  const { short, long = '', flags, required, envVar = '' } = option;
  const value = required ? `=${/<(.+)>$/.exec(flags)?.[1] ?? ''}` : '';
  const forms = [short ?? '', `${long}${value}`].filter(Boolean);
  return [
    forms.map(code).join(', '),
    code(byDefault),
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

const helpRow = ['`-h`, `--help`', '', '', 'Show the most common options, or all with --help.'];

const block = (lines: string): readonly string[] => ['', '```sh', lines, '```'];
