import { asObject, asText, type JsonObject } from './json.ts';
import { attributesOf, type Attributes } from './request-info.ts';
import { authorize, type SandboxUser } from './users.ts';
import { Failure } from './failure.ts';

const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const accessReviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const ownAccessReviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

export const isReview = (path: string): boolean =>
  [tokenReviews, accessReviews, ownAccessReviews].includes(path);

/** Who asks for a review, and of whom there can be one. */
interface Asking {
  readonly users: readonly SandboxUser[];
  readonly asker: string;
}

/** The answer to a TokenReview, a SubjectAccessReview (of a path) or a SelfSubjectAccessReview (of a resource); nothing is stored. */
export function review({ users, asker }: Asking, path: string, body: JsonObject): JsonObject {
  const spec = asObject(body['spec']);
  const { user, nonResourceAttributes, resourceAttributes } = spec;
  const userOf = (name: string): SandboxUser | undefined => users.find((one) => one.name === name);
  const statusOf = (): JsonObject => {
    if (path === tokenReviews) return tokenStatus(users, asText(spec['token']));
    if (path === accessReviews)
      return { allowed: isAllowed(userOf(asText(user)), pathAttributes(asObject(nonResourceAttributes))) };
    return { allowed: isAllowed(userOf(asker), resourceAttributesOf(asObject(resourceAttributes))) };
  };
  return { ...body, metadata: {}, status: statusOf() };
}

function tokenStatus(users: readonly SandboxUser[], token: string): JsonObject {
  const user = users.find((candidate) => candidate.token === token);
  if (user === undefined) return { user: {}, error: '[invalid bearer token, token lookup failed]' };
  const known = { username: user.name, groups: ['system:authenticated'] };
  return { authenticated: true, user: known, audiences: ['https://sandbox'] };
}

const pathAttributes = ({ path, verb }: JsonObject): Attributes =>
  attributesOf(asText(verb), new URL(asText(path), 'http://sandbox'));

function resourceAttributesOf({ verb, group, resource, subresource, namespace }: JsonObject): Attributes {
  const parts = [asText(resource), asText(subresource)].filter((part) => part !== '');
  const what = { verb: asText(verb), group: asText(group), resource: parts.join('/') };
  return { ...what, namespace: asText(namespace), name: '', path: '', isResource: true };
}

function isAllowed(user: SandboxUser | undefined, attributes: Attributes): boolean {
  if (user === undefined) return false;
  try {
    authorize(user, attributes);
    return true;
  } catch (err) {
    if (err instanceof Failure) return false;
    throw err;
  }
}
