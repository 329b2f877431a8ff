import type { Command } from './command.ts';
import { envName, type FlagTable } from './flags.ts';
import type { Flag } from './flag-types.ts';

const width = 96;

/** `dustpan --help`: the commands. */
export function overview(commands: readonly Command[]): string {
  const longest = Math.max(...commands.map(({ name }) => name.length));
  const list = commands.map(({ name, summary }) => `${name.padEnd(longest)}  ${summary}`);
  return page([
    ['NAME', ['dustpan - policy-driven garbage collection for Kubernetes']],
    ['SYNOPSIS', ['dustpan COMMAND [--flag=value]...']],
    ['COMMANDS', list],
    ['EXIT STATUS', exitStatus],
    ['SEE ALSO', ['dustpan COMMAND --help']],
  ]);
}

/** `dustpan COMMAND --help`, laid out as a man page. */
export function commandHelp(command: Command): string {
  const { name, summary, description, operands = [], flags, environment, examples } = command;
  return page([
    ['NAME', [`dustpan ${name} - ${summary}`]],
    ['SYNOPSIS', [['dustpan', name, ...operands, '[--flag=value]...'].join(' ')]],
    ['DESCRIPTION', wrap(description)],
    ['OPTIONS', optionLines(flags)],
    ['ENVIRONMENT', environmentLines(environment)],
    ['EXAMPLES', examples.flatMap(({ what, line }) => [`${what}:`, `    ${line}`])],
    ['EXIT STATUS', exitStatus],
  ]);
}

const exitStatus = ['0  all is well', '1  failure', '2  bad usage or input'];

function page(sections: readonly (readonly [string, readonly string[]])[]): string {
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [title, ...lines.map((line) => `    ${line}`.trimEnd()), ''].join('\n'))
    .join('\n');
}

function optionLines(flags: FlagTable): string[] {
  return [...flags.flatMap(optionOf), '-h, --help', ...indent(['Show this page.'])];
}

function optionOf(flag: Flag<unknown>): string[] {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  const long = `--${flag.name}`;
  const value = flag.placeholder === '' ? '[=true|false]' : `=${flag.placeholder}`;
  const facts = [flag.default === '' ? '' : `default ${flag.default}`, `env ${envName(flag)}`].filter(
    Boolean,
  );
  return [`${short}${long}${value}`, ...indent(wrap(`${flag.help} (${facts.join('; ')})`))];
}

function environmentLines(environment: Command['environment']): string[] {
  const flagRule =
    'Each flag can be set by the variable shown with it; the command line wins, an empty variable is none.';
  return [...wrap(flagRule), ...environment.flatMap(({ name, help }) => [name, ...indent(wrap(help))])];
}

const indent = (lines: readonly string[]): string[] => lines.map((line) => `    ${line}`);

function wrap(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines.splice(-1, 1, word);
    else if (line.length + 1 + word.length > width - 8) lines.push(word);
    else lines.splice(-1, 1, `${line} ${word}`);
  }
  return lines;
}
