import { isObject } from './fields.ts';

/** The part of a CRD's structural schema that checking an object needs. */
export interface Schema {
  readonly type: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

export interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

/** The schema of the version that a CustomResourceDefinition stores. */
export function storedSchema(crd: object): Schema {
  const { spec } = crd as { spec?: { versions?: readonly Version[] } };
  const version = spec?.versions?.find(({ storage }) => storage);
  if (version === undefined) throw new Error('not a CustomResourceDefinition with a stored version');
  return version.schema.openAPIV3Schema;
}

interface Version {
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: Schema };
}

/** A node of a value with its place and its schema. */
export interface Place {
  readonly value: unknown;
  readonly schema: Schema;
  readonly path: string;
}

/** The value and everything in it that has a schema, parents first. */
export function* places(place: Place): Generator<Place> {
  yield place;
  for (const child of children(place)) yield* places(child);
}

function children({ value, schema, path }: Place): readonly Place[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined
      ? []
      : value.map((item: unknown, i) => ({ value: item, schema: items, path: `${path}[${i}]` }));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const fieldSchema = schemaOfField(schema, name);
    return fieldSchema === undefined ? [] : [{ value: field, schema: fieldSchema, path: joined(path, name) }];
  });
}

export const joined = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

export function schemaOfField(schema: Schema, name: string): Schema | undefined {
  const { properties = {}, additionalProperties } = schema;
  return Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}

/** A copy as the API server would store it: without unknown fields and nulls, with defaults wherever their parent is present. */
export function normalized(value: unknown, schema: Schema): unknown {
  const { items } = schema;
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => normalized(item, items));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, field]) => normalizedField(schema, name, field));
  const defaults = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    (value[name] ?? null) === null && property.default !== undefined
      ? [[name, normalized(property.default, property)] as const]
      : [],
  );
  return Object.fromEntries([...kept, ...defaults]);
}

function normalizedField(
  parent: Schema,
  name: string,
  value: unknown,
): readonly (readonly [string, unknown])[] {
  const schema = schemaOfField(parent, name);
  if (schema === undefined) return [];
  if (value !== null) return [[name, normalized(value, schema)]];
  return schema === parent.additionalProperties && schema.default !== undefined
    ? [[name, schema.default]]
    : [];
}
