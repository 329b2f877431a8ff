import { join } from 'node:path';
import type { Cluster } from './cluster.ts';
import { repositoryRoot } from './repository.ts';

/** A rule of RBAC. */
export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

type Kubectl = Pick<Cluster, 'run'>;

/** Installs the repository's CRDs; returns the paths that answer once they are established and served. */
export async function installCrds(cluster: Kubectl): Promise<string[]> {
  const path = '/apis/{.spec.group}/{.spec.versions[0].name}/{.spec.names.plural}{"\\n"}';
  const crds = join(repositoryRoot(), 'crds');
  const paths = await kubectl(cluster, ['create', '-f', crds, '-o', `jsonpath=${path}`]);
  return paths.trim().split('\n');
}

/** Lets a user do what the rules say, in the whole cluster. */
export async function grant(cluster: Kubectl, user: string, rules: readonly Rule[]): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io';
  const metadata = { name: `bed:${user}` };
  const role = { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules };
  const binding = {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  };
  const list = { apiVersion: 'v1', kind: 'List', items: [role, binding] };
  await kubectl(cluster, ['create', '-f', '-'], JSON.stringify(list));
}

async function kubectl(cluster: Kubectl, args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.run('kubectl', args, input);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}
