import { errorLine } from '../runtime/errors.ts';
import { nearest } from '../runtime/nearest.ts';
import { printable, printableLines } from '../runtime/printable.ts';
import type { Command } from './command.ts';
import { candidatesText, completionOf } from './completion.ts';
import { logFlags } from './controller-flags.ts';
import { exitCode, problemLine, UsageError } from './exit.ts';
import { parseFlags } from './flags.ts';
import { completeWord } from './invocation.ts';
import { operandProblems } from './operands.ts';
import type { System } from './system.ts';
import { commandHelp, overview } from './usage.ts';

/** Runs the command that the first word names and resolves with the exit code; whatever goes wrong is one line each on standard error. */
export async function dispatch(
  commands: readonly Command[],
  argv: readonly string[],
  system: System,
): Promise<number> {
  try {
    return await run(commands, argv, system);
  } catch (err) {
    return complain(err, argv, system);
  }
}

/** The lines of `err` on standard error, with its stack only at `--v=5`; the exit code that goes with it. */
export function complain(err: unknown, argv: readonly string[], { stderr, env }: System): number {
  const usage = err instanceof UsageError;
  const lines = usage ? err.problems : [errorLine(err)];
  for (const line of lines) stderr(problemLine(line));
  const { isReadable, value } = parseFlags([logFlags.verbosity], argv, env);
  const wantsStack = isReadable(logFlags.verbosity) && value(logFlags.verbosity) >= 5;
  if (wantsStack && err instanceof Error && !usage) stderr(`${stackText(err)}\n`);
  return usage ? exitCode.usage : exitCode.failure;
}

/** The lines of a stack are Node's, those of the message in it are anybody's. */
const stackText = ({ stack = '', message }: Error): string =>
  printableLines(stack.replace(message, () => printable(message)));

async function run(commands: readonly Command[], argv: readonly string[], system: System): Promise<number> {
  const [word = '', ...rest] = withoutAliases(argv);
  const said = textOf(commands, { word, rest, program: system.program });
  if (said !== undefined) {
    system.stdout(said);
    return exitCode.ok;
  }
  const command = commands.find(({ name }) => name === word);
  if (command === undefined) throw new UsageError([noCommand(word, commands, system.program)]);
  return runCommand(command, rest, system);
}

interface Asked {
  readonly word: string;
  readonly rest: readonly string[];
  readonly program: string;
}

/** What is no command but an answer. */
function textOf(commands: readonly Command[], { word, rest, program }: Asked): string | undefined {
  if (word === '--help') return overview(commands, program);
  return word === completeWord ? candidatesText(completionOf(commands, rest)) : undefined;
}

async function runCommand(command: Command, argv: readonly string[], system: System): Promise<number> {
  const line = parseFlags(command.flags, argv, system.env);
  if (line.help) {
    system.stdout(commandHelp(command, system.program));
    return exitCode.ok;
  }
  const problems = [...line.problems, ...operandProblems(command, line)];
  if (problems.length > 0) throw new UsageError(problems.map((problem) => `${command.name}: ${problem}`));
  return command.run(line, system);
}

/** What people try: `help`, `help COMMAND`, `-h`, `--version`. */
function withoutAliases([word, ...rest]: readonly string[]): readonly string[] {
  if (word === 'help') return rest[0] === undefined ? ['--help'] : [rest[0], '--help'];
  if (word === '-h') return ['--help'];
  return word === undefined ? [] : [word === '--version' ? 'version' : word, ...rest];
}

function noCommand(word: string, commands: readonly Command[], program: string): string {
  const names = commands.map(({ name }) => name);
  if (word === '') return `no command given (${names.join(', ')}), see ${program} --help`;
  if (word.startsWith('-')) return `${word} must come after the command, see ${program} --help`;
  const guess = nearest(word, names);
  const hint = guess === undefined ? `see ${program} --help` : `did you mean ${guess}?`;
  return `unknown command ${JSON.stringify(word)}, ${hint}`;
}
