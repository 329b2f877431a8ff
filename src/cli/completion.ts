import type { Command } from './command.ts';
import type { Flag } from './flag-types.ts';
import { choicesOf } from './operands.ts';

interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/** What may stand where the cursor is: these words, and names of files or directories where they are wanted. */
interface Completion {
  readonly candidates: readonly Candidate[];
  readonly names: 'none' | 'files' | 'directories';
}

const none: Completion = { candidates: [], names: 'none' };

/** How the last of `words`, which may be empty, can go on; the words are those after `dustpan`, and the value alone is told of `--flag=value`. */
export function completionOf(commands: readonly Command[], words: readonly string[]): Completion {
  const [current = '', ...before] = words.toReversed();
  const [word, ...rest] = before.toReversed();
  if (word === undefined) return firstWord(commands, current);
  if (word === 'help') return rest.length === 0 ? only(commandNames(commands), current) : none;
  const command = commands.find(({ name }) => name === word);
  return command === undefined ? none : argument(command, rest, current);
}

function firstWord(commands: readonly Command[], current: string): Completion {
  const help = { word: 'help', about: 'shows what a command does' };
  const all = [...commandNames(commands), help];
  return only(current.startsWith('-') ? [helpFlag, { word: '--version' }] : all, current);
}

const commandNames = (commands: readonly Command[]): readonly Candidate[] =>
  commands.map(({ name, summary }) => ({ word: name, about: summary }));

/** What is known of the words between the command and the one to be completed. */
interface Given {
  readonly flags: ReadonlySet<string>;
  readonly operands: number;
  /** The flag whose value comes next. */
  readonly open: Flag<unknown> | undefined;
  /** `--` was there: no flags any more. */
  readonly isOver: boolean;
}

function argument(command: Command, words: readonly string[], current: string): Completion {
  const given = words.reduce<Given>((so, word) => afterWord(command, so, word), {
    flags: new Set(),
    operands: 0,
    open: undefined,
    isOver: false,
  });
  if (given.open !== undefined) return valueOf(given.open.placeholder, current);
  if (given.isOver || !current.startsWith('-'))
    return valueOf(command.operands?.[given.operands] ?? '', current);
  return current.includes('=') ? valueBehind(command, current) : only(flagWords(command, given), current);
}

function valueBehind(command: Command, current: string): Completion {
  const [name = '', ...value] = current.split('=');
  const flag = flagOf(command, name);
  if (flag === undefined) return none;
  return valueOf(flag.placeholder === '' ? 'true|false' : flag.placeholder, value.join('='));
}

function afterWord(command: Command, given: Given, word: string): Given {
  if (given.open !== undefined) return { ...given, open: undefined };
  if (given.isOver || !/^-./.test(word)) return { ...given, operands: given.operands + 1 };
  if (word === '--') return { ...given, isOver: true };
  const flag = flagOf(command, word.split('=')[0] ?? '');
  if (flag === undefined) return given;
  const open = word.includes('=') || flag.placeholder === '' ? undefined : flag;
  return { ...given, open, flags: new Set([...given.flags, flag.name]) };
}

const flagOf = ({ flags }: Command, written: string): Flag<unknown> | undefined =>
  flags.find(
    ({ name, short }) => written === `--${name}` || (short !== undefined && written === `-${short}`),
  );

/** Each flag in its long form; one that is there already only if it may be there again. */
function flagWords({ flags }: Command, given: Given): readonly Candidate[] {
  const left = flags.filter(({ name, many }) => many === true || !given.flags.has(name));
  return [...left.map(({ name, help }) => ({ word: `--${name}`, about: firstSentence(help) })), helpFlag];
}

const helpFlag: Candidate = { word: '--help', about: 'Show the help' };

const firstSentence = (text: string): string => /^.*?(?=[.;](\s|$)|$)/.exec(text)?.[0] ?? '';

/** By the name that the help gives a value or an operand. */
function valueOf(placeholder: string, current: string): Completion {
  if (placeholder === 'FILE' || placeholder === 'SOCKET') return { candidates: [], names: 'files' };
  if (placeholder === 'DIR' || placeholder === 'DIRECTORY') return { candidates: [], names: 'directories' };
  return only(choicesOf(placeholder)?.map((word) => ({ word })) ?? [], current);
}

const only = (candidates: readonly Candidate[], current: string): Completion => ({
  candidates: candidates.filter(({ word }) => word.startsWith(current)),
  names: 'none',
});

/** What the last line says to shells and to kubectl: cobra's ShellCompDirectiveDefault, …NoFileComp and …FilterDirs. */
const directives = { files: 0, none: 4, directories: 16 } as const;

/** A candidate a line, behind a tab what it is; at last a colon and what else the shell may offer (github.com/spf13/cobra, its `__complete`). */
export const candidatesText = ({ candidates, names }: Completion): string =>
  [
    ...candidates.map(({ word, about }) => (about === undefined ? word : `${word}\t${about}`)),
    `:${directives[names]}\n`,
  ].join('\n');
