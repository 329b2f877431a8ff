import { Environment } from '@marcbachmann/cel-js';
import { errorLine } from '../runtime/errors.ts';
import { isObject } from './fields.ts';
import { type Place, type Rule, type Schema, schemaOfField } from './schema.ts';

type Evaluate = (context: { readonly self: unknown }) => unknown;

/** Evaluates the CEL rules of a schema; says in the API server's words which do not hold. */
export class Rules {
  readonly #environment = new Environment({ unlistedVariablesAreDyn: true });
  readonly #parsed = new Map<string, Evaluate>();

  problemsOf({ value, schema, path }: Place): readonly string[] {
    const rules = schema['x-kubernetes-validations'] ?? [];
    if (rules.length === 0) return [];
    const self = celValue(value, schema);
    return rules.flatMap((rule) => {
      const failure = this.#failureOf(rule, self);
      return failure === undefined ? [] : [`${path}${rule.fieldPath ?? ''}: Invalid value: ${failure}`];
    });
  }

  #failureOf({ rule, message }: Rule, self: unknown): string | undefined {
    try {
      return this.#evaluator(rule)({ self }) === true ? undefined : message;
    } catch (err) {
      return `${firstLine(errorLine(err))} evaluating rule: ${message}`;
    }
  }

  #evaluator(rule: string): Evaluate {
    const evaluate = this.#parsed.get(rule) ?? this.#environment.parse(rule);
    this.#parsed.set(rule, evaluate);
    return evaluate;
  }
}

/** The library goes on with a picture of the rule. */
const firstLine = (text: string): string => text.replace(/\n[^]*$/, '');

/** CEL tells integers from doubles; JSON does not, the schema does. */
function celValue(value: unknown, schema: Schema): unknown {
  if (typeof value === 'number') return schema.type === 'integer' ? BigInt(value) : value;
  const { items } = schema;
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => celValue(item, items));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => {
    const fieldSchema = schemaOfField(schema, name);
    return [name, fieldSchema === undefined ? field : celValue(field, fieldSchema)] as const;
  });
  return Object.fromEntries(fields);
}
