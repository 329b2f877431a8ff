import type { Flag } from './flag-types.ts';
import { nearest } from '../runtime/nearest.ts';

/** The flags of one command. */
export type FlagTable = readonly Flag<unknown>[];

export type Variables = Readonly<Record<string, string | undefined>>;

/** A command line taken apart. Before `value` is asked, `problems` must be empty, or the flag be readable. */
export interface CommandLine {
  /** `--help` was given. */
  readonly help: boolean;
  /** What is no flag. */
  readonly args: readonly string[];
  /** One sentence each. */
  readonly problems: readonly string[];
  readonly value: <T>(flag: Flag<T>) => T;
  /** Whether `value` may be asked in spite of problems: this flag has none. */
  readonly isReadable: (flag: Flag<unknown>) => boolean;
  /** Whether it stands on the command line itself, which wins over the environment. */
  readonly isGiven: (flag: Flag<unknown>) => boolean;
}

/** `DUSTPAN_KUBE_API_QPS` for `kube-api-qps`. */
export const envName = ({ name }: Pick<Flag<unknown>, 'name'>): string =>
  `DUSTPAN_${name.toUpperCase().replaceAll('-', '_')}`;

/** Reads flags from the words of the command line, else from the environment, else from their defaults; the last of several wins. */
export function parseFlags(table: FlagTable, argv: readonly string[], env: Variables): CommandLine {
  const words = readWords(table, argv);
  const given = (flag: Flag<unknown>) => words.given.get(flag.name) ?? fromEnvironment(flag, env);
  const parsed = table.map((flag) => problemOf(flag, given(flag))).filter((problem) => problem !== undefined);
  return {
    help: words.help,
    args: words.args,
    problems: [...words.problems, ...parsed],
    isGiven: ({ name }) => words.given.has(name),
    isReadable: (flag) => problemOf(flag, given(flag)) === undefined,
    value: (flag) => {
      const result = flag.parse(given(flag)?.text ?? flag.default);
      if ('problem' in result) throw new Error(`--${flag.name}: ${result.problem}`);
      return result.value;
    },
  };
}

interface Given {
  readonly text: string;
  /** Where it was written: `--v` or the name of the variable. */
  readonly source: string;
}

/** An empty variable is an unset one: charts write those. */
function fromEnvironment(flag: Flag<unknown>, env: Variables): Given | undefined {
  const source = envName(flag);
  const text = env[source];
  return text === undefined || text === '' ? undefined : { text, source };
}

function problemOf(flag: Flag<unknown>, given: Given | undefined): string | undefined {
  if (given === undefined) return undefined;
  const result = flag.parse(given.text);
  return 'problem' in result ? `${given.source}: ${result.problem}` : undefined;
}

interface Words {
  readonly given: Map<string, Given>;
  readonly args: string[];
  readonly problems: string[];
  help: boolean;
}

function readWords(table: FlagTable, argv: readonly string[]): Words {
  const words: Words = { given: new Map(), args: [], problems: [], help: false };
  const queue = [...argv];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === '--') words.args.push(...queue.splice(0));
    else if (word === '--help' || word === '-h') words.help = true;
    else if (/^-./.test(word)) readFlag(word, { table, queue, words });
    else words.args.push(word);
  }
  return words;
}

interface Reading {
  readonly table: FlagTable;
  readonly queue: string[];
  readonly words: Words;
}

function readFlag(word: string, { table, queue, words }: Reading): void {
  const [, dashes = '', name = '', , inline] = /^(--?)([^=]*)(=([^]*))?$/.exec(word) ?? [];
  const source = `${dashes}${name}`;
  const flag = table.find((candidate) => (dashes === '--' ? candidate.name : candidate.short) === name);
  if (flag === undefined) {
    words.problems.push(unknownFlag(source, table));
    return;
  }
  const text = inline ?? (flag.placeholder === '' ? 'true' : valueAfter(queue));
  if (text === undefined) words.problems.push(`${source} needs a value: ${source}=${flag.placeholder}`);
  else words.given.set(flag.name, { text: withEarlier(text, flag, words), source });
}

/** The last of several wins, but for a flag that may be given several times. */
function withEarlier(text: string, { name, many }: Flag<unknown>, { given }: Words): string {
  const earlier = given.get(name)?.text;
  return many === undefined || earlier === undefined ? text : `${earlier}\n${text}`;
}

/** A negative number is a value, though it begins with a dash. */
function valueAfter(queue: string[]): string | undefined {
  return queue[0] === undefined || /^-\D/.test(queue[0]) ? undefined : queue.shift();
}

function unknownFlag(source: string, table: FlagTable): string {
  const names = table.map(({ name }) => `--${name}`);
  const guess = nearest(source, [...names, '--help']);
  return `unknown flag ${source}${guess === undefined ? '' : `, did you mean ${guess}?`}`;
}
