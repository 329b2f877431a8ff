import type { Context } from '../context.ts';
import { groups, namespaces, nodes, podName, type Owner, type PodGroup } from './objects.ts';

type Send = Context['send'];

/** Creates namespaces, nodes, owners and pods; resolves with the number of pods. */
export async function createPods(send: Send): Promise<number> {
  for (const { name, ...meta } of namespaces)
    await send('POST', '/api/v1/namespaces', { metadata: { name, ...meta } });
  for (const { name, ready, taints } of nodes) {
    await send('POST', '/api/v1/nodes', { metadata: { name }, spec: { taints } });
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    await send('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions } });
  }
  const owners: Owners = new Map();
  for (const group of groups) await createGroup(send, group, owners);
  return groups.reduce((sum, { count }) => sum + count, 0);
}

/** References to the owners created so far, by name: groups may share an owner. */
type Owners = Map<string, object>;

async function createGroup(send: Send, group: PodGroup, owners: Owners): Promise<void> {
  for (let index = 0; index < group.count; index++) {
    const owner = group.owner?.(index);
    const created = owner && (owners.get(owner.name) ?? (await createOwner(send, owner, group.namespace)));
    if (owner && created) owners.set(owner.name, created);
    await createPod(send, group, index, created);
  }
}

const containers = [{ name: 'main', image: 'registry.example.com/app:v1' }];

async function createPod(
  send: Send,
  group: PodGroup,
  index: number,
  owner: object | undefined,
): Promise<void> {
  const { namespace, phase, reason, message, app, labels, finalizers } = group;
  const name = podName(group, index);
  const path = `/api/v1/namespaces/${namespace}/pods`;
  await send('POST', path, {
    metadata: { name, labels: { app, ...labels }, finalizers, ownerReferences: owner && [owner] },
    spec: { nodeName: group.node ?? `node-${1 + (index % 5)}`, containers },
  });
  await send('PATCH', `${path}/${name}/status`, { status: { phase, reason, message } });
  if (group.isDeleted === true) await send('DELETE', `${path}/${name}`, { gracePeriodSeconds: 30 });
}

/** Resolves with the reference to it. */
async function createOwner(send: Send, owner: Owner, namespace: string): Promise<object> {
  const { apiVersion, kind, name } = owner;
  const isJob = kind === 'Job';
  const template = {
    metadata: { labels: { app: name } },
    spec: { restartPolicy: isJob ? 'Never' : 'Always', containers },
  };
  const spec = isJob ? { template } : { selector: { matchLabels: { app: name } }, template };
  const path = `/apis/${apiVersion}/namespaces/${namespace}/${isJob ? 'jobs' : 'replicasets'}`;
  const made = await send('POST', path, { metadata: { name }, spec });
  return { ...owner, uid: (made['metadata'] as { uid: string }).uid, controller: true };
}
