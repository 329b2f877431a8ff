/** The sentence of the API server's authorizer (k8s.io/apiserver, responsewriters/errors.go). */
const denial =
  /cannot (\S+) resource "([^"]+)" in API group "([^"]*)" (?:at the cluster scope|in the namespace "([^"]+)")/;

/** These have no namespace: `kubectl auth can-i -A` would warn about it. */
const withoutNamespace: ReadonlySet<string> = new Set(['nodes', 'namespaces', 'gcpolicies', 'nodegcreports']);

/** Appends to the line of a denied request how to check the right, and what grants it; other lines stay as they are. */
export function withMissingRight(line: string): string {
  const [, verb, resource = '', group = '', namespace] = denial.exec(line) ?? [];
  if (verb === undefined) return line;
  const [kind = '', ...rest] = resource.split('/');
  const name = [group === '' ? kind : `${kind}.${group}`, ...rest].join('/');
  const everywhere = { scope: withoutNamespace.has(kind) ? '' : ' -A', role: 'a ClusterRole' };
  const { scope, role } = namespace === undefined ? everywhere : within(namespace);
  return `${line.replace(/\.$/, '')}; to check it, run kubectl auth can-i ${verb} ${name}${scope}; an administrator grants it by ${role} with verb ${verb} on ${name}`;
}

const within = (namespace: string): { readonly scope: string; readonly role: string } => ({
  scope: ` -n ${namespace}`,
  role: `a Role of namespace ${namespace}, or a ClusterRole,`,
});
