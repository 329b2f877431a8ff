import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { isObject } from './fields.ts';
import { joined, normalized, type Place, places, type Schema, storedSchema } from './schema.ts';
import { Rules } from './schema-rules.ts';

interface Checked {
  /** As the API server would store it: unknown fields pruned, defaults filled in. */
  readonly object: unknown;
  /** In the API server's words; empty when it would accept the object. */
  readonly problems: readonly string[];
}

/** A check of objects against a CustomResourceDefinition that agrees with the API server's: types, bounds, lists and CEL rules. */
export function schemaChecker(crd: object): (object: unknown) => Checked {
  const schema = storedSchema(crd);
  const validate = compiled(schema);
  const rules = new Rules();
  return (raw) => {
    const object = stored(raw, schema);
    const root: Place = { value: object, schema, path: '' };
    const invalid = [...structuralProblems(object, validate), ...[...places(root)].flatMap(duplicates)];
    // As the API server, which does not run rules on what they may not be able to read.
    if (invalid.length > 0) return { object, problems: invalid };
    return { object, problems: [...places(root)].flatMap((place) => rules.problemsOf(place)) };
  };
}

/** metadata is the API server's own business: whatever is there stays. */
function stored(raw: unknown, schema: Schema): unknown {
  const object = normalized(raw, schema);
  return isObject(raw) && isObject(object) && 'metadata' in raw
    ? { ...object, metadata: structuredClone(raw['metadata']) }
    : object;
}

function compiled(schema: Schema): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, strict: false, verbose: true });
  const fitsIn =
    (bits: number) =>
    (value: number): boolean =>
      value >= -(2 ** (bits - 1)) && value < 2 ** (bits - 1);
  ajv.addFormat('int32', { type: 'number', validate: fitsIn(32) });
  ajv.addFormat('int64', { type: 'number', validate: fitsIn(64) });
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/);
  return ajv.compile(schema);
}

function structuralProblems(object: unknown, validate: ValidateFunction): readonly string[] {
  validate(object);
  return (validate.errors ?? []).map((error) => {
    const at = pathOf(error.instancePath);
    if (error.keyword !== 'required') return `${at}: ${complaint(error, at)}`;
    return `${joined(at, String(error.params['missingProperty']))}: Required value`;
  });
}

/** `/spec/keep/0` → `spec.keep[0]`. */
function pathOf(pointer: string): string {
  const steps = pointer.split('/').slice(1);
  return steps
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : joined(path, step)), '');
}

function complaint({ keyword, params, data }: ErrorObject, at: string): string {
  const value = JSON.stringify(data);
  const limit = String(params['limit']);
  switch (keyword) {
    case 'enum':
      return `Unsupported value: ${value}: supported values: ${(params['allowedValues'] as readonly string[]).map((word) => JSON.stringify(word)).join(', ')}`;
    case 'type':
      return `Invalid value: "${typeName(data)}": ${at} in body must be of type ${String(params['type'])}: "${typeName(data)}"`;
    case 'minimum':
      return `Invalid value: ${value}: ${at} in body should be greater than or equal to ${limit}`;
    case 'maximum':
      return `Invalid value: ${value}: ${at} in body should be less than or equal to ${limit}`;
    case 'minLength':
      return `Invalid value: ${value}: ${at} in body should be at least ${limit} chars long`;
    case 'maxLength':
      return `Too long: may not be more than ${limit} bytes`;
    case 'maxItems':
    case 'maxProperties':
      return `Too many: ${sizeOf(data)}: must have at most ${limit} items`;
    case 'pattern':
      return `Invalid value: ${value}: ${at} in body should match '${String(params['pattern'])}'`;
    default:
      return `Invalid value: ${value}: ${at} in body is not valid: ${keyword}`;
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

const sizeOf = (value: unknown): number =>
  Array.isArray(value) ? value.length : Object.keys(Object(value) as object).length;

/** Entries of a set, or keys of a map list, that are there twice. */
function duplicates({ value, schema, path }: Place): readonly string[] {
  if (!Array.isArray(value)) return [];
  const kind = schema['x-kubernetes-list-type'];
  if (kind !== 'set' && kind !== 'map') return [];
  const keys = value.map((item: unknown) => JSON.stringify(kind === 'set' ? item : keysOf(item, schema)));
  return keys.flatMap((key, i) => (keys.indexOf(key) < i ? [`${path}[${i}]: Duplicate value: ${key}`] : []));
}

function keysOf(item: unknown, schema: Schema): unknown {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return Object.fromEntries(keys.map((key) => [key, isObject(item) ? item[key] : undefined]));
}
