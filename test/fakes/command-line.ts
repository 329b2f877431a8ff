import { vi } from 'vitest';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { Program } from '../../src/commands/cli/program.ts';
import { FakeSystem } from './system.ts';

type Variables = Readonly<Record<string, string>>;

interface Parsable {
  exitOverride(): unknown;
  configureOutput(output: { outputError: () => void }): unknown;
  parse(argv: readonly string[], options: { from: 'user' }): unknown;
}

/** The command after parsing these arguments; throws commander's error. */
export function parsed<C extends Parsable>(command: C, argv: readonly string[], env: Variables = {}): C {
  command.exitOverride();
  command.configureOutput({ outputError: () => undefined });
  withVariables(env, () => command.parse(argv, { from: 'user' }));
  return command;
}

/** Why commander rejects the arguments; undefined when it accepts them. */
export function problemOf(
  command: Parsable,
  argv: readonly string[],
  env: Variables = {},
): string | undefined {
  try {
    parsed(command, argv, env);
    return undefined;
  } catch (err) {
    if (err instanceof Error) return err.message;
    throw err;
  }
}

interface Options {
  readonly env?: Variables;
  readonly program?: string;
  readonly commands?: readonly CommandUnknownOpts[];
}

/** Runs the command line in this process. */
export async function ran(
  argv: readonly string[],
  { env = {}, program = 'dustpan', commands }: Options = {},
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const system = new FakeSystem({ env, program });
  const code = await withVariables(env, () => new Program(system, commands).run(argv));
  return { code, out: system.out, err: system.err };
}

/** Commander reads the variables from the process itself, before it first waits. */
function withVariables<T>(env: Variables, parse: () => T): T {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    return parse();
  } finally {
    vi.unstubAllEnvs();
  }
}
