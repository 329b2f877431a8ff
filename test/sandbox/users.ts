import { Failure, resourceName, unauthorized } from './failure.ts';
import type { Attributes } from './request-info.ts';

/** A rule of a Role or ClusterRole, and the namespace it holds in. */
export interface UserRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  /** Undefined: in the whole cluster. */
  readonly namespace?: string | undefined;
}

/** Someone who may use the API. What neither a rule nor `allow` permits is forbidden. */
export interface SandboxUser {
  readonly name: string;
  readonly token: string;
  readonly rules?: readonly UserRule[];
  readonly allow?: (attributes: Attributes) => boolean;
}

const anonymous: SandboxUser = { name: 'system:anonymous', token: '' };

/** Throws 401 for a token that nobody has. */
export function authenticate(users: readonly SandboxUser[], authorization: string | undefined): SandboxUser {
  const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1];
  if (token === undefined) return anonymous;
  const user = users.find((candidate) => candidate.token === token);
  if (user === undefined) throw unauthorized();
  return user;
}

/** Throws 403, in the API server's words, unless the user may. */
export function authorize(user: SandboxUser, attributes: Attributes): void {
  if (user.allow?.(attributes) === true) return;
  if (user.rules?.some((rule) => permits(rule, attributes)) === true) return;
  if (!attributes.isResource && isPublic(attributes.path)) return;
  if (isOwnReview(attributes)) return;
  throw attributes.isResource ? forbiddenResource(user, attributes) : forbiddenPath(user, attributes);
}

/** As system:basic-user lets everybody who is authenticated. */
const isOwnReview = ({ group, resource, verb }: Attributes): boolean =>
  group === 'authorization.k8s.io' && resource === 'selfsubjectaccessreviews' && verb === 'create';

const isPublic = (path: string): boolean => /^\/(healthz|livez|readyz|version|apis?)(\/|$)/.test(path);

function permits(rule: UserRule, attributes: Attributes): boolean {
  if (!includes(rule.verbs, attributes.verb)) return false;
  if (!attributes.isResource) return includes(rule.nonResourceURLs ?? [], attributes.path);
  return isWithin(rule, attributes) && covers(rule, attributes);
}

function isWithin({ namespace, resourceNames = [] }: UserRule, attributes: Attributes): boolean {
  if (namespace !== undefined && namespace !== attributes.namespace) return false;
  return resourceNames.length === 0 || resourceNames.includes(attributes.name);
}

const covers = ({ apiGroups = [], resources = [] }: UserRule, { group, resource }: Attributes): boolean =>
  includes(apiGroups, group) && includes(resources, resource);

const includes = (list: readonly string[], word: string): boolean =>
  list.includes('*') || list.includes(word);

function forbiddenResource(
  user: SandboxUser,
  { verb, group, resource, namespace, name }: Attributes,
): Failure {
  const plural = resource.split('/')[0] ?? '';
  const what = `${resourceName({ group, plural })}${name === '' ? '' : ` "${name}"`}`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const message = `${what} is forbidden: User "${user.name}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
  const details = { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: plural };
  return new Failure(message, { code: 403, reason: 'Forbidden', details });
}

function forbiddenPath(user: SandboxUser, { verb, path }: Attributes): Failure {
  const message = `forbidden: User "${user.name}" cannot ${verb} path "${path}"`;
  return new Failure(message, { code: 403, reason: 'Forbidden', details: {} });
}
