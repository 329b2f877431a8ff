import { Failure, resourceName } from './failure.ts';
import { asObject, asText, type JsonObject } from './format/json.ts';
import { attributesOf, type ApiRequest, type Attributes } from './request.ts';

interface UserRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** A user of the API. Everything that neither a rule nor `allow` permits is forbidden. */
export interface SandboxUser {
  readonly name: string;
  readonly token: string;
  readonly rules?: readonly UserRule[];
  readonly allow?: (attributes: Attributes) => boolean;
}

/** Throws 401 for an unknown token. */
export function authenticate(users: readonly SandboxUser[], token: string): SandboxUser {
  const user = users.find((candidate) => candidate.token === token);
  if (user === undefined) throw new Failure('Unauthorized', { code: 401, reason: 'Unauthorized' });
  return user;
}

/** Throws 403, with the API server's message, unless the user has the right. */
export function authorize(user: SandboxUser, attributes: Attributes): void {
  if (isAllowed(user, attributes)) return;
  const { verb, group, resource, namespace, name, path, isResource } = attributes;
  const what = `User "${user.name}" cannot ${verb}`;
  if (!isResource)
    throw new Failure(`forbidden: ${what} path "${path}"`, { code: 403, reason: 'Forbidden', details: {} });
  const [plural = ''] = resource.split('/');
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const object = `${resourceName({ group, plural })}${name === '' ? '' : ` "${name}"`}`;
  const message = `${object} is forbidden: ${what} resource "${resource}" in API group "${group}" ${where}`;
  throw new Failure(message, { code: 403, reason: 'Forbidden', details: { name, group, kind: plural } });
}

const ownReviews = 'selfsubjectaccessreviews';

function isAllowed({ allow, rules = [] }: SandboxUser, attributes: Attributes): boolean {
  // Like system:basic-user, which all users have.
  if (attributes.resource === ownReviews) return true;
  return allow?.(attributes) === true || rules.some((rule) => permits(rule, attributes));
}

function permits(rule: UserRule, { verb, isResource, path, group, resource }: Attributes): boolean {
  const { verbs, nonResourceURLs = [], apiGroups = [], resources = [] } = rule;
  if (!verbs.includes(verb)) return false;
  return isResource
    ? apiGroups.includes(group) && resources.includes(resource)
    : nonResourceURLs.includes(path);
}

const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const accessReviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const ownAccessReviews = `/apis/authorization.k8s.io/v1/${ownReviews}`;

/** The response to a TokenReview, a SubjectAccessReview or a SelfSubjectAccessReview of a resource; undefined for other requests. */
export function review(
  users: readonly SandboxUser[],
  sender: SandboxUser,
  { url, body = {} }: ApiRequest,
): JsonObject | undefined {
  const spec = asObject(body['spec']);
  const reviewed = (status: JsonObject): JsonObject => ({ ...body, metadata: {}, status });
  switch (url.pathname) {
    case tokenReviews:
      return reviewed(tokenStatus(users.find(({ token }) => token === spec['token'])));
    case accessReviews: {
      const user = users.find(({ name }) => name === spec['user']);
      const resource = spec['resourceAttributes'];
      // The ServiceAccount of an installed component is no user here, and has its rights.
      if (resource !== undefined)
        return reviewed({ allowed: user === undefined || isAllowed(user, attributesIn(asObject(resource))) });
      const { path, verb } = asObject(spec['nonResourceAttributes']);
      const attributes = attributesOf(asText(verb), new URL(asText(path), url));
      return reviewed({ allowed: user !== undefined && isAllowed(user, attributes) });
    }
    case ownAccessReviews:
      return reviewed({ allowed: isAllowed(sender, attributesIn(asObject(spec['resourceAttributes']))) });
    default:
      return undefined;
  }
}

function tokenStatus(user: SandboxUser | undefined): JsonObject {
  if (user === undefined) return { user: {}, error: '[invalid bearer token, token lookup failed]' };
  const known = { username: user.name, groups: ['system:authenticated'] };
  return { authenticated: true, user: known, audiences: ['https://sandbox'] };
}

function attributesIn({ verb, group, resource, subresource, namespace }: JsonObject): Attributes {
  const parts = [resource, subresource].map(asText).filter((part) => part !== '');
  const target = { verb: asText(verb), group: asText(group), resource: parts.join('/') };
  return { ...target, namespace: asText(namespace), name: '', path: '', isResource: true };
}
