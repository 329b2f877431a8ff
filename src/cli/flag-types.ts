import { parseBindAddress } from '../runtime/bind-address.ts';
import { formatDuration, parseDuration } from '../runtime/duration.ts';

type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** One flag: all that parsing, help and the reference need to know of it. */
export interface Flag<T> {
  /** Without dashes; the environment form follows from it (`envName`). */
  readonly name: string;
  /** One letter: `v` is also `-v`. */
  readonly short?: string;
  /** As the user would write it; '' = not set. */
  readonly default: string;
  /** What stands for the value in the help, `DURATION`; '' = a switch, which needs no value. */
  readonly placeholder: string;
  readonly help: string;
  /** May be given several times: the values come in one text, a line each. */
  readonly many?: true;
  parse(text: string): Parsed<T>;
}

interface Spec {
  readonly name: string;
  readonly short?: string;
  readonly default: string;
  readonly help: string;
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** A timer of Node cannot wait longer: it would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export function stringFlag(
  spec: Spec & { placeholder?: string; check?: (text: string) => string | undefined },
): Flag<string> {
  const { check, placeholder = 'TEXT', ...rest } = spec;
  return {
    ...rest,
    placeholder,
    parse: (text) => {
      const problem = text === '' ? undefined : check?.(text);
      return problem === undefined ? { value: text } : { problem };
    },
  };
}

/** May be given several times; in its environment form a line each. */
export function listFlag(spec: Omit<Spec, 'default'> & { placeholder: string }): Flag<readonly string[]> {
  const parse = (text: string) => ({ value: text.split('\n').filter((line) => line !== '') });
  return { ...spec, default: '', many: true, parse };
}

export function intFlag({ min = 0, max = Number.MAX_SAFE_INTEGER, ...spec }: Spec & Bounds): Flag<number> {
  const parse = (text: string) =>
    /^[+-]?\d+$/.test(text)
      ? bounded(Number(text), { min, max, text })
      : { problem: `${quote(text)} is not a whole number` };
  return { ...spec, placeholder: 'N', parse };
}

export function numberFlag({ min = 0, max = Number.MAX_VALUE, ...spec }: Spec & Bounds): Flag<number> {
  const parse = (text: string) =>
    /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)
      ? bounded(Number(text), { min, max, text })
      : { problem: `${quote(text)} is not a number` };
  return { ...spec, placeholder: 'NUMBER', parse };
}

/** Milliseconds. */
export function durationFlag({ min = 0, max = longestTimerMs, ...spec }: Spec & Bounds): Flag<number> {
  const parse = (text: string): Parsed<number> => {
    const negative = text.startsWith('-');
    const ms = parseDuration(negative ? text.slice(1) : text);
    if (ms === undefined) return { problem: `${quote(text)} is not a duration such as 30s, 5m or 1h30m` };
    if (negative || ms < min) return { problem: `${text} is too short, the least is ${formatDuration(min)}` };
    return ms > max ? { problem: `${text} is too long, the most is ${formatDuration(max)}` } : { value: ms };
  };
  return { ...spec, placeholder: 'DURATION', parse };
}

export function boolFlag(spec: Spec): Flag<boolean> {
  const parse = (text: string): Parsed<boolean> => {
    if (/^(1|t|true)$/i.test(text)) return { value: true };
    return /^(0|f|false)$/i.test(text)
      ? { value: false }
      : { problem: `${quote(text)} is neither true nor false` };
  };
  return { ...spec, placeholder: '', parse };
}

export function enumFlag<const T extends string>({
  values,
  ...spec
}: Spec & { values: readonly T[] }): Flag<T> {
  const parse = (text: string): Parsed<T> => {
    const value = values.find((candidate) => candidate === text);
    return value === undefined ? { problem: `${quote(text)} is none of ${values.join(', ')}` } : { value };
  };
  return { ...spec, placeholder: values.join('|'), parse };
}

/** `:8080`, `127.0.0.1:8080`, `[::1]:8080`; `0` turns the server off. */
export function addressFlag(spec: Spec): Flag<string> {
  const parse = (text: string): Parsed<string> =>
    parseBindAddress(text) === undefined
      ? { problem: `${quote(text)} is not an address such as :8080 or 127.0.0.1:8080 (0 = off)` }
      : { value: text };
  return { ...spec, placeholder: 'ADDRESS', parse };
}

function bounded(
  value: number,
  { min, max, text }: { min: number; max: number; text: string },
): Parsed<number> {
  if (value < min) return { problem: `${text} is too small, the least is ${min}` };
  return value > max ? { problem: `${text} is too big, the most is ${max}` } : { value };
}

const quote = (text: string): string => JSON.stringify(text);
