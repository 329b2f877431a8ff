import { gcPolicyCrd } from '../api/gcpolicy-crd.gen.ts';
import { rankPolicies } from '../api/matching.ts';
import { parsePolicy, type InvalidPolicy, type Policy } from '../api/policy.ts';
import { schemaChecker } from '../api/schema-check.ts';
import type { Field } from './field.ts';
import { readDocuments } from './files.ts';
import { InputError } from './input-error.ts';

const apiVersion = 'gc.dustpan.dev/v1alpha1';
const knownFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status']);

/** The policies of these files, ranked; all that the API server would refuse is an InputError, and so are two of one name. */
export async function readPolicyFiles(
  files: readonly string[],
): Promise<readonly (Policy | InvalidPolicy)[]> {
  const check = schemaChecker(gcPolicyCrd);
  const documents: Field[] = [];
  for (const file of files) documents.push(...(await readDocuments(file)));
  const places = new Map<string, string>();
  const policies = documents.flatMap(objectsOf).map((one) => {
    const policy = policyOf(one, check);
    const before = places.get(policy.name);
    if (before !== undefined)
      throw one.at('metadata').at('name').wrong(`"${policy.name}" is given twice, see ${before}`);
    places.set(policy.name, one.file);
    return policy;
  });
  return rankPolicies(policies);
}

/** A policy by itself, or those of a List. */
function objectsOf(document: Field): readonly Field[] {
  const kind = document.at('kind').text();
  if (kind === 'List' || kind === 'GCPolicyList') return document.at('items').list();
  if (kind === 'GCPolicy') return [document];
  throw document.at('kind').mustBe('GCPolicy, GCPolicyList or List');
}

function policyOf(one: Field, check: ReturnType<typeof schemaChecker>): Policy {
  const kind = one.at('kind');
  if (kind.text() !== 'GCPolicy') throw kind.mustBe('GCPolicy');
  const version = one.at('apiVersion');
  if (version.text() !== apiVersion) throw version.mustBe(apiVersion);
  one.at('metadata').at('name').name();
  const unknown = Object.keys(one.object()).find((name) => !knownFields.has(name));
  if (unknown !== undefined) throw one.at(unknown).wrong('is not a known field');
  const parsed = parsePolicy(one.object());
  // Ours first: it names unknown fields, which a schema only prunes.
  const problems = [
    ...(parsed.kind === 'invalid' ? parsed.policy.problems : []),
    ...check(one.object()).problems,
  ];
  if (problems[0] !== undefined) throw problemOf(one, problems[0]);
  if (parsed.kind === 'invalid') throw one.wrong('is not a valid GCPolicy');
  return parsed.policy;
}

/** `spec.mode: must be …` at its place in the file. */
function problemOf({ file, path }: Field, problem: string): InputError {
  const [, field = '', what = problem] = /^([^\s:]*): (.*)$/s.exec(problem) ?? [];
  return new InputError(file, path === '' ? field : `${path}.${field}`, what);
}
