import { parseDuration } from '../runtime/duration.ts';
import { nearest } from '../runtime/nearest.ts';
import { parseQuantity } from '../runtime/quantity.ts';

interface Range {
  readonly min: number;
  readonly max: number;
}

/** What a text must look like; `called` completes "must be …". */
export interface TextForm {
  readonly maxLength: number;
  readonly pattern: RegExp;
  readonly called: string;
}

interface ListLimits {
  readonly maxItems: number;
  readonly unique: boolean;
}

const int32: Range = { min: -2147483648, max: 2147483647 };
/** The API server refuses longer ones (crds/). */
const longestDurationMs = 87_600 * 3_600_000;
const quantityForm = /^(?:\d{1,15}(?:\.\d{1,3})?(?:[KMGTPE]i|[kMGTPE])?)?$/;

/**
 * Reads the fields of one stored object without trusting any: what is missing or null takes its default, as on the API server;
 * what is wrong becomes a problem, and reading goes on.
 */
export class Fields {
  readonly path: string;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #problems: string[];
  readonly #read = new Set<string>();

  constructor(value: unknown, path: string, problems: string[]) {
    this.path = path;
    this.#problems = problems;
    this.#fields = isObject(value) ? value : {};
    if (!isObject(value)) this.problem('', `must be an object, is ${shown(value)}`);
  }

  /** Adds a problem with a field, or with the object itself when the name is empty. */
  problem(name: string, text: string): void {
    this.#problems.push(`${name === '' ? this.path : `${this.path}.${name}`}: ${text}`);
  }

  required(...names: readonly string[]): void {
    for (const name of names) {
      if (this.#take(name) === undefined) this.problem(name, 'must be given');
    }
  }

  hasAny(...names: readonly string[]): boolean {
    return names.some((name) => this.#take(name) !== undefined);
  }

  integer<D extends number | undefined>(name: string, fallback: D, range: Range = int32): number | D {
    const value = this.#take(name);
    if (value === undefined) return fallback;
    if (typeof value !== 'number' || !Number.isInteger(value))
      return this.#wrong(name, 'an integer', fallback);
    if (value < range.min || value > range.max) {
      return this.#wrong(name, `between ${range.min} and ${range.max}`, fallback);
    }
    return value;
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.#take(name);
    if (value === undefined) return fallback;
    return typeof value === 'boolean' ? value : this.#wrong(name, 'true or false', fallback);
  }

  oneOf<T extends string, D extends T | undefined>(name: string, allowed: readonly T[], fallback: D): T | D {
    const value = this.#take(name);
    if (value === undefined) return fallback;
    return (
      allowed.find((word) => word === value) ?? this.#wrong(name, `one of ${allowed.join(', ')}`, fallback)
    );
  }

  text(name: string, form: TextForm): string | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (fits(value, form)) return value;
    this.#wrong(name, form.called, undefined);
    return undefined;
  }

  durationMs<D extends number | undefined>(name: string, fallback: D): number | D {
    const value = this.#take(name);
    if (value === undefined) return fallback;
    // 32 characters as in crds/, so that what one refuses the other refuses too.
    const ms = typeof value === 'string' && value.length <= 32 ? parseDuration(value) : undefined;
    if (ms !== undefined && ms <= longestDurationMs) return ms;
    return this.#wrong(name, 'a duration between 0s and 87600h, such as 90s or 1h30m', fallback);
  }

  /** Bytes; the empty quantity is none at all. */
  bytes(name: string): number | undefined {
    const value = this.#take(name);
    if (value === undefined || value === '') return undefined;
    const bytes = typeof value === 'string' && quantityForm.test(value) ? parseQuantity(value) : undefined;
    if (bytes === undefined) this.#wrong(name, 'a quantity of bytes, such as 10Gi', undefined);
    return bytes;
  }

  /** The entries of a list; undefined when there is none. */
  list(name: string, maxItems = Infinity): readonly unknown[] | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (!isList(value)) {
      this.#wrong(name, 'a list', undefined);
      return undefined;
    }
    const { length } = value;
    if (length > maxItems) this.problem(name, `must have at most ${maxItems} entries, has ${length}`);
    return value;
  }

  texts(name: string, form: TextForm, { maxItems, unique }: ListLimits): readonly string[] {
    const entries = this.list(name, maxItems) ?? [];
    if (unique) this.#distinct(name, entries);
    return entries.filter((entry, index): entry is string => {
      if (!fits(entry, form)) this.problem(`${name}[${index}]`, `must be ${form.called}, is ${shown(entry)}`);
      return fits(entry, form);
    });
  }

  /** Distinct integers; undefined when there is no list. */
  integers(name: string, { min, max }: Range, maxItems: number): readonly number[] | undefined {
    const entries = this.list(name, maxItems);
    if (entries !== undefined) this.#distinct(name, entries);
    return entries?.filter((entry, index): entry is number => {
      const good = typeof entry === 'number' && Number.isInteger(entry) && entry >= min && entry <= max;
      if (!good)
        this.problem(`${name}[${index}]`, `must be an integer between ${min} and ${max}, is ${shown(entry)}`);
      return good;
    });
  }

  objects(name: string, maxItems: number): readonly Fields[] {
    const entries = this.list(name, maxItems) ?? [];
    return entries.map((entry, index) => new Fields(entry, `${this.path}.${name}[${index}]`, this.#problems));
  }

  /** What an optional block says; undefined when it is absent, which means off. */
  block<T>(name: string, parse: (fields: Fields) => T): T | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    return new Fields(value, `${this.path}.${name}`, this.#problems).all(parse);
  }

  /** What a block that is always on says. */
  always<T>(name: string, parse: (fields: Fields) => T): T {
    return new Fields(this.#take(name) ?? {}, `${this.path}.${name}`, this.#problems).all(parse);
  }

  /** Parses this object and reports every field that `parse` did not ask for. */
  all<T>(parse: (fields: Fields) => T): T {
    const parsed = parse(this);
    for (const name of Object.keys(this.#fields)) {
      if (!this.#read.has(name)) this.problem(name, unknownField(name, [...this.#read]));
    }
    return parsed;
  }

  /** All fields of a map whose keys the user chooses. */
  entries(): readonly (readonly [string, unknown])[] {
    return Object.entries(this.#fields).map(([name, value]) => {
      this.#read.add(name);
      return [name, value] as const;
    });
  }

  #distinct(name: string, entries: readonly unknown[]): void {
    for (const [index, entry] of entries.entries()) {
      if (entries.indexOf(entry) < index)
        this.problem(`${name}[${index}]`, `must not be given twice, is ${shown(entry)}`);
    }
  }

  #take(name: string): unknown {
    this.#read.add(name);
    return Object.hasOwn(this.#fields, name) ? (this.#fields[name] ?? undefined) : undefined;
  }

  #wrong<D>(name: string, wanted: string, fallback: D): D {
    this.problem(name, `must be ${wanted}, is ${shown(this.#fields[name])}`);
    return fallback;
  }
}

/** What is wrong with a field that is none of `known`, and which of them was probably meant. */
export function unknownField(name: string, known: readonly string[]): string {
  const guess = nearest(name, known);
  return `is not a known field${guess === undefined ? '' : `, did you mean ${guess}?`}`;
}

/** True for what JSON calls an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a stored value is a text of this form. */
export function fits(value: unknown, form: TextForm): value is string {
  if (typeof value !== 'string' || !form.pattern.test(value)) return false;
  // The API server counts characters, not UTF-16 units.
  return value.length <= form.maxLength || Array.from(value).length <= form.maxLength;
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** A stored value for a message: short, in one line, and whatever it is. */
export function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  if (typeof value === 'string') return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null) return 'null';
  return isList(value) ? 'a list' : 'an object';
}
