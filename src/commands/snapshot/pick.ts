export type JsonObject = Readonly<Record<string, unknown>>;

/** What of a JSON value may go into a snapshot; undefined = nothing. */
export type Pick = (value: unknown) => unknown;

/** The value as it is. */
export const whole: Pick = (value) => value;

/** Only the fields that are named, each as far as its own pick lets it through. */
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

/** Of several fields the whole value. */
export const named = (...names: readonly string[]): Readonly<Record<string, Pick>> =>
  Object.fromEntries(names.map((name) => [name, whole]));

/** Each item of a list, as far as `pick` lets it through. */
export const each =
  (pick: Pick): Pick =>
  (value) =>
    Array.isArray(value) ? value.map((item: unknown) => pick(item) ?? {}) : undefined;

/** A text of at most so many characters; a longer one is cut. */
export const shortened =
  (length: number): Pick =>
  (value) =>
    // Half a character becomes the sign for a broken one, as when the message itself is read.
    typeof value === 'string' ? Buffer.from(value.slice(0, length)).toString() : undefined;

/** Longer ones are no identifiers but somebody's data. */
const maxTextBytes = 256;

/** The entries of a map of texts whose names pass, without long ones; undefined where none is left. */
export const texts =
  (isKept: (name: string) => boolean): Pick =>
  (value) => {
    const entries = Object.entries(isObject(value) ? value : {}).filter(
      ([name, text]) => isKept(name) && typeof text === 'string' && Buffer.byteLength(text) <= maxTextBytes,
    );
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
