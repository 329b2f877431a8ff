import { asList, asObject, isEqual, isObject, type JsonObject } from './json.ts';

/** RFC 7386: null removes, lists are replaced whole. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = new Map(Object.entries(asObject(target)));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, mergePatch(result.get(name), value));
  }
  return Object.fromEntries(result);
}

/** Lists that a strategic merge patch merges entry by entry, with the member that tells entries apart ('' for plain values). */
const mergeKeys: Readonly<Record<string, string>> = {
  addresses: 'type',
  conditions: 'type',
  containers: 'name',
  env: 'name',
  ephemeralContainers: 'name',
  finalizers: '',
  initContainers: 'name',
  ownerReferences: 'uid',
  volumes: 'name',
};

const directive = '$patch';
const orderPrefix = '$setElementOrder/';
const removePrefix = '$deleteFromPrimitiveList/';

/** The strategic merge patch of built-in kinds, for the lists that dustpan meets. */
export function strategicMergePatch(target: unknown, patch: JsonObject): JsonObject {
  if (patch[directive] === 'replace') return Object.fromEntries(Object.entries(patch).filter(isPlain));
  const result = new Map(Object.entries(asObject(target)));
  for (const [name, value] of Object.entries(patch).filter(isPlain)) {
    if (value === null) result.delete(name);
    else result.set(name, mergedMember(name, result.get(name), patch));
  }
  for (const name of directedLists(patch)) result.set(name, mergedMember(name, result.get(name), patch));
  return Object.fromEntries(result);
}

const isPlain = ([name]: readonly [string, unknown]): boolean => !name.startsWith('$');

/** Lists that the patch does not hold, but gives directives for. */
function directedLists(patch: JsonObject): readonly string[] {
  return Object.keys(patch)
    .filter((name) => name.startsWith(orderPrefix) || name.startsWith(removePrefix))
    .map((name) => name.slice(name.indexOf('/') + 1))
    .filter((name) => !(name in patch));
}

function mergedMember(name: string, old: unknown, patch: JsonObject): unknown {
  const value = patch[name] ?? [];
  if (isObject(value)) return strategicMergePatch(old, value);
  const key = mergeKeys[name];
  if (!Array.isArray(value) || key === undefined) return value;
  const removed = asList(patch[`${removePrefix}${name}`]);
  const order = patch[`${orderPrefix}${name}`];
  const kept = asList(old).filter((item) => !removed.includes(item));
  return mergedList(kept, value, { key, order: Array.isArray(order) ? order : undefined });
}

/** How the entries of a list are told apart, and in which order the client wants those that it knows. */
interface Merging {
  readonly key: string;
  readonly order: readonly unknown[] | undefined;
}

function mergedList(
  old: readonly unknown[],
  patch: readonly unknown[],
  merging: Merging,
): readonly unknown[] {
  if (patch.some((entry) => asObject(entry)[directive] === 'replace')) {
    return patch.filter((entry) => asObject(entry)[directive] === undefined);
  }
  const merged = patch.reduce<readonly unknown[]>((list, entry) => withEntry(list, entry, merging), old);
  return interleaved(old, merged, { ...merging, order: merging.order ?? patch });
}

const identity = (item: unknown, { key }: Merging): unknown => (key === '' ? item : asObject(item)[key]);

function withEntry(list: readonly unknown[], entry: unknown, merging: Merging): readonly unknown[] {
  const isSame = (item: unknown): boolean => isEqual(identity(item, merging), identity(entry, merging));
  if (asObject(entry)[directive] === 'delete') return list.filter((item) => !isSame(item));
  const patched = (item: unknown): unknown => (isObject(entry) ? strategicMergePatch(item, entry) : entry);
  if (!list.some(isSame)) return [...list, patched({})];
  return list.map((item) => (isSame(item) ? patched(item) : item));
}

/** The client's entries in its order; the server's own keep their places among those that the server had before; new ones come first. */
function interleaved(
  old: readonly unknown[],
  merged: readonly unknown[],
  merging: Merging,
): readonly unknown[] {
  const placeIn = (list: readonly unknown[]): ((item: unknown) => number) => {
    const places = list.map((item) => identity(item, merging));
    return (item) => places.indexOf(identity(item, merging));
  };
  const wish = placeIn(merging.order ?? []);
  const former = placeIn(old);
  const theirs = merged.filter((item) => wish(item) >= 0).toSorted((a, b) => wish(a) - wish(b));
  const ours = merged.filter((item) => wish(item) < 0);
  const result: unknown[] = [];
  for (const item of theirs) {
    while (ours[0] !== undefined && former(ours[0]) < former(item)) result.push(ours.shift());
    result.push(item);
  }
  return [...result, ...ours];
}
