import type { Logger } from '../../src/runtime/logging/logger.ts';

interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly logger: string;
  readonly message: string;
  readonly fields: object;
}

/** Keeps the lines of itself and of its named children. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[];
  readonly #name: string;

  constructor(name = '', lines: LogLine[] = []) {
    this.#name = name;
    this.lines = lines;
  }

  debug(fields: object, message: string): void {
    this.#add('debug', fields, message);
  }

  info(fields: object, message: string): void {
    this.#add('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#add('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#add('error', fields, message);
  }

  named(name: string): RecordingLogger {
    return new RecordingLogger(this.#name === '' ? name : `${this.#name}.${name}`, this.lines);
  }

  #add(level: LogLine['level'], fields: object, message: string): void {
    this.lines.push({ level, logger: this.#name, message, fields });
  }
}
