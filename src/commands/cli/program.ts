import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { errorLine } from '../../runtime/errors.ts';
import { printable, printableLines } from '../../runtime/text/printable.ts';
import { agentCommand } from '../../daemon/agent/command.ts';
import { completionCommand } from '../completion/command.ts';
import { controllerCommand } from '../../daemon/controller/command.ts';
import { withMissingRight } from '../../process/denied.ts';
import { exitCode, problemLine, UsageError } from '../../process/exit.ts';
import { helpOf } from '../../process/help.ts';
import { isTemplate } from '../../process/output.ts';
import { planCommand } from '../plan/command.ts';
import { reportCommand } from '../report/command.ts';
import { snapshotCommand } from '../snapshot/command.ts';
import { statusCommand } from '../status/command.ts';
import type { System } from '../../process/system.ts';
import { topCommand } from '../top/command.ts';
import { unpinCommand } from '../unpin/command.ts';
import { suggestCommand } from '../suggest/command.ts';
import { versionCommand, versionLine } from '../version/command.ts';
import { whyCommand } from '../why/command.ts';

/** The first word of a completion request of shells and kubectl. */
export const completeWord = '__complete';

const inCluster = 'Run by the cluster:';

/** The commands of `dustpan`, in the order of the help. Each loads its runner on demand, so that no process loads the libraries of another command. */
export const commandsOf = (system: System): readonly CommandUnknownOpts[] => [
  planCommand(system, async () => (await import('../plan/plan.ts')).runPlan),
  whyCommand(system, async () => (await import('../why/why.ts')).runWhy),
  statusCommand(system, async () => (await import('../status/status.ts')).runStatus),
  topCommand(system, async () => (await import('../top/top.ts')).runTop),
  suggestCommand(system, async () => (await import('../suggest/suggest.ts')).runSuggest),
  reportCommand(system, async () => (await import('../report/report.ts')).runReport),
  snapshotCommand(system, async () => (await import('../snapshot/snapshot.ts')).runSnapshot),
  unpinCommand(system, async () => (await import('../unpin/unpin.ts')).runUnpin),
  completionCommand(system),
  versionCommand(system),
  controllerCommand(
    system,
    async () => (await import('../../daemon/controller/controller.ts')).runController,
  ).helpGroup(inCluster),
  agentCommand(system, async () => (await import('../../daemon/agent/agent.ts')).runAgent).helpGroup(
    inCluster,
  ),
];

export class Program {
  readonly #system: System;
  readonly #root: CommandUnknownOpts;

  constructor(system: System, commands: readonly CommandUnknownOpts[] = commandsOf(system)) {
    this.#system = system;
    this.#root = rootCommand(system, commands);
  }

  /** Runs the command that the first word names and resolves with the exit code. */
  async run(argv: readonly string[]): Promise<number> {
    const [first, ...words] = argv;
    try {
      if (first === completeWord) await this.#complete(words);
      else await this.#root.parseAsync(first === undefined ? ['--help'] : [...argv], { from: 'user' });
      return this.#system.exitCode;
    } catch (err) {
      // Commander has printed the help or the version.
      if (err instanceof CommanderError) return err.exitCode === 0 ? exitCode.ok : exitCode.usage;
      return this.report(err);
    }
  }

  async #complete(words: readonly string[]): Promise<void> {
    const { candidatesText, completionOf } = await import('../completion/completion.ts');
    const completion = completionOf(this.#root, words);
    const { objects } = completion;
    const { named } = objects === undefined ? {} : await import('../completion/objects.ts');
    const found = objects && (await named?.(objects, words, this.#system));
    this.#system.stdout(candidatesText(found ?? completion));
  }

  /** Prints the error, with its stack at `--v=5`, and returns its exit code. */
  report(err: unknown): number {
    const isUsage = err instanceof UsageError;
    const lines = isUsage ? err.problems : [withMissingRight(errorLine(err))];
    for (const line of lines)
      this.#system.stderr(problemLine(line === lines.at(-1) && isUsage ? this.#withHelp(line) : line));
    if (!isUsage && err instanceof Error && this.#verbosity() >= 5)
      this.#system.stderr(`${stackText(err)}\n`);
    return isUsage ? exitCode.usage : exitCode.failure;
  }

  /** Appends how to get the help of the command that the problem names; a problem of a file names none. */
  #withHelp(problem: string): string {
    const command = this.#commandOf(problem.split(': ', 1)[0]);
    return command === undefined
      ? problem
      : `${problem.replace(/\.$/, '')}; see ${this.#system.program} ${command.name()} -h`;
  }

  #commandOf(name: string | undefined): CommandUnknownOpts | undefined {
    return this.#root.commands.find((command) => command.name() === name);
  }

  #verbosity(): number {
    const command = this.#commandOf(this.#root.args[0]);
    return Number(command?.getOptionValue('v') ?? 0);
  }
}

/** The message in a stack may contain control characters; the lines below it do not. */
const stackText = ({ stack = '', message }: Error): string =>
  printableLines(stack.replace(message, () => printable(message)));

function rootCommand(system: System, commands: readonly CommandUnknownOpts[]): CommandUnknownOpts {
  const { program, stdout, stderr } = system;
  const root: CommandUnknownOpts = new Command(program)
    .description('Policy-driven garbage collection for Kubernetes.')
    .version(versionLine(), '--version', 'Print the version.')
    .helpOption('-h, --help', 'Show the help.')
    .helpCommand('help [COMMAND]', 'shows the help of a command')
    .enablePositionalOptions()
    // Errors are reported once, by Program.
    .configureOutput({ writeOut: stdout, writeErr: stderr, outputError: () => undefined })
    .addHelpText(
      'after',
      '\nExit status: 0 success, whatever was found; 1 failure; 2 bad usage or input;\n3 with --exit-code: plan would remove something, or status found a problem.',
    )
    .exitOverride()
    .hook('preAction', async (_, command) => await checkOutput(command));
  for (const command of commands) {
    command
      .copyInheritedSettings(root)
      .configureHelp(helpOf(program))
      .helpOption('-h, --help', 'Show the most common options, or all with --help.')
      .exitOverride(usageError(`${command.name()}: `));
    root.addCommand(command);
  }
  return root.exitOverride(usageError('', `; see ${program} -h`));
}

/** A bad template is refused before anything is read. */
async function checkOutput(command: CommandUnknownOpts): Promise<void> {
  const { output } = command.opts();
  if (typeof output !== 'string' || !isTemplate(output)) return;
  const { printerOf } = await import('../../process/template.ts');
  try {
    printerOf(output);
  } catch (err) {
    throw err instanceof UsageError ? new UsageError([`${command.name()}: ${err.message}`]) : err;
  }
}

/** Converts commander's errors to UsageErrors. */
function usageError(before: string, after = ''): (err: CommanderError) => never {
  return (err) => {
    if (/^commander\.(help|version)/.test(err.code)) throw err;
    const hint = /argument '(jsonpath-|custom-columns-|go-template)/.test(err.message)
      ? ' For more, use -o json | jq.'
      : '';
    throw new UsageError([before + err.message.replace(/^error: /, '') + hint + after]);
  };
}
