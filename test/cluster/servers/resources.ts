import { join } from 'node:path';
import type { Cluster } from './cluster.ts';
import { repositoryRoot } from '../repository.ts';
import { create, kubectl } from './kubectl.ts';
import { eventually, waitUntil } from './waiting.ts';

/** A rule of RBAC. */
export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

type Kubectl = Pick<Cluster, 'run'>;

/** Every cluster starts with these waits. */
const quickly = { ...eventually, interval: 200 };

/** Installs the repository's CRDs and waits until kubectl knows their kinds; returns the paths of their resources. */
export async function installCrds(cluster: Kubectl): Promise<string[]> {
  const path = '/apis/{.spec.group}/{.spec.versions[0].name}/{.spec.names.plural}{"\\n"}';
  const crds = join(repositoryRoot(), 'crds');
  const paths = await kubectl(cluster, ['create', '-f', crds, '-o', `jsonpath=${path}`]);
  await ourKindsListed(cluster);
  return paths.trim().split('\n');
}

/** Waits until the API server lists dustpan's kinds: it may serve them a moment earlier. */
export async function ourKindsListed(cluster: Kubectl): Promise<void> {
  const list = ['api-resources', '--api-group=gc.dustpan.dev', '-o', 'name'];
  await waitUntil(
    'dustpan’s kinds are listed',
    async () => {
      const { stdout } = await cluster.run('kubectl', list);
      return ['gcpolicies.', 'nodegcreports.'].every((kind) => stdout.includes(kind));
    },
    quickly,
  );
}

/** Grants a user these rules in the whole cluster; resolves when they are effective. */
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
  await create(cluster, role, binding);
  const [attributes] = rules.flatMap(attributesOf);
  if (attributes !== undefined)
    await waitUntil(`${user} has its rights`, () => isAllowed(cluster, user, attributes), quickly);
}

/** The attributes of a SubjectAccessReview for the first access that the rule allows. */
function attributesOf({
  apiGroups = [],
  resources = [],
  nonResourceURLs = [],
  verbs,
}: Rule): readonly object[] {
  const [verb] = verbs;
  const [resource, subresource] = resources[0]?.split('/') ?? [];
  if (resource !== undefined)
    return [{ resourceAttributes: { verb, group: apiGroups[0] ?? '', resource, subresource } }];
  return nonResourceURLs.slice(0, 1).map((path) => ({ nonResourceAttributes: { verb, path } }));
}

async function isAllowed(cluster: Kubectl, user: string, attributes: object): Promise<boolean> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, ...attributes },
  };
  const args = ['create', '-f', '-', '-o', 'jsonpath={.status.allowed}'];
  return (await kubectl(cluster, args, JSON.stringify(review))) === 'true';
}
