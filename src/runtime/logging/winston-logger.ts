import { createLogger as createWinston, format, transports, type Logger as Winston } from 'winston';
import { systemClock, type Clock } from '../scheduling/clock.ts';
import { plainFields } from './fields.ts';
import type { Logger } from './logger.ts';
import { printable } from '../text/printable.ts';
import { writeAll } from '../write-sync.ts';

type LogFormat = 'json' | 'text';

export interface LoggerOptions {
  readonly format: LogFormat;
  /** Like `--v`: 0 errors and warnings, 2 also changes (the default), 4 also why objects are kept, 5 also stacks of errors. */
  readonly verbosity: number;
  /** Writes one line with its line feed; default: to standard output, synchronously. */
  readonly write?: (line: string) => void;
  readonly clock?: Clock;
}

type Level = 'error' | 'warn' | 'info' | 'debug';

/** klog's `v` of each level; a level without one is always written. */
const verbosityOf = { error: undefined, warn: undefined, info: 2, debug: 4 } as const;

const stackVerbosity = 5;

/** Creates a logger that writes one line per entry, also right before a crash. */
export function createLogger(options: LoggerOptions): Logger {
  const { write = writeStdout } = options;
  const winston = createWinston({
    level: winstonLevel(options.verbosity),
    format: unchanged(),
    // Own `log`: winston's transports emit an event for each line from a timer.
    transports: [
      new transports.Console({
        log: ({ message }: { readonly message: string }, done) => {
          write(`${message}\n`);
          done();
        },
      }),
    ],
  });
  return loggerOf(winston, options);
}

/** The message already is the whole line. */
const unchanged = format((info) => info);

function winstonLevel(verbosity: number): string {
  if (verbosity >= stackVerbosity) return 'silly';
  if (verbosity >= verbosityOf.debug) return 'debug';
  return verbosity >= verbosityOf.info ? 'info' : 'warn';
}

/** `name` is the field `logger` of its lines; undefined = they have none. */
function loggerOf(winston: Winston, options: LoggerOptions, name?: string): Logger {
  const log = (level: Level) => (fields: object, msg: string) => {
    if (!winston.isLevelEnabled(level)) return;
    winston.log(level, lineOf({ level, logger: name, msg, fields }, options));
  };
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    named: (part) => loggerOf(winston, options, name === undefined ? part : `${name}.${part}`),
  };
}

interface Entry {
  readonly level: Level;
  readonly logger: string | undefined;
  readonly msg: string;
  readonly fields: object;
}

function lineOf(entry: Entry, { format: style, verbosity, clock = systemClock }: LoggerOptions): string {
  const { level, logger, msg } = entry;
  const head = { ts: clock.now().toISOString(), level, v: verbosityOf[level], logger, msg };
  const tail = tailOf(entry.fields, verbosity);
  return printable(style === 'json' ? jsonLine(head, tail) : textLine(head, tail));
}

function tailOf(fields: object, verbosity: number): Record<string, unknown> {
  const plain = plainFields(fields);
  if (!('err' in plain)) return plain;
  const { err, ...others } = plain;
  return { ...others, err, stack: verbosity >= stackVerbosity ? stackOf(fields) : undefined };
}

/** The head is first in the line and overrides a field of the same name. */
function jsonLine(head: object, tail: Readonly<Record<string, unknown>>): string {
  for (const key in tail) if (key in head) return JSON.stringify({ ...head, ...tail, ...head });
  const [first, rest] = [JSON.stringify(head), JSON.stringify(tail)];
  // Joins the two texts: cheaper than merging the objects for each line.
  return rest === '{}' ? first : `${first.slice(0, -1)},${rest.slice(1)}`;
}

interface LineHead {
  readonly ts: string;
  readonly level: string;
  readonly logger: string | undefined;
  readonly msg: string;
}

/** One line in text format: `<time> INFO podgc: deleting pod pod=a/b reason=Terminated`. */
function textLine({ ts, level, logger, msg }: LineHead, fields: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${word(key)}=${word(value)}`);
  const origin = logger === undefined ? '' : `${logger}: `;
  return [ts, level.toUpperCase().padEnd(5), `${origin}${oneLine(msg)}`, ...words].join(' ');
}

function word(value: unknown): string {
  const text = typeof value === 'string' ? value : reference(value);
  return text !== undefined && /^[\w.:/@%+*-]+$/.test(text) ? text : JSON.stringify(text ?? value);
}

function reference(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('namespace' in value))
    return undefined;
  const { namespace, name } = value;
  if (typeof name !== 'string') return undefined;
  return typeof namespace === 'string' ? `${namespace}/${name}` : name;
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ');

function stackOf(fields: object): string | undefined {
  return 'err' in fields && fields.err instanceof Error ? fields.err.stack : undefined;
}

function writeStdout(line: string): void {
  try {
    writeAll(1, line);
  } catch {
    // A log that cannot be written (disk full, descriptor closed) must not stop the work.
  }
}
