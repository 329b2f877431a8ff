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
    else result.set(name, mergedMember(name, result.get(name), value));
  }
  for (const [name, value] of Object.entries(patch)) applyDirective(result, name, asList(value));
  return Object.fromEntries(result);
}

const isPlain = ([name]: readonly [string, unknown]): boolean => !name.startsWith('$');

function mergedMember(name: string, old: unknown, value: unknown): unknown {
  if (isObject(value)) return strategicMergePatch(old, value);
  if (!Array.isArray(value)) return value;
  const key = mergeKeys[name];
  if (key === undefined) return value;
  if (key === '') return [...new Set([...asList(old), ...asList(value)])];
  return mergedList(asList(old), asList(value), key);
}

function mergedList(old: readonly unknown[], patch: readonly unknown[], key: string): readonly unknown[] {
  if (patch.some((entry) => asObject(entry)[directive] === 'replace')) {
    return patch.filter((entry) => asObject(entry)[directive] === undefined);
  }
  return patch.map(asObject).reduce<readonly unknown[]>((list, entry) => withEntry(list, entry, key), old);
}

function withEntry(list: readonly unknown[], entry: JsonObject, key: string): readonly unknown[] {
  const isSame = (item: unknown): boolean => isEqual(asObject(item)[key], entry[key]);
  if (entry[directive] === 'delete') return list.filter((item) => !isSame(item));
  if (!list.some(isSame)) return [...list, strategicMergePatch({}, entry)];
  return list.map((item) => (isSame(item) ? strategicMergePatch(item, entry) : item));
}

function applyDirective(result: Map<string, unknown>, name: string, value: readonly unknown[]): void {
  if (name.startsWith(orderPrefix)) {
    const field = name.slice(orderPrefix.length);
    result.set(field, ordered(asList(result.get(field)), value, mergeKeys[field] ?? ''));
  }
  if (name.startsWith(removePrefix)) {
    const field = name.slice(removePrefix.length);
    result.set(
      field,
      asList(result.get(field)).filter((item) => !value.includes(item)),
    );
  }
}

function ordered(list: readonly unknown[], order: readonly unknown[], key: string): readonly unknown[] {
  const identity = (item: unknown): unknown => (key === '' ? item : asObject(item)[key]);
  const places = order.map(identity);
  const placeOf = (item: unknown): number => {
    const place = places.indexOf(identity(item));
    return place === -1 ? places.length : place;
  };
  return list.toSorted((a, b) => placeOf(a) - placeOf(b));
}
