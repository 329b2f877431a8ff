import { isObject } from '../../api/json.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The JSON merge patch (RFC 7386) from `stored` to `next`: all of `next`, and null for fields that it lacks. */
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
