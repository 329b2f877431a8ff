import type { StatusCause } from './failure.ts';
import { asObject, type JsonObject, type KubeObject } from './json.ts';
import { plainRules, type Rules } from './rules.ts';
import { schemaChecker } from './schema.ts';

/** Custom resources are pruned, defaulted and checked by the schema of their definition. */
export function customRules(crd: JsonObject): Rules {
  const check = schemaChecker(crd);
  return {
    ...plainRules,
    admit: (given) => {
      const { object, problems } = check(given);
      const { apiVersion, kind, metadata }: KubeObject = given;
      return { object: { ...asObject(object), apiVersion, kind, metadata }, causes: problems.map(causeOf) };
    },
  };
}

/** The real server words each problem in its own way; the field is the same. */
function causeOf(problem: string): StatusCause {
  const at = problem.indexOf(': ');
  return { reason: 'FieldValueInvalid', message: problem.slice(at + 2), field: problem.slice(0, at) };
}
