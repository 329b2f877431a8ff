import type { KubeTransport } from '../../src/kube/http/transport.ts';
import { mess, namespaces, nodes, podName, type Leftover, type Owner } from './mess.ts';

type Send = (
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body: unknown,
) => Promise<Record<string, unknown>>;

/** Requests of the demo's own, as an administrator would make them. */
export function sender(transport: KubeTransport, signal: AbortSignal): Send {
  return async (method, path, body) => {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { body: answer } = await transport.send({ method, path, body, contentType, retries: 3 }, signal);
    return JSON.parse(answer.toString()) as Record<string, unknown>;
  };
}

/** Puts the whole mess into the cluster; resolves with how many pods that are. */
export async function fill(send: Send): Promise<number> {
  for (const { name, ...meta } of namespaces)
    await send('POST', '/api/v1/namespaces', { metadata: { name, ...meta } });
  for (const node of nodes) await makeNode(send, node);
  const owners = new Map<string, string>();
  for (const leftover of mess)
    for (let index = 0; index < leftover.count; index++) await makePod(send, { leftover, index, owners });
  return mess.reduce((sum, { count }) => sum + count, 0);
}

async function makeNode(send: Send, { name, ready, taints }: (typeof nodes)[number]): Promise<void> {
  await send('POST', '/api/v1/nodes', { metadata: { name }, spec: { taints } });
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  await send('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions } });
}

interface Making {
  readonly leftover: Leftover;
  readonly index: number;
  /** UIDs of the owners made so far. */
  readonly owners: Map<string, string>;
}

async function makePod(send: Send, { leftover, index, owners }: Making): Promise<void> {
  const { namespace, phase, reason, message, labels, finalizers } = leftover;
  const owner = leftover.owner?.(index);
  const uid = owner && (owners.get(owner.name) ?? (await makeOwner(send, owner, namespace)));
  if (owner && uid !== undefined) owners.set(owner.name, uid);
  const name = podName(leftover, index);
  const path = `/api/v1/namespaces/${namespace}/pods`;
  await send('POST', path, {
    metadata: { name, labels, finalizers, ownerReferences: owner && [{ ...owner, uid, controller: true }] },
    spec: {
      nodeName: leftover.node(index),
      containers: [{ name: 'main', image: 'registry.example.com/app:v1' }],
    },
  });
  await send('PATCH', `${path}/${name}/status`, { status: { phase, reason, message } });
  if (leftover.deleted === true) await send('DELETE', `${path}/${name}`, { gracePeriodSeconds: 30 });
}

async function makeOwner(send: Send, { apiVersion, kind, name }: Owner, namespace: string): Promise<string> {
  const plural = kind === 'Job' ? 'jobs' : 'replicasets';
  const template = {
    metadata: { labels: { app: name } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example.com/app:v1' }] },
  };
  const alwaysRestarts = { ...template, spec: { ...template.spec, restartPolicy: 'Always' } };
  const spec =
    kind === 'Job' ? { template } : { selector: { matchLabels: { app: name } }, template: alwaysRestarts };
  const made = await send('POST', `/apis/${apiVersion}/namespaces/${namespace}/${plural}`, {
    metadata: { name },
    spec,
  });
  return (made['metadata'] as { uid: string }).uid;
}
