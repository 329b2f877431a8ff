import type { NodePod } from '../api/node-pod.ts';
import type { RuntimeIdentity } from './runtime.ts';

/** What the API server knows of the kubelet's runtime. */
interface KnownToApi {
  /** status.nodeInfo.containerRuntimeVersion of the Node, such as `containerd://2.1.0`; '' or undefined = unknown. */
  readonly runtimeVersion: string | undefined;
  /** The pods bound to the node; undefined = unknown. */
  readonly pods:
    | readonly Pick<NodePod, 'namespace' | 'name' | 'uid' | 'configHash' | 'phase' | 'deletionAtMs'>[]
    | undefined;
}

/**
 * Why a runtime is not the kubelet's; undefined = nothing contradicts it. Its objects are then not those of the node's pods, or it has lost them. Versions
 * may differ: the kubelet refreshes the Node only after its own start.
 */
export function foreignBecause(
  { version, sandboxes }: RuntimeIdentity,
  { runtimeVersion = '', pods = [] }: KnownToApi,
): string | undefined {
  const [type = ''] = runtimeVersion.split('://');
  if (type !== '' && type !== version.name)
    return `the kubelet of this node uses ${runtimeVersion}, this is ${version.name} ${version.version}`;
  const running = pods.filter(({ phase, deletionAtMs }) => phase === 'Running' && deletionAtMs === undefined);
  const uids = new Set(sandboxes.map(({ podUid }) => podUid));
  const [first] = running;
  if (first === undefined || running.some((pod) => uids.has(pod.uid) || uids.has(pod.configHash ?? '')))
    return undefined;
  return `it has no sandbox of any pod that the API server lists as Running on this node, such as ${first.namespace}/${first.name}`;
}
