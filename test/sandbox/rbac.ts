import { randomUUID } from 'node:crypto';
import { asList, asObject, asText, type JsonObject } from './json.ts';
import type { SandboxUser, UserRule } from './users.ts';

interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/** A service account with exactly what rendered manifests (Roles, ClusterRoles and their bindings) give it. */
export function serviceAccountUser(
  manifests: readonly JsonObject[],
  account: ServiceAccountName,
): SandboxUser {
  const bindings = manifests.filter(({ kind }) => kind === 'RoleBinding' || kind === 'ClusterRoleBinding');
  return {
    name: `system:serviceaccount:${account.namespace}:${account.name}`,
    token: randomUUID(),
    rules: bindings
      .filter((binding) => isBound(binding, account))
      .flatMap((binding) => boundRules(binding, manifests)),
  };
}

function isBound({ subjects }: JsonObject, { namespace, name }: ServiceAccountName): boolean {
  return asList(subjects)
    .map(asObject)
    .some(
      (subject) =>
        subject['kind'] === 'ServiceAccount' &&
        subject['name'] === name &&
        subject['namespace'] === namespace,
    );
}

function boundRules(binding: JsonObject, manifests: readonly JsonObject[]): readonly UserRule[] {
  const { kind, name } = asObject(binding['roleRef']);
  const namespace = binding['kind'] === 'RoleBinding' ? namespaceOf(binding) : undefined;
  const role = manifests.find(
    (manifest) =>
      manifest['kind'] === kind &&
      asObject(manifest['metadata'])['name'] === name &&
      (kind === 'ClusterRole' || namespaceOf(manifest) === namespace),
  );
  return asList(role?.['rules']).map((rule) => ruleOf(asObject(rule), namespace));
}

const namespaceOf = (manifest: JsonObject): string => asText(asObject(manifest['metadata'])['namespace']);

const texts = (value: unknown): readonly string[] => asList(value).map(asText);

function ruleOf(rule: JsonObject, namespace: string | undefined): UserRule {
  return {
    apiGroups: texts(rule['apiGroups']),
    resources: texts(rule['resources']),
    resourceNames: texts(rule['resourceNames']),
    verbs: texts(rule['verbs']),
    nonResourceURLs: texts(rule['nonResourceURLs']),
    namespace,
  };
}
