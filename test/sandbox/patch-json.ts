import { badRequest, Failure } from './failure.ts';
import { asObject, asText, isEqual, isObject } from './json.ts';

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
  const entries = Object.entries(node).filter(([name]) => name !== step);
  if (operation.op === 'remove' && step in node) return Object.fromEntries(entries);
  if (operation.op === 'remove' || (operation.op === 'test' && !isEqual(node[step], operation.value))) {
    throw doesNotApply(step);
  }
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
  if (operation.op === 'remove') return list.toSpliced(at, 1);
  if (operation.op === 'test' && !isEqual(list[at], operation.value)) throw doesNotApply(step);
  if (operation.op === 'test') return list;
  return list.toSpliced(at, operation.op === 'replace' ? 1 : 0, operation.value);
}

function doesNotApply(step: string): Failure {
  const message = `the server rejected our request due to an error in our request: ${step}`;
  return new Failure(message, { code: 422, reason: 'Invalid', details: {} });
}
