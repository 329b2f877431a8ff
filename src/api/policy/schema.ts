import { Environment } from '@marcbachmann/cel-js';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { metaTime, parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { isObject, formatValue, unknownField } from '../json.ts';

/** The parts of a CRD's schema that are needed for nulls, rules and messages. A validator that ajv made of the schema checks the rest. */
export interface Schema {
  readonly type: string;
  /** How a text is decoded; `date-time`: a text of a status, which is read as it is. */
  readonly format?: 'duration' | 'quantity' | 'time' | 'date-time';
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

interface Rule {
  readonly rule: string;
  readonly message: string;
  /** CEL of a message with the corrected value. */
  readonly messageExpression?: string;
  readonly fieldPath?: string;
}

interface Checker<T> {
  readonly schema: Schema;
  /** Made by ajv from the same schema; sets the defaults. */
  readonly validate: ValidateFunction<T>;
  /** The beginning of the paths in problems. */
  readonly path: string;
}

interface Checked<T> {
  /** A copy without nulls and with its defaults, whether or not it is valid. */
  readonly value: unknown;
  /** The same; undefined if there are problems. */
  readonly valid: T | undefined;
  /** One line each: `spec.priority: must be an integer, is "x"`. */
  readonly problems: readonly string[];
}

/** Checks a value as the API server does: removes nulls, sets defaults, then checks types, bounds and the CEL rules. Never throws. */
export function checkSchema<T>(raw: unknown, { schema, validate, path }: Checker<T>): Checked<T> {
  const value = withoutNulls(raw, schema);
  const isValid = validate(value);
  const errors = validate.errors ?? [];
  const all = places({ value, schema, path, pointer: '' });
  const at = Map.groupBy(errors, ({ instancePath }) => instancePath);
  const structural = all.flatMap((place) =>
    (at.get(place.pointer) ?? []).map((error) => problemOf(error, place)),
  );
  const broken = all.filter((place) => errors.every((error) => !isIn(error, place))).flatMap(brokenRules);
  const problems = [...new Set([...structural, ...broken])];
  return { value, valid: isValid && problems.length === 0 ? value : undefined, problems };
}

/** Null means absent; the null value of a label means the empty one. Keeps fields without a schema, to report them. */
function withoutNulls(value: unknown, schema: Schema): unknown {
  const { items, additionalProperties } = schema;
  if (Array.isArray(value) && items !== undefined)
    return value.map((item: unknown) => withoutNulls(item, items));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => {
    const known = schemaOf(schema, name);
    if (known === undefined) return [name, field] as const;
    return [name, withoutNulls(field ?? (additionalProperties ? known.default : undefined), known)] as const;
  });
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

/** A value with its schema, its path for messages and its JSON pointer for ajv. */
interface Place {
  readonly value: unknown;
  readonly schema: Schema;
  readonly path: string;
  readonly pointer: string;
}

/** The value and all values in it that have a schema, parents first. */
function places(place: Place): readonly Place[] {
  return [place, ...children(place).flatMap(places)];
}

function children({ value, schema, path, pointer }: Place): readonly Place[] {
  const { items } = schema;
  if (Array.isArray(value) && items !== undefined) {
    return value.map((item: unknown, i) => ({
      value: item,
      schema: items,
      path: `${path}[${i}]`,
      pointer: `${pointer}/${i}`,
    }));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const known = schemaOf(schema, name);
    const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
    return known === undefined
      ? []
      : [{ value: field, schema: known, path: joined(path, name), pointer: `${pointer}/${step}` }];
  });
}

/** The schema of a field; undefined = it has none. */
export function schemaOf(
  { properties = {}, additionalProperties }: Schema,
  name: string,
): Schema | undefined {
  if (Object.hasOwn(properties, name)) return properties[name];
  return additionalProperties === false ? undefined : additionalProperties;
}

const joined = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** Whether no rule can judge a value because of an error in it. The API server drops unknown fields. */
const isIn = ({ keyword, instancePath }: ErrorObject, { pointer }: Place): boolean =>
  keyword !== 'additionalProperties' && `${instancePath}/`.startsWith(`${pointer}/`);

function problemOf(error: ErrorObject, { value, schema, path }: Place): string {
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return `${joined(path, String(params['missingProperty']))}: must be given`;
    case 'additionalProperties': {
      const name = String(params['additionalProperty']);
      return `${joined(path, name)}: ${unknownField(name, Object.keys({ ...schema.properties }))}`;
    }
    case 'uniqueItems':
      return `${path}[${String(params['j'])}]: must not be given twice`;
    default:
      return `${path}: ${demand(error, schema)}, is ${formatValue(value)}`;
  }
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'an integer',
  object: 'an object',
  string: 'a text',
};

function demand({ keyword, params, message }: ErrorObject, schema: Schema): string {
  const [rule] = schema.type === 'string' ? rulesOf(schema) : [];
  // Names the form too, e.g. of a duration.
  if (rule !== undefined) return rule.message;
  switch (keyword) {
    case 'type':
      return `must be ${String(typeNames[schema.type])}`;
    case 'enum':
      return `must be one of ${String(params['allowedValues']).replaceAll(',', ', ')}`;
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${String(params['limit'])} entries`;
    default:
      return String(message);
  }
}

const rulesOf = (schema: Schema): readonly Rule[] => schema['x-kubernetes-validations'] ?? [];

function brokenRules({ value, schema, path }: Place): readonly string[] {
  const broken = rulesOf(schema).filter(({ rule }) => evaluated(rule, value) !== true);
  const actual = typeof value === 'object' ? '' : `, is ${formatValue(value)}`;
  return broken.map((rule) => {
    const message = schema.format === 'time' ? timeMessage(rule, value) : messageOf(rule, value);
    return `${path}${rule.fieldPath ?? ''}: ${message}${actual}`;
  });
}

function messageOf({ message, messageExpression }: Rule, value: unknown): string {
  const corrected = messageExpression === undefined ? undefined : evaluated(messageExpression, value);
  return typeof corrected === 'string' ? corrected : message;
}

/** With the same time in UTC. No messageExpression has it: the API server refuses the cost of one that computes a time. */
function timeMessage({ rule, message }: Rule, value: unknown): string {
  const ms = parseRfc3339(String(value));
  const corrected = ms === undefined ? '' : metaTime(new Date(ms));
  return evaluated(rule, corrected) === true ? `${message} (write ${corrected})` : message;
}

/** With the functions of Kubernetes that the library does not have. */
const environment = new Environment({ unlistedVariablesAreDyn: true })
  .registerFunction(
    'string.find(string): string',
    (text: string, form: string) => new RegExp(form).exec(text)?.[0] ?? '',
  )
  .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.replaceAll(from, () => to),
  );
/** Parsed expressions by their text: parsing is most of the work. */
const expressions = new Map<string, (context: { readonly self: unknown }) => unknown>();

/** The value of an expression; undefined if it cannot be evaluated: then a rule is not fulfilled, as on the API server. */
function evaluated(expression: string, self: unknown): unknown {
  try {
    const evaluate = expressions.get(expression) ?? environment.parse(expression);
    expressions.set(expression, evaluate);
    return evaluate({ self });
  } catch {
    return undefined;
  }
}
