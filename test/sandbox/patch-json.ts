import { badRequest, Failure } from './failure.ts';
import { asObject, asText, isEqual, isObject, without, type JsonObject } from './json.ts';

/** RFC 6902, but for `move` and `copy`. */
export function jsonPatch(target: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations))
    throw badRequest('error decoding patch: json: cannot unmarshal into Go value of type jsonpatch.Patch');
  return operations.map(asObject).reduce<unknown>((document, { op, path, value }) => {
    const steps = asText(path).split('/').slice(1);
    return change(document, steps.map(unescaped), { op: asText(op), value });
  }, target);
}

interface Operation {
  readonly op: string;
  readonly value: unknown;
}

const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');

function change(node: unknown, [step, ...rest]: readonly string[], operation: Operation): unknown {
  if (step === undefined) return operation.value;
  if (Array.isArray(node)) return changeList(node, [step, ...rest], operation);
  if (!isObject(node)) throw doesNotApply(step);
  if (rest.length > 0) return { ...node, [step]: change(node[step], rest, operation) };
  check(operation, node, step);
  if (operation.op === 'remove') return without(node, step);
  return operation.op === 'test' ? node : { ...node, [step]: operation.value };
}

function changeList(
  list: readonly unknown[],
  [step = '', ...rest]: readonly string[],
  operation: Operation,
): unknown {
  const at = step === '-' ? list.length : Number(step);
  if (!Number.isInteger(at) || at > list.length) throw doesNotApply(step);
  if (rest.length > 0) return list.with(at, change(list[at], rest, operation));
  check(operation, Object.fromEntries(list.entries()), String(at));
  if (operation.op === 'test') return list;
  return operation.op === 'add'
    ? list.toSpliced(at, 0, operation.value)
    : list.toSpliced(at, 1, ...(operation.op === 'replace' ? [operation.value] : []));
}

/** Only what is there can be removed or replaced, and a test must hold. */
function check({ op, value }: Operation, parent: JsonObject, step: string): void {
  const isMissing = (op === 'remove' || op === 'replace') && !(step in parent);
  if (isMissing || (op === 'test' && !isEqual(parent[step], value))) throw doesNotApply(step);
}

function doesNotApply(step: string): Failure {
  const message = `the server rejected our request due to an error in our request: ${step}`;
  return new Failure(message, { code: 422, reason: 'Invalid', details: {} });
}
