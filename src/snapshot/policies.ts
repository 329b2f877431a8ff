import { unknownField } from '../api/json.ts';
import { rankPolicies } from '../api/policy/matching.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../api/policy/policy.ts';
import { parsePolicy } from '../api/policy/policy-spec.ts';
import type { Field } from './field.ts';
import { readDocuments } from './files.ts';
import { InputError } from './input-error.ts';

const apiVersion = 'gc.dustpan.dev/v1alpha1';
const knownFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status']);

type Policies = readonly (Policy | InvalidPolicy)[];

/** The policies of these files, ranked; all that the API server would refuse is an InputError, and so are two of one name. */
export async function readPolicyFiles(files: readonly string[]): Promise<Policies> {
  const documents: Field[] = [];
  for (const file of files) documents.push(...(await readDocuments(file)));
  return ranked(documents, new Set());
}

interface SnapshotPolicies {
  readonly policies: Policies;
  /** The cluster that it is of did not have the kind. */
  readonly isKindMissing: boolean;
}

/**
 * The policies of a snapshot: likewise, but what the file itself names as stored in its cluster, and not to be followed, shields as it did
 * there (docs/adr/0011).
 */
export async function readSnapshotPolicies(file: string): Promise<SnapshotPolicies> {
  const documents = await readDocuments(file);
  const storedInvalid = documents.flatMap((one) => one.at('storedInvalid').texts());
  const isKindMissing = documents.some((one) => one.at('kindMissing').boolean());
  return { policies: ranked(documents, new Set(storedInvalid)), isKindMissing };
}

function ranked(documents: readonly Field[], storedInvalid: ReadonlySet<string>): Policies {
  const places = new Map<string, string>();
  const policies = eachOf(documents.flatMap(objectsOf), (one) => {
    const name = nameOf(one);
    const before = places.get(name);
    if (before !== undefined)
      throw one.at('metadata').at('name').wrong(`"${name}" is given twice, see ${before}`);
    places.set(name, one.file);
    const { policy } = parsePolicy(one.object());
    const problems = isInvalid(policy) && !storedInvalid.has(name) ? policy.problems : [];
    throwAll([...unknownFields(one), ...problems.map((problem) => problemOf(one, problem))]);
    return policy;
  });
  return rankPolicies(policies);
}

/** Reads every one, so that what is wrong with any of them is told at once. */
function eachOf<T>(fields: readonly Field[], read: (one: Field) => T): readonly T[] {
  const errors: InputError[] = [];
  const values = fields.flatMap((one) => {
    try {
      return [read(one)];
    } catch (err) {
      if (!(err instanceof InputError)) throw err;
      errors.push(err);
      return [];
    }
  });
  throwAll(errors);
  return values;
}

function throwAll([first, ...others]: readonly InputError[]): void {
  if (first !== undefined) throw first.and(others);
}

/** A policy by itself, or those of a List. */
function objectsOf(document: Field): readonly Field[] {
  const kind = document.at('kind').text();
  if (kind === 'List' || kind === 'GCPolicyList') return listed(document.at('items').list());
  if (kind === 'GCPolicy') return [document];
  throw document.at('kind').mustBe('GCPolicy, GCPolicyList or List');
}

/** One that begins with something else is a list of that: told once, not for every item. */
function listed(items: readonly Field[]): readonly Field[] {
  const kind = items[0]?.at('kind');
  if (kind !== undefined && kind.text() !== 'GCPolicy') throw kind.mustBe('GCPolicy');
  return items;
}

/** Of a GCPolicy of our version; all else throws. */
function nameOf(one: Field): string {
  const kind = one.at('kind');
  if (kind.text() !== 'GCPolicy') throw kind.mustBe('GCPolicy');
  const version = one.at('apiVersion');
  if (version.text() !== apiVersion) throw version.mustBe(apiVersion);
  return one.at('metadata').at('name').name();
}

const unknownFields = (one: Field): readonly InputError[] =>
  Object.keys(one.object())
    .filter((name) => !knownFields.has(name))
    .map((name) => one.at(name).wrong(unknownField(name, [...knownFields])));

/** `spec.mode: must be …` at its place in the file. */
function problemOf({ file, path }: Field, problem: string): InputError {
  const [, field = '', what = problem] = /^([^\s:]*): (.*)$/s.exec(problem) ?? [];
  return new InputError(file, path === '' ? field : `${path}.${field}`, what);
}
