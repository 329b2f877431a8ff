import type { CommandLine, FlagTable } from './flags.ts';
import type { System } from './system.ts';

/** One subcommand. `run` loads what it needs by itself, so that no face pays for another's libraries. */
export interface Command {
  readonly name: string;
  /** Half a sentence, lower case. */
  readonly summary: string;
  readonly description: string;
  /**
   * What must follow the command besides flags, by the names the help gives it: `DIR`. Written as `a|b` it must be one of these words. Completion
   * knows these names, and those of flags' values: FILE and SOCKET, DIR and DIRECTORY.
   */
  readonly operands?: readonly string[];
  readonly flags: FlagTable;
  /** Variables beyond the flags' own. */
  readonly environment: readonly { readonly name: string; readonly help: string }[];
  readonly examples: readonly { readonly what: string; readonly line: string }[];
  /** Resolves with the exit code; throws UsageError for what the caller did wrong. */
  run(line: CommandLine, system: System): Promise<number>;
}
