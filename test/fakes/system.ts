import type { Variables } from '../../src/cli/flags.ts';
import type { System } from '../../src/cli/system.ts';

/** A process whose output is kept. */
export class FakeSystem implements System {
  readonly env: Variables;
  readonly #files: Readonly<Record<string, string>>;
  out = '';
  err = '';

  constructor({ env = {}, files = {} }: { env?: Variables; files?: Record<string, string> } = {}) {
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
