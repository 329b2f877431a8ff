import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startCriSandbox, type CriSandbox } from '../../sandbox/cri/server.ts';
import { layOutImages } from '../../sandbox/node/image-disk.ts';
import { mountMemory } from '../../sandbox/node/own-mounts.ts';
import { policiesPath, type Context } from '../context.ts';
import { plan, Program, type Plan } from '../program.ts';
import {
  boundPods,
  diskMiB,
  NodeObjects,
  nodeLabels,
  nodeName,
  nodePolicy,
  type PodUids,
} from './objects.ts';

/** The simulated node. */
export interface DemoNode {
  readonly cri: CriSandbox;
  readonly objects: NodeObjects;
  /** Whether the images have a disk of their own. */
  readonly hasDisk: boolean;
  /** With these variables dustpan uses this cluster and this node. */
  readonly env: Readonly<Record<string, string>>;
}

/** Creates the node with everything on it, its pods and its Node in the API server, and its policy in DryRun. */
export async function startNode(context: Context): Promise<DemoNode> {
  const uids = await bindPods(context);
  const path = (name: string): string => join(context.directory, name);
  for (const name of ['pods', 'containers', 'state', 'kubelet', 'images'])
    mkdirSync(path(name), { recursive: true });
  const unmount = mountMemory(path('images'), diskMiB);
  if (unmount) context.atEnd(unmount);
  const hasDisk = unmount !== undefined;
  const logs = { pods: path('pods'), containers: path('containers') };
  const cri = await startCriSandbox({ socket: path('cri.sock'), logs, mountpoint: path('images') });
  context.atEnd(() => {
    cri.stop();
  });
  const objects = new NodeObjects(cri.runtime, { ...logs, state: path('state') }, { hasDisk });
  objects.create(uids);
  delayRemovals(cri, hasDisk);
  await context.send('POST', policiesPath, nodePolicy('DryRun', { hasDisk }));
  const env = {
    ...context.env,
    NODE_NAME: nodeName,
    DUSTPAN_CRI_SOCKET: path('cri.sock'),
    DUSTPAN_STATE_DIR: path('state'),
    DUSTPAN_POD_LOGS_DIR: path('pods'),
    DUSTPAN_CONTAINER_LOGS_DIR: path('containers'),
    DUSTPAN_KUBELET_ROOT_DIR: path('kubelet'),
    ...(context.kubelet && { DUSTPAN_KUBELET_ENDPOINT: context.kubelet.endpoint }),
  };
  return { cri, objects, hasDisk, env };
}

/** As in a real runtime, and so that a person can follow it. */
function delayRemovals(cri: CriSandbox, hasDisk: boolean): void {
  const removalMs = 250;
  if (hasDisk) layOutImages(cri, removalMs);
  for (const method of ['RemoveImage', 'RemoveContainer', 'RemovePodSandbox'])
    cri.faults.next(method, { kind: 'delay', ms: removalMs }, Infinity);
}

async function bindPods({ send }: Context): Promise<PodUids> {
  await send('POST', '/api/v1/nodes', { metadata: { name: nodeName, labels: nodeLabels } });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await send('PATCH', `/api/v1/nodes/${nodeName}/status`, { status: { conditions } });
  const uids: Record<string, string> = {};
  for (const { name, app, phase, image } of boundPods) {
    const spec = { nodeName, containers: [{ name: 'main', image }] };
    const pod = await send('POST', '/api/v1/namespaces/web/pods', {
      metadata: { name, labels: { app } },
      spec,
    });
    await send('PATCH', `/api/v1/namespaces/web/pods/${name}/status`, { status: { phase } });
    uids[name] = (pod['metadata'] as { uid: string }).uid;
  }
  return uids as PodUids;
}

export const agentLog = (directory: string): string => join(directory, 'agent.log');

/** Starts the agent as a user does, but with a pass each second. */
export function startAgent({ directory }: Context, { env }: DemoNode): Program {
  return new Program(
    [
      ...['agent', '--container-gc-period=1s', '--image-gc-period=1s', '--local-storage-period=1s', '--v=4'],
      ...['--metrics-bind-address=0', '--health-probe-bind-address=0'],
    ],
    agentLog(directory),
    env,
  );
}

/** What the node holds now, and what `dustpan plan` decides about it. */
export interface NodeState {
  /** Reasons by id or path. */
  readonly due: ReadonlyMap<string, string>;
  readonly kept: ReadonlyMap<string, string>;
  readonly usedPercent: number;
  readonly imageCount: number;
  readonly imageBytes: number;
}

export async function nodeState({ cri, env }: DemoNode): Promise<NodeState> {
  const { due, kept, usedPercent = 0 } = await plan(env);
  const images = cri.runtime.images.all;
  return {
    ...{ due: byId(due), kept: byId(kept), usedPercent, imageCount: images.length },
    imageBytes: images.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
}

const byId = (decisions: Plan['due']): ReadonlyMap<string, string> =>
  new Map(
    decisions.flatMap(({ object, reason }) =>
      object.kind === 'Pod' ? [] : [[object.id ?? object.path ?? '', reason] as const],
    ),
  );

/** Whether the object is on the node, according to the runtime and the file system. */
export function isPresent({ runtime }: CriSandbox, id: string): boolean {
  if (id.startsWith('/')) return lstatSync(id, { throwIfNoEntry: false }) !== undefined;
  if (id.startsWith('sha256:')) return runtime.images.all.some((image) => image.id === id);
  return runtime.pods.containers.has(id) || runtime.pods.sandboxes.has(id);
}
