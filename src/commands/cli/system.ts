import { readFileSync } from 'node:fs';
import { writeAll } from '../../runtime/write-sync.ts';

/** What a command may touch of the process it runs in. */
export interface System {
  /** What it was started as: `dustpan` or `kubectl dustpan`. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Set by the command that ran. */
  exitCode: number;
  /** undefined when the file cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/** The real process. Output is written before the call returns, so that nothing is lost at exit. */
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
  stdout: (text) => {
    writeAll(1, text);
  },
  stderr: (text) => {
    writeAll(2, text);
  },
});

/** Loads what runs a command, which resolves with the exit code: only the command that was given is loaded. */
export type Load<A extends readonly unknown[]> = () => Promise<(...args: A) => Promise<number>>;
