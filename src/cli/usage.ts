import type { Command } from './command.ts';
import type { Flag } from './flag-types.ts';
import { envName, type FlagTable } from './flags.ts';
import { wrapped } from './text-table.ts';

/** A man page fits any terminal. */
const width = 80;
const margin = '    ';

/** `dustpan --help`: the commands. */
export function overview(commands: readonly Command[], program: string): string {
  const longest = Math.max(...commands.map(({ name }) => name.length));
  const list = commands.map(({ name, summary }) => `${name.padEnd(longest)}  ${summary}`);
  return page([
    ['NAME', [`${program} - policy-driven garbage collection for Kubernetes`]],
    ['SYNOPSIS', [`${program} COMMAND [--flag=value]...`]],
    ['COMMANDS', list],
    ['EXIT STATUS', exitStatus],
    ['SEE ALSO', [`${program} COMMAND --help`]],
  ]);
}

/** `dustpan COMMAND --help`, laid out as a man page; a command line of ours is written as `program` has to be called. */
export function commandHelp(command: Command, program: string): string {
  const { name, summary, description, operands = [], flags, environment, examples } = command;
  const as = (text: string): string => text.replaceAll(ourCommandLines, `${program} `);
  return page([
    ['NAME', filled(`${program} ${name} - ${summary}`, '')],
    ['SYNOPSIS', [[program, name, ...operands, '[--flag=value]...'].join(' ')]],
    ['DESCRIPTION', filled(as(description), '')],
    ['OPTIONS', optionLines(flags, as)],
    ['ENVIRONMENT', environmentLines(environment)],
    [
      'EXAMPLES',
      examples.flatMap(({ what, line }) => [...filled(titleOf(what), ''), ...commandLines(as(line))]),
    ],
    ['EXIT STATUS', exitStatus],
  ]);
}

/** The name of the program where a command follows it, at the start of a line or with flags behind, and not where it is spoken of. */
const ourCommandLines = /(?<=^|\| |\()dustpan |\bdustpan (?=[a-z]+ -)/g;

const exitStatus = ['0  all is well', '1  failure', '2  bad usage or input'];

function page(sections: readonly (readonly [string, readonly string[]])[]): string {
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [title, ...lines.map((line) => `${margin}${line}`.trimEnd()), ''].join('\n'))
    .join('\n');
}

function optionLines(flags: FlagTable, as: (text: string) => string): string[] {
  return [...flags.flatMap((flag) => optionOf(flag, as)), '-h, --help', ...filled('Show this page.', margin)];
}

function optionOf(flag: Flag<unknown>, as: (text: string) => string): string[] {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  const long = `--${flag.name}`;
  const value = flag.placeholder === '' ? '[=true|false]' : `=${flag.placeholder}`;
  const facts = [flag.default === '' ? '' : `default ${flag.default}`, `env ${envName(flag)}`].filter(
    Boolean,
  );
  return [`${short}${long}${value}`, ...filled(`${as(flag.help)} (${facts.join('; ')})`, margin)];
}

function environmentLines(environment: Command['environment']): string[] {
  const flagRule =
    'Each flag can be set by the variable shown with it; the command line wins, an empty variable is none.';
  return [
    ...filled(flagRule, ''),
    ...environment.flatMap(({ name, help }) => [name, ...filled(help, margin)]),
  ];
}

const titleOf = (what: string): string => (what.endsWith('?') ? what : `${what}:`);

/** A command in lines that a shell reads as one: broken before flags and redirections only, so no example may quote one. */
function commandLines(line: string): readonly string[] {
  const roomy = width - 2 * margin.length - ' \\'.length;
  const lines: string[] = [];
  let current = '';
  for (const piece of line.split(/ (?=-|> )/)) {
    if (current !== '' && current.length + 1 + piece.length > roomy) {
      lines.push(`${current} \\`);
      current = `  ${piece}`;
    } else current = current === '' ? piece : `${current} ${piece}`;
  }
  return [...lines, current].map((one) => `${margin}${one}`);
}

/** The text in lines that fit the page, each behind `before`. */
const filled = (text: string, before: string): string[] =>
  wrapped(text, width - margin.length - before.length, '').map((line) => `${before}${line}`);
