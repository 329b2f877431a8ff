import { badRequest, cause, invalid, preconditionFailed } from './failure.ts';
import { asList, asObject, asText, type JsonObject, type KubeObject } from './json.ts';
import type { Resource } from './resources.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly dryRun: boolean;
}

/** The body when there is one, and only then the query: a `dryRun` in the query beside a body does not count. */
export function deleteOptions(body: JsonObject | undefined, query: URLSearchParams): DeleteOptions {
  const given = body ?? fromQuery(query);
  checkKind(asText(given['kind']));
  const grace = given['gracePeriodSeconds'] ?? undefined;
  if (grace !== undefined && typeof grace !== 'number') {
    throw badRequest(
      `json: cannot unmarshal ${typeof grace} into Go struct field DeleteOptions.gracePeriodSeconds of type int64`,
    );
  }
  const dryRun = asList(given['dryRun']);
  checkDryRun(dryRun);
  checkPropagation(given['propagationPolicy']);
  const { uid, resourceVersion } = asObject(given['preconditions']);
  return {
    gracePeriodSeconds: grace,
    uid: optionalText(uid),
    resourceVersion: optionalText(resourceVersion),
    dryRun: dryRun.length > 0,
  };
}

/** Throws 409 unless the object is the one that is meant. */
export function checkPreconditions(resource: Resource, object: KubeObject, options: DeleteOptions): void {
  const { name, uid, resourceVersion } = object.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw preconditionFailed(resource, name, why);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw preconditionFailed(resource, name, why);
  }
}

const optionalText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function fromQuery(query: URLSearchParams): JsonObject {
  const grace = query.get('gracePeriodSeconds');
  return {
    dryRun: query.getAll('dryRun'),
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(query.has('propagationPolicy') ? { propagationPolicy: query.get('propagationPolicy') } : {}),
  };
}

function checkKind(kind: string): void {
  if (kind === '' || kind === 'DeleteOptions') return;
  throw badRequest(`no kind "${kind}" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`);
}

const optionsKind = { group: 'meta.k8s.io', plural: '', kind: 'DeleteOptions' };

function checkDryRun(dryRun: readonly unknown[]): void {
  if (dryRun.every((word) => word === 'All')) return;
  throw invalid(optionsKind, '', [cause.unsupported('dryRun', dryRun, ['All'])]);
}

const policies = ['Foreground', 'Background', 'Orphan', 'nil'];

function checkPropagation(policy: unknown): void {
  if (policy === undefined || policy === null || policies.includes(asText(policy))) return;
  throw invalid(optionsKind, '', [cause.unsupported('propagationPolicy', policy, policies)]);
}
