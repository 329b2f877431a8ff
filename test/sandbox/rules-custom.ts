import { schemaChecker } from '../../src/api/schema-check.ts';
import type { StatusCause } from './failure.ts';
import { isObject, type JsonObject, type KubeObject } from './json.ts';
import { plainRules } from './rules-plain.ts';
import type { Admitted, Rules } from './rules.ts';

/** A custom resource is pruned, defaulted and checked by the schema of its definition. */
export function customRules(crd: JsonObject): Rules {
  const check = schemaChecker(crd);
  return {
    ...plainRules({ generation: true }),
    unconditionalUpdate: false,
    admit: (object) => admitted(object, check(object)),
  };
}

function admitted(
  { apiVersion, kind, metadata }: KubeObject,
  { object, problems }: { readonly object: unknown; readonly problems: readonly string[] },
): Admitted {
  const kept = isObject(object) ? object : {};
  const causes = problems.map(causeOf);
  return {
    object: { ...kept, apiVersion, kind, metadata },
    causes: causes.some(stopsRules) ? [...causes, rulesNotChecked] : causes,
  };
}

/** `spec.mode: Unsupported value: …` */
function causeOf(problem: string): StatusCause {
  const at = problem.indexOf(': ');
  const message = problem.slice(at + 2);
  return { reason: reasonOf(message), message, field: problem.slice(0, at) };
}

const reasons: Readonly<Record<string, string>> = {
  'Unsupported value': 'FieldValueNotSupported',
  'Required value': 'FieldValueRequired',
  'Duplicate value': 'FieldValueDuplicate',
  'Too long': 'FieldValueTooLong',
  'Too many': 'FieldValueTooMany',
};

function reasonOf(message: string): string {
  if (message.includes('in body must be of type')) return 'FieldValueTypeInvalid';
  const known = Object.keys(reasons).find((start) => message.startsWith(start));
  return reasons[known ?? ''] ?? 'FieldValueInvalid';
}

const stopsRules = ({ reason }: StatusCause): boolean =>
  ['FieldValueNotSupported', 'FieldValueRequired', 'FieldValueTypeInvalid'].includes(reason);

const rulesNotChecked: StatusCause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  field: '<nil>',
};
