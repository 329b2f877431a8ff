type JsonObject = Readonly<Record<string, unknown>>;

/** The JSON merge patch (RFC 7386) that makes `next` of `stored`: all of `next`, and null for what is not in it any more. */
export function mergePatchOf(stored: object, next: object): object {
  const [before, after] = [entriesOf(stored), entriesOf(next)];
  const gone = Object.keys(before).filter((key) => after[key] === undefined);
  const kept = Object.entries(after).map(([key, value]) => [key, patchOf(before[key], value)] as const);
  return Object.fromEntries([...kept, ...gone.map((key) => [key, null] as const)]);
}

/** Lists are replaced whole. */
function patchOf(stored: unknown, next: unknown): unknown {
  return isObject(stored) && isObject(next) ? mergePatchOf(stored, next) : next;
}

const entriesOf = (object: object): JsonObject => Object.fromEntries(Object.entries(object));

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
