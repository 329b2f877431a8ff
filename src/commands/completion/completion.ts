import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { sortFields } from '../top/command.ts';
import { isNamed, list, plainWords } from '../../process/option.ts';

interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/** The possible words at the cursor, and whether the shell adds names of files or directories. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly names: 'none' | 'files' | 'directories';
  /** The names of these objects are candidates, too. */
  readonly objects?: Objects;
}

/** Objects of the kubeconfig, the cluster or a snapshot. */
export interface Objects {
  readonly kind: 'context' | 'cluster' | 'user' | 'namespace' | 'node' | 'pod' | 'image';
  /** Of pods; undefined = the current one. */
  readonly namespace?: string | undefined;
  readonly before: string;
  readonly start: string;
}

const none: Completion = { candidates: [], names: 'none' };

/** Completes the last of the words after `dustpan`, which may be empty. For `--flag=value`, the candidates are values. */
export function completionOf(program: CommandUnknownOpts, words: readonly string[]): Completion {
  const [current = '', ...before] = words.toReversed();
  const [word, ...rest] = before.toReversed();
  if (word === undefined) return firstWord(program, current);
  if (word === 'help') return rest.length === 0 ? only(commandNames(program), current) : none;
  const command = program.commands.find((known) => known.name() === word);
  return command === undefined ? none : argument(command, rest, current);
}

function firstWord(program: CommandUnknownOpts, current: string): Completion {
  const help = { word: 'help', about: 'shows the help of a command' };
  const all = [...commandNames(program), help];
  return only(current.startsWith('-') ? [helpFlag, { word: '--version' }] : all, current);
}

const commandNames = ({ commands }: CommandUnknownOpts): readonly Candidate[] =>
  commands.map((command) => ({ word: command.name(), about: command.summary() }));

/** The words between the command and the cursor. */
interface EarlierWords {
  readonly options: ReadonlySet<Option>;
  readonly operands: readonly string[];
  /** The option whose value is expected. */
  readonly open: Option | undefined;
  /** After `--`, words are operands. */
  readonly isOver: boolean;
}

function argument(command: CommandUnknownOpts, words: readonly string[], current: string): Completion {
  const given = words.reduce<EarlierWords>((so, word) => afterWord(command, so, word), {
    options: new Set(),
    operands: [],
    open: undefined,
    isOver: false,
  });
  if (given.open !== undefined) return valueOf(given.open, current, given.operands);
  if (given.isOver || !current.startsWith('-')) return operand(command, given.operands, current);
  return current.includes('=')
    ? valueBehind(command, current, given.operands)
    : only(optionWords(command, given), current);
}

function operand(
  { registeredArguments }: CommandUnknownOpts,
  operands: readonly string[],
  current: string,
): Completion {
  const expected = registeredArguments[operands.length];
  if (expected === undefined) return none;
  const hasName = registeredArguments.some((argument) => argument.name() === 'NAME');
  const objects = hasName ? namedObject(operands, current) : undefined;
  return objects === undefined
    ? valueOf({ flags: `<${expected.name()}>`, argChoices: expected.argChoices }, current)
    : { ...none, objects };
}

/** A pod or node as `pod NAMESPACE/NAME` or `pod/NAME`, an image as `image NAME` or `image/NAME`. */
function namedObject(operands: readonly string[], current: string): Objects | undefined {
  const [, image] = /^images?[ /](.*)$/i.exec([...operands, current].join(' ')) ?? [];
  if (image !== undefined)
    return { kind: 'image', before: current.slice(0, current.length - image.length), start: image };
  const [, kind, namespace, start = ''] =
    /^(po|no)\w*[ /](?:([^/ ]*)\/)?([^/ ]*)$/i.exec([...operands, current].join(' ')) ?? [];
  if (kind === undefined) return undefined;
  const before = current.slice(0, current.length - start.length);
  return { kind: kind.toLowerCase() === 'po' ? 'pod' : 'node', namespace, before, start };
}

function valueBehind(command: CommandUnknownOpts, current: string, operands: readonly string[]): Completion {
  const [name = '', ...value] = current.split('=');
  const option = command.options.find((known) => isNamed(known, name));
  return option === undefined ? none : valueOf(option, value.join('='), operands);
}

function afterWord({ options }: CommandUnknownOpts, given: EarlierWords, word: string): EarlierWords {
  if (given.open !== undefined) return { ...given, open: undefined };
  if (given.isOver || !/^-./.test(word)) return { ...given, operands: [...given.operands, word] };
  if (word === '--') return { ...given, isOver: true };
  const found = plainWords(options, word).flatMap((plain) => {
    const option = options.find((known) => isNamed(known, plain.split('=')[0] ?? ''));
    return option === undefined ? [] : [{ option, isOpen: !plain.includes('=') }];
  });
  const last = found.at(-1);
  const open = last?.isOpen === true ? last.option : undefined;
  return { ...given, open, options: new Set([...given.options, ...found.map(({ option }) => option)]) };
}

/** Each option in its long form; a given one only if it can be repeated. */
function optionWords({ options }: CommandUnknownOpts, given: EarlierWords): readonly Candidate[] {
  const left = options.filter((option) => option.parseArg === list || !given.options.has(option));
  return [
    ...left.map(({ long = '', description }) => ({ word: long, about: firstSentence(description) })),
    helpFlag,
  ];
}

const helpFlag: Candidate = { word: '--help', about: 'Show the help' };

const firstSentence = (text: string): string => /^.*?(?=[.;:](\s|$)|$)/.exec(text)?.[0] ?? '';

/** Completes a value by its choices, or by its name in the help. */
function valueOf(
  { flags, argChoices }: { flags: string; argChoices?: string[] | undefined },
  current: string,
  operands: readonly string[] = [],
): Completion {
  if (/<(FILE|SOCKET)>$/.test(flags)) return { candidates: [], names: 'files' };
  if (/<(DIR|DIRECTORY)>$/.test(flags)) return { candidates: [], names: 'directories' };
  const objects = valueObjects(flags, current);
  if (objects !== undefined) return { ...none, objects };
  const fields = flags.startsWith('--sort-by ') ? sortFields(operands[0]) : (argChoices ?? []);
  const choices = flags.endsWith('[true|false]') ? ['true', 'false'] : fields;
  return only(
    choices.map((word) => ({ word })),
    current,
  );
}

/** The last of several names is completed. */
function valueObjects(flags: string, current: string): Objects | undefined {
  const kind = optionKinds.find((known) => new RegExp(`--${known}(-name)? <`).test(flags));
  const [start = ''] = /[^,]*$/.exec(current) ?? [];
  return kind && { kind, before: current.slice(0, current.length - start.length), start };
}

const optionKinds = ['context', 'cluster', 'user', 'namespace', 'node'] as const;

export const only = (candidates: readonly Candidate[], current: string): Completion => ({
  candidates: candidates.filter(({ word }) => word.startsWith(current)),
  names: 'none',
});

/** Values of the last line: cobra's ShellCompDirectiveDefault, …NoFileComp and …FilterDirs. */
const directives = { files: 0, none: 4, directories: 16 } as const;

/** One candidate per line with its description after a tab; then a colon and the directive, as in cobra's `__complete`. */
export const candidatesText = ({ candidates, names }: Completion): string =>
  [
    ...candidates.map(({ word, about }) => (about === undefined ? word : `${word}\t${about}`)),
    `:${directives[names]}\n`,
  ].join('\n');
