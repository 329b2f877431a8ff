import {
  Command,
  InvalidArgumentError,
  Option,
  type OptionValues,
  type OptionValueSource,
} from '@commander-js/extra-typings';
import { parseBindAddress } from '../runtime/serving/bind-address.ts';
import { durationHint, formatDuration, parseDuration } from '../runtime/text/duration.ts';

/** The values of the options of the command that `Make` returns. */
export type OptionsOf<Make extends (...args: never[]) => { opts(): OptionValues }> = ReturnType<
  ReturnType<Make>['opts']
>;

/** An option with an environment variable, such as `DUSTPAN_KUBE_API_QPS` for `--kube-api-qps`; --help and --no-headers have none. */
class OurOption<F extends string> extends Option<F> {
  constructor(flags: F, help?: string) {
    super(flags, help);
    if (this.long !== '--help' && !this.negate)
      this.env(`DUSTPAN_${this.name().toUpperCase().replaceAll('-', '_')}`);
  }
}

/** The problem of an invalid value; undefined for a valid one. */
type Check = (text: string) => string | undefined;

/** Whether this is a name of the option, such as `-o` or `--output`. */
export const isNamed = (
  option: { long?: string | undefined; short?: string | undefined },
  written: string,
): boolean => written !== '' && (option.long === written || option.short === written);

/** Placeholder type for the options that a command has before a function adds more. */
export type EarlierOptions = Partial<Record<'earlier', never>>;

/**
 * The words for commander in place of one option word: each switch of a group has a word of its own (`-Ao` becomes `--all-namespaces=true -o`),
 * and a value after `=` follows the long name.
 */
export function plainWords(options: readonly Option[], word: string): readonly string[] {
  const [, name = '', rest = ''] = /^(--[^=]+|-[^-=])(=.*|[^-].*)?$/s.exec(word) ?? [];
  const option = options.find((one) => isNamed(one, name));
  // Without the value, commander can suggest a similar option.
  if (option?.long === undefined) return [rest.startsWith('=') ? name : word];
  if (rest.startsWith('=')) return [option.long + rest];
  if (!option.optional) return [word];
  return [`${option.long}=true`, ...(rest === '' ? [] : plainWords(options, `-${rest}`))];
}

/**
 * A commander command with three differences: it accepts `-o=json` and `-Ao json`; a switch never takes the next word as its value (in
 * `--force DIR`, DIR is an argument); an empty value counts as not set.
 */
export class LenientCommand extends Command {
  /** Whether the user requests help by `-h`. */
  isShortHelp = false;

  override parseOptions(argv: string[]): { operands: string[]; unknown: string[] } {
    const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
    const words: string[] = [];
    const helps: string[] = [];
    for (const [i, word] of argv.entries()) {
      const isValue = this.options.some((one) => one.required && isNamed(one, words.at(-1) ?? ''));
      const plain = i < end && !isValue ? plainWords(this.options, word) : [word];
      if (i < end && !isValue) helps.push(...plain.filter((one) => one === '-h' || one === '--help'));
      words.push(...plain);
    }
    this.isShortHelp = helps[0] === '-h';
    return super.parseOptions(words);
  }

  override createOption(flags: string, help?: string): Option {
    return new OurOption(flags, help);
  }

  override setOptionValueWithSource(key: string, value: unknown, source: OptionValueSource): this {
    return super.setOptionValueWithSource(key, value === '' ? undefined : value, source);
  }
}

function checked<T>(value: T, problem: string | undefined): T {
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return value;
}

/** Parses a string; an empty one is not checked. */
export const text =
  (check: Check = () => undefined) =>
  (given: string): string | undefined =>
    checked(given, given === '' ? undefined : check(given));

/** Parses a string; an empty one is checked too. */
export const filled =
  (check: Check) =>
  (given: string): string =>
    checked(given, check(given));

/** Collects the values of a repeated option; its variable has one value per line. */
export const list = (given: string, before: readonly string[] | undefined = []): readonly string[] => [
  ...before,
  ...given.split('\n').filter((line) => line !== ''),
];

export const names = (given: string, before: readonly string[] | undefined): readonly string[] =>
  list(given.replaceAll(',', '\n'), before);

export const integer =
  ({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}) =>
  (given: string): number => {
    const value = checked(Number(given), /^[+-]?\d+$/.test(given) ? undefined : 'Use a whole number.');
    if (value < min) throw new InvalidArgumentError(`The minimum is ${min}.`);
    return checked(value, value > max ? `The maximum is ${max}.` : undefined);
  };

/** Parses a number that is not negative. */
export function decimal(given: string): number {
  const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)$/.test(given);
  const value = checked(Number(given), isNumber ? undefined : 'Use a number.');
  return checked(value, value < 0 ? 'The minimum is 0.' : undefined);
}

/** An option in milliseconds. */
export const duration = <const F extends string>(
  flags: F,
  help: string,
  byDefault: string,
  minMs = 1_000,
) => {
  const parse = (given: string): number => {
    const isNegative = given.startsWith('-');
    const ms = parseDuration(isNegative ? given.slice(1) : given);
    if (ms === undefined)
      throw new InvalidArgumentError(`Use a duration such as 30s, 1h30m or 7d${durationHint(given)}.`);
    if (isNegative || ms < minMs) throw new InvalidArgumentError(`The minimum is ${formatDuration(minMs)}.`);
    return ms;
  };
  return new OurOption(flags, help).default(parse(byDefault), byDefault).argParser(parse);
};

/** Parses the value of a switch, as in `--name=false`. */
export function onOff(given: string): boolean {
  if (/^(1|t|true)$/i.test(given)) return true;
  return checked(false, /^(0|f|false)$/i.test(given) ? undefined : 'Use true or false.');
}

/** Parses `:8080`, `127.0.0.1:8080`, `[::1]:8080`; `0` turns the server off. */
export const address = filled((given) =>
  parseBindAddress(given) === undefined
    ? 'Use an address such as :8080 or 127.0.0.1:8080, or 0 to turn the server off.'
    : undefined,
);

export const choice = <const F extends string, const C extends readonly [string, ...string[]]>(
  flags: F,
  help: string,
  choices: C,
) => new OurOption(flags, help).choices(choices).default<C[number]>(choices[0]);

export const notAbsolute: Check = (given) => (given.startsWith('/') ? undefined : 'Use an absolute path.');

export const notObjectName: Check = (given) =>
  given.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(given)
    ? undefined
    : 'Use an object name: lower case letters, digits, dashes and dots, at most 253.';
