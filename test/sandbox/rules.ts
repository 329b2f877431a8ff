import { cause, type StatusCause } from './failure.ts';
import { asList, asObject, asText, type JsonObject, type KubeObject } from './json.ts';

/** What admission makes of an object: with its defaults, and what is wrong with it. */
interface Admitted {
  readonly object: KubeObject;
  readonly causes: readonly StatusCause[];
}

/** What one kind does in its own way. */
export interface Rules {
  /** metadata.generation counts the changes of the spec. */
  readonly generation: boolean;
  /** PUT without a resourceVersion overwrites. */
  readonly unconditionalUpdate: boolean;
  /** PUT of a name that does not exist creates it. */
  readonly createOnUpdate: boolean;
  /** The status of a new object is its creator's: kubelets register nodes so. */
  readonly keepsStatus?: true;
  /** Group in the 422s of this kind, where it is not its own. */
  readonly errorGroup?: string;
  /** Throws what the decoder of the real server refuses (400) before it looks at the content. */
  decode(object: KubeObject): void;
  admit(object: KubeObject, old: KubeObject | undefined): Admitted;
  /** The fields that a fieldSelector may use, beside metadata.name and metadata.namespace. */
  fields(object: KubeObject): Readonly<Record<string, string>>;
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const subdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character" +
  " (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** What every kind demands of its metadata. */
export function metadataCauses(
  { metadata }: KubeObject,
  old: KubeObject | undefined,
): readonly StatusCause[] {
  const owners = asList(metadata['ownerReferences']).map(asObject).flatMap(ownerCauses);
  const rest =
    old === undefined ? nameCauses(metadata.name) : finalizerCauses(metadata.finalizers ?? [], old);
  return [...rest, ...owners];
}

const ownerFields = ['apiVersion', 'kind', 'name', 'uid'];

function ownerCauses(owner: JsonObject): readonly StatusCause[] {
  return ownerFields
    .filter((field) => asText(owner[field]) === '')
    .map((field) => cause.invalid(`metadata.ownerReferences.${field}`, 'must not be empty'));
}

function nameCauses(name: string): readonly StatusCause[] {
  if (name === '') return [cause.required('metadata.name', 'name or generateName is required')];
  if (subdomain.test(name) && name.length <= 253) return [];
  return [cause.invalid('metadata.name', subdomainMessage, name)];
}

function finalizerCauses(finalizers: readonly string[], { metadata }: KubeObject): readonly StatusCause[] {
  if (metadata.deletionTimestamp === undefined) return [];
  const added = finalizers.filter((name) => !(metadata.finalizers ?? []).includes(name));
  if (added.length === 0) return [];
  const list = added.map((name) => JSON.stringify(name)).join(', ');
  const message = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [cause.forbidden('metadata.finalizers', message)];
}
