import { asObject, asText, type JsonObject } from './json.ts';
import { attributesOf } from './request-info.ts';
import { authorize, type SandboxUser } from './users.ts';
import { Failure } from './failure.ts';

const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const accessReviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

export const isReview = (path: string): boolean => path === tokenReviews || path === accessReviews;

/** The answer to a TokenReview or a SubjectAccessReview (of a path); nothing is stored. */
export function review(users: readonly SandboxUser[], path: string, body: JsonObject): JsonObject {
  const spec = asObject(body['spec']);
  const status =
    path === tokenReviews ? tokenStatus(users, asText(spec['token'])) : { allowed: isAllowed(users, spec) };
  return { ...body, metadata: {}, status };
}

function tokenStatus(users: readonly SandboxUser[], token: string): JsonObject {
  const user = users.find((candidate) => candidate.token === token);
  if (user === undefined) return { user: {}, error: '[invalid bearer token, token lookup failed]' };
  const known = { username: user.name, groups: ['system:authenticated'] };
  return { authenticated: true, user: known, audiences: ['https://sandbox'] };
}

function isAllowed(users: readonly SandboxUser[], spec: JsonObject): boolean {
  const { path, verb } = asObject(spec['nonResourceAttributes']);
  const user = users.find(({ name }) => name === asText(spec['user']));
  if (user === undefined) return false;
  try {
    authorize(user, attributesOf(asText(verb), new URL(asText(path), 'http://sandbox')));
    return true;
  } catch (err) {
    if (err instanceof Failure) return false;
    throw err;
  }
}
