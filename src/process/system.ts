import { readFileSync } from 'node:fs';
import { writeAll } from '../runtime/write-sync.ts';

/** The parts of the process that a command uses. */
export interface System {
  /** The name of the program: `dustpan` or `kubectl dustpan`. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Set by the command that ran. */
  exitCode: number;
  /** undefined when the file cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/** The real process. Output is written synchronously, so that none is lost at exit. */
export const realSystem = (env: System['env'], program: string): System => ({
  program,
  env,
  exitCode: 0,
  readFile: (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  },
  stdout: (text) => writeAll(1, text),
  stderr: (text) => writeAll(2, text),
});

/** Loads the function that runs a command; it resolves with the exit code. */
export type Load<A extends readonly unknown[]> = () => Promise<(...args: A) => Promise<number>>;

/** Aborts at the first SIGTERM or SIGINT; the second one ends the process at once. */
export function stopSignal(onStop: (name: string) => void): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.once(name, () => {
      onStop(name);
      stop.abort();
    });
  return stop.signal;
}
