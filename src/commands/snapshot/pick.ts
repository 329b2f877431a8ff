import { isObject } from '../../api/json.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Selects the part of a JSON value that a snapshot may contain; undefined = nothing. */
export type Pick = (value: unknown) => unknown;

export const whole: Pick = (value) => value;

/** Only the named fields, each reduced by its own pick. */
export function fields(shape: Readonly<Record<string, Pick>>): Pick {
  const picks = Object.entries(shape);
  return (value) => {
    if (!isObject(value)) return undefined;
    const picked: Record<string, unknown> = {};
    for (const [name, pick] of picks) {
      const field = Object.hasOwn(value, name) ? pick(value[name]) : undefined;
      if (field !== undefined) picked[name] = field;
    }
    return picked;
  };
}

export const named = (...names: readonly string[]): Readonly<Record<string, Pick>> =>
  Object.fromEntries(names.map((name) => [name, whole]));

/** Each item of a list, reduced by `pick`. */
export const each =
  (pick: Pick): Pick =>
  (value) =>
    Array.isArray(value) ? value.map((item: unknown) => pick(item) ?? {}) : undefined;

/** A string, cut to this length. */
export const shortened =
  (length: number): Pick =>
  (value) =>
    // Half a surrogate pair becomes U+FFFD, as in the reader of messages.
    typeof value === 'string' ? Buffer.from(value.slice(0, length)).toString() : undefined;

/** Longer values are not identifiers but data of users. */
const maxTextBytes = 256;

/** The entries of a string map whose names pass, without long values; undefined where none is left. */
export const texts =
  (isKept: (name: string) => boolean): Pick =>
  (value) => {
    const entries = Object.entries(isObject(value) ? value : {}).filter(
      ([name, text]) => isKept(name) && typeof text === 'string' && Buffer.byteLength(text) <= maxTextBytes,
    );
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
