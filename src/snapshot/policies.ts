import { unknownField } from '../api/json.ts';
import { rankPolicies } from '../api/policy/matching.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../api/policy/policy.ts';
import { parsePolicy } from '../api/policy/policy-spec.ts';
import { inForceIn, type InForceByName } from '../gc/hold.ts';
import { openBreakersIn, type OpenBreakers } from '../gc/open-breaker.ts';
import type { Field } from './field.ts';
import { fileName, readDocuments } from './files.ts';
import { InputError } from './input-error.ts';
import { refusePage } from './whole-list.ts';

const apiVersion = 'gc.dustpan.dev/v1alpha1';
const knownFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status']);

type Policies = readonly (Policy | InvalidPolicy)[];

export interface GivenPolicies {
  /** Empty = use those in force. */
  readonly files: readonly string[];
  /** Whether a policy in force that the files do not have counts as deleted. */
  readonly replacesAll: boolean;
}

/** The policies of these files. Throws InputError for policies that the API server would refuse, for two with the same name, and for a file without one. */
async function readPolicyFiles(files: readonly string[]): Promise<Policies> {
  const objects: Field[] = [];
  for (const file of files) {
    const found = (await readDocuments(file)).flatMap(policiesIn);
    if (found.length === 0) throw new InputError(fileName(file), '', 'has no GCPolicy');
    objects.push(...found);
  }
  return ranked(objects, new Set()).policies;
}

/** The policies with which to plan: those of the files, and those in force that no file replaces. */
export async function proposedPolicies(
  { files, replacesAll }: GivenPolicies,
  inForce: Policies,
): Promise<Policies> {
  const given = await readPolicyFiles(files);
  const names = new Set(given.map(({ name }) => name));
  return rankPolicies([...given, ...(replacesAll ? [] : inForce.filter(({ name }) => !names.has(name)))]);
}

interface SnapshotPolicies {
  readonly policies: Policies;
  readonly openBreakers: OpenBreakers;
  readonly inForce: InForceByName;
  readonly isKindMissing: boolean;
}

/**
 * The policies of a snapshot, likewise. But an invalid policy that the file lists as stored in the cluster is accepted: it keeps
 * what it selects, as in the cluster (docs/adr/0011).
 */
export async function readSnapshotPolicies(file: string): Promise<SnapshotPolicies> {
  const documents = await readDocuments(file);
  const storedInvalid = documents.flatMap((one) => one.at('storedInvalid').texts());
  const isKindMissing = documents.some((one) => one.at('kindMissing').boolean());
  return { ...ranked(documents.flatMap(objectsOf), new Set(storedInvalid)), isKindMissing };
}

function ranked(
  objects: readonly Field[],
  storedInvalid: ReadonlySet<string>,
): Omit<SnapshotPolicies, 'isKindMissing'> {
  const places = new Map<string, string>();
  const read = eachOf(objects, (one) => {
    const name = nameOf(one);
    const before = places.get(name);
    if (before !== undefined)
      throw one.at('metadata').at('name').wrong(`"${name}" is given twice, see ${before}`);
    places.set(name, one.file);
    const policy = parsePolicy(one.object());
    const problems = isInvalid(policy) && !storedInvalid.has(name) ? policy.problems : [];
    throwAll([...unknownFields(one), ...problems.map((problem) => problemOf(one, problem))]);
    return { policy, name, status: one.object()['status'] };
  });
  return {
    policies: rankPolicies(read.map(({ policy }) => policy)),
    openBreakers: openBreakersIn(read),
    inForce: inForceIn(read),
  };
}

/** Reads all of them, so that the problems of all are reported at once. */
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

/** A single policy, or those of a List. */
function objectsOf(document: Field): readonly Field[] {
  const kind = document.at('kind').text();
  if (kind === 'List' || kind === 'GCPolicyList') return listed(document.at('items').list());
  if (kind === 'GCPolicy') return [document];
  throw document.at('kind').mustBe('GCPolicy, GCPolicyList or List');
}

/** The policies among the objects of a document: manifests have other kinds, too. A kind in the wrong case is a mistake. */
function policiesIn(document: Field): readonly Field[] {
  const kind = document.at('kind').text();
  if (/^gcpolicy$/i.test(kind)) return [document];
  const isList = kind === 'List' || kind === 'GCPolicyList';
  if (!isList) return [];
  refusePage(document);
  return document.at('items').list().flatMap(policiesIn);
}

/** A list that begins with another kind is a list of that kind: reported once, not for every item. */
function listed(items: readonly Field[]): readonly Field[] {
  const kind = items[0]?.at('kind');
  if (kind !== undefined && kind.text() !== 'GCPolicy') throw kind.mustBe('GCPolicy');
  return items;
}

/** The name of a GCPolicy of the known version; throws for any other object. */
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

/** A problem such as `spec.mode: must be …`, with its path in the file. */
function problemOf({ file, path }: Field, problem: string): InputError {
  const [, field = '', what = problem] = /^([^\s:]*): (.*)$/s.exec(problem) ?? [];
  return new InputError(file, path === '' ? field : `${path}.${field}`, what);
}
