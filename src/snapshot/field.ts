import { isObject, formatValue } from '../api/json.ts';
import { parseRfc3339 } from '../runtime/text/rfc3339.ts';
import { InputError } from './input-error.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A value of an input file with its path in the file. Every reader throws InputError for an unexpected value; null counts as absent. */
export class Field {
  readonly file: string;
  readonly #parent: Field | undefined;
  readonly #name: string;
  readonly #value: unknown;

  /** A value in a file, at this path; or in another field, by this name. */
  constructor(place: string | Field, name: string, value: unknown) {
    this.#parent = typeof place === 'string' ? undefined : place;
    this.file = typeof place === 'string' ? place : place.file;
    this.#name = name;
    this.#value = value ?? undefined;
  }

  /** Computed only for a message: a file can have millions of fields. */
  get path(): string {
    const before = this.#parent?.path ?? '';
    return before === '' ? this.#name : `${before}.${this.#name}`;
  }

  get isAbsent(): boolean {
    return this.#value === undefined;
  }

  get isObject(): boolean {
    return isObject(this.#value);
  }

  wrong(what: string): InputError {
    return new InputError(this.file, this.path, what);
  }

  mustBe(what: string): InputError {
    return this.wrong(`must be ${what}, is ${formatValue(this.#value)}`);
  }

  object(): JsonObject {
    if (!isObject(this.#value)) throw this.mustBe('an object');
    return this.#value;
  }

  at(name: string): Field {
    const object = this.object();
    return new Field(this, name, Object.hasOwn(object, name) ? object[name] : undefined);
  }

  /** A field of this object, which may be absent. */
  maybeAt(name: string): Field {
    return this.isAbsent ? new Field(this, name, undefined) : this.at(name);
  }

  list(): readonly Field[] {
    const list: unknown = this.#value;
    if (!Array.isArray(list)) throw this.mustBe('a list');
    return list.map((value: unknown, i) => new Field(this.file, `${this.path}[${i}]`, value));
  }

  text(fallback?: string): string {
    if (this.isAbsent && fallback !== undefined) return fallback;
    if (typeof this.#value !== 'string') throw this.mustBe('a text');
    return this.#value;
  }

  name(): string {
    const text = this.text();
    if (text === '') throw this.wrong('must not be empty');
    return text;
  }

  absolutePath(): string {
    const path = this.name();
    if (!path.startsWith('/')) throw this.mustBe('an absolute path');
    return path;
  }

  texts(): readonly string[] {
    return this.isAbsent ? [] : this.list().map((one) => one.text());
  }

  /** Throws as `textMap` does, without building a map. */
  checkTextMap(): void {
    if (this.isAbsent) return;
    const object = this.object();
    for (const name in object) if (typeof object[name] !== 'string') this.at(name).text();
  }

  textMap(): Record<string, string> {
    if (this.isAbsent) return {};
    return Object.fromEntries(Object.keys(this.object()).map((name) => [name, this.at(name).text()]));
  }

  boolean(): boolean {
    if (this.isAbsent) return false;
    if (typeof this.#value !== 'boolean') throw this.mustBe('true or false');
    return this.#value;
  }

  /** A whole number, or the string that protobuf JSON writes for 64-bit numbers; absent = 0. */
  integer(): bigint {
    const value = this.#value ?? 0;
    if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
    if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value);
    throw this.mustBe('a whole number');
  }

  /** A count or a size, 0 or more. */
  count(): number {
    const value = this.integer();
    if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) throw this.mustBe('a number from 0 to 2^53');
    return Number(value);
  }

  /** A number of any size: the caller judges it. */
  number(): number {
    if (typeof this.#value !== 'number') throw this.mustBe('a number');
    return this.#value;
  }

  /** An RFC 3339 time, in Unix milliseconds. */
  timeMs(): number {
    const value = this.#value;
    const ms = typeof value === 'string' ? parseRfc3339(value) : undefined;
    if (ms === undefined) throw this.mustBe('an RFC 3339 time');
    return ms;
  }
}
