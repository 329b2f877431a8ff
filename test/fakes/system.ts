import type { System } from '../../src/process/system.ts';

interface FakeProcess {
  readonly program: string;
  readonly env: System['env'];
  readonly files: Readonly<Record<string, string>>;
}

/** A process whose output is kept. */
export class FakeSystem implements System {
  readonly program: string;
  readonly env: System['env'];
  readonly #files: Readonly<Record<string, string>>;
  exitCode = 0;
  out = '';
  err = '';

  constructor({ env = {}, files = {}, program = 'dustpan' }: Partial<FakeProcess> = {}) {
    this.program = program;
    this.env = env;
    this.#files = files;
  }

  readonly readFile = (path: string): string | undefined => this.#files[path];

  readonly stdout = (text: string): void => {
    this.out += text;
  };

  readonly stderr = (text: string): void => {
    this.err += text;
  };
}
