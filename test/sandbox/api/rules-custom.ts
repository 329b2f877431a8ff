import type { StatusCause } from './failure.ts';
import { asObject, type JsonObject, type KubeObject } from './json.ts';
import { plainRules, type Rules } from './rules.ts';
import { schemaChecker } from './schema.ts';

/** Prunes, defaults and validates custom resources by the schema of their definition. */
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

/** The message differs from the real server's; the field is the same. */
function causeOf(problem: string): StatusCause {
  const at = problem.indexOf(': ');
  return { reason: 'FieldValueInvalid', message: problem.slice(at + 2), field: problem.slice(0, at) };
}
