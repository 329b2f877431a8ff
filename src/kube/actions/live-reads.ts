import { doNotDisruptOf } from '../../api/do-not-disrupt.ts';
import type { V1Pod } from '@kubernetes/client-node';
import type { NodeConfirmation } from '../../api/node-confirmation.ts';
import type { PodRef } from '../../api/pod-ref.ts';
import { governNode } from '../../api/policy/node-governance.ts';
import { PolicySet } from '../../api/policy/policy-set.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { isAllowed } from '../auth/own-rights.ts';
import { readAll } from '../cache/list-watch.ts';
import { nodePodsResource, type NodePodFacts } from '../cache/node-pods.ts';
import type { NamespaceFacts, NodeFacts, OwnerRef } from '../cache/objects.ts';
import { controllerOf, mirroredUid } from '../cache/owner-references.ts';
import { namespaceCodec, nodeCodec, nodesResource, policiesPath, type Resource } from '../cache/resources.ts';
import {
  asObject,
  asObjects,
  asText,
  numberFromJson,
  ownersFromJson,
  parseJson,
  textsFromJson,
  type Unchecked,
} from '../codec/json.ts';
import { deadlineAfter } from '../../runtime/scheduling/abort.ts';
import { acceptMetadata } from '../http/media-types.ts';
import { isDenied, isMissing, unless, type KubeTransport } from '../http/transport.ts';
import { actionTimeoutMs, podPath, type PodName } from './pod-requests.ts';

export interface LivePolicies {
  readonly policies: PolicySet;
  /** How far our clock is ahead of the API server's; 0 if it sends no date. */
  readonly clockSkewMs: number;
}

/** The facts of a pod that are verified right before its eviction. */
export interface LivePod extends PodName {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly controller: OwnerRef | undefined;
  /** undefined = not bound to a node. */
  readonly nodeName: string | undefined;
  readonly phase: string;
  readonly isTerminating: boolean;
  readonly priority: number | undefined;
  /** The UID of the static pod that this pod mirrors. */
  readonly configHash: string | undefined;
  /** The annotation by which its owner refuses evictions; undefined = none. */
  readonly doNotDisrupt: string | undefined;
}

/** `unknown`: the API server did not respond, so the pod must count as existing. */
export type PodState = 'gone' | 'exists' | 'unknown';

/** The caller waits for it right before a removal: one request, or all of them together. */
const timeoutMs = 10_000;

/** Reads objects right before a deletion or an eviction, never from a cache. undefined = the object does not exist. */
export class LiveReads {
  readonly #transport: Pick<KubeTransport, 'send'>;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(transport: Pick<KubeTransport, 'send'>, clock: Pick<Clock, 'now'>) {
    this.#transport = transport;
    this.#clock = clock;
  }

  async policies(signal: AbortSignal): Promise<LivePolicies> {
    const { policies, serverTime } = await readPolicies(this.#transport, signal);
    return { policies, clockSkewMs: skewMs(this.#clock, serverTime) };
  }

  async node(name: string, signal: AbortSignal): Promise<NodeFacts | undefined> {
    const node = await this.#get(`/api/v1/nodes/${encodeURIComponent(name)}`, signal);
    return node && nodeCodec().fromJson(node);
  }

  async namespace(name: string, signal: AbortSignal): Promise<NamespaceFacts | undefined> {
    const namespace = await this.#get(`/api/v1/namespaces/${encodeURIComponent(name)}`, signal);
    return namespace && namespaceCodec().fromJson(namespace);
  }

  async pod(name: PodName, signal: AbortSignal): Promise<LivePod | undefined> {
    try {
      const pod = await this.#get(podPath(name), signal);
      return pod && livePodOf(asObject(pod));
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error('reading pod', { cause });
    }
  }

  /** Whether this process has the right to create pods/eviction in the namespace. */
  async mayEvict(namespace: string, signal: AbortSignal): Promise<boolean> {
    const right = { namespace, verb: 'create', group: '', resource: 'pods', subresource: 'eviction' };
    try {
      return (await isAllowed(this.#transport, right, signal)) === true;
    } catch (cause) {
      throw new Error('checking the right to evict', { cause });
    }
  }

  async #get(path: string, signal: AbortSignal): Promise<object | undefined> {
    const request = { method: 'GET', path, timeoutMs: actionTimeoutMs, retries: 0 } as const;
    const response = await unless(isMissing, this.#transport.send(request, signal));
    return response && asObject(parseJson(response.body));
  }
}

/** Reads live whether a VolumeAttachment exists; the agent has the right only if it may remove pod directories. */
export const attachmentReader =
  (transport: Pick<KubeTransport, 'send'>) =>
  async (name: string, signal: AbortSignal): Promise<boolean> => {
    const path = `/apis/storage.k8s.io/v1/volumeattachments/${encodeURIComponent(name)}`;
    const request = { method: 'GET', path, accept: acceptMetadata, timeoutMs, retries: 1 } as const;
    return (await unless(isMissing, transport.send(request, signal))) !== undefined;
  };

/**
 * Whether the DaemonSet that runs this pod is deleted. An uninstallation also deletes the right to read that, or the service account: then it is
 * too. Rejects if the API server does not respond.
 */
export async function isUninstalled(
  transport: Pick<KubeTransport, 'send'>,
  pod: PodName,
  signal: AbortSignal,
): Promise<boolean> {
  const get = async (path: string): Promise<Unchecked<V1Pod> | undefined> => {
    const request = { method: 'GET', path, accept: acceptMetadata, timeoutMs, retries: 1 } as const;
    const response = await unless(isMissing, transport.send(request, signal));
    return response && asObject<V1Pod>(parseJson(response.body));
  };
  try {
    const own = await get(podPath(pod));
    const controller = controllerOf(ownersFromJson(asObject(own?.metadata).ownerReferences));
    if (controller?.kind !== 'DaemonSet') return false;
    const namespace = encodeURIComponent(pod.namespace);
    const path = `/apis/apps/v1/namespaces/${namespace}/daemonsets/${encodeURIComponent(controller.name)}`;
    const { deletionTimestamp, uid } = asObject((await get(path))?.metadata);
    return asText(uid) !== controller.uid || asText(deletionTimestamp) !== '';
  } catch (err) {
    if (isDenied(err)) return true;
    throw err;
  }
}

interface LiveNodeDeps {
  readonly transport: Pick<KubeTransport, 'send' | 'stream'>;
  readonly clock: Clock;
  readonly nodeName: string;
}

/** Reads the agent's own node and its pods right before a removal, never from a cache. */
export class LiveNode {
  readonly #deps: LiveNodeDeps;
  readonly #node: Resource<NodeFacts>;
  readonly #pods: Resource<NodePodFacts>;

  constructor(deps: LiveNodeDeps) {
    this.#deps = deps;
    this.#node = nodesResource({ name: deps.nodeName });
    this.#pods = nodePodsResource(deps.nodeName);
  }

  /** Reads policies, node and pods at once. Rejects if any part cannot be read completely: a watch may be dead for minutes before that is noticed. */
  async confirm(signal: AbortSignal): Promise<NodeConfirmation> {
    const { transport, clock, nodeName } = this.#deps;
    const [{ policies, serverTime }, nodes, pods] = await this.#inTime(
      (inTime) =>
        Promise.all([
          readPolicies(transport, inTime),
          readAll(transport, this.#node, inTime),
          readAll(transport, this.#pods, inTime),
        ]),
      signal,
    );
    const node = nodes.find(({ name }) => name === nodeName);
    return {
      governance: governNode(policies.ranked, node),
      labels: node?.labels,
      pods,
      clockSkewMs: skewMs(clock, serverTime),
    };
  }

  /**
   * Whether a pod of the node still exists: by its name, or among all pods of the node if only the UID is known. A static pod has the UID of its
   * manifest, not of its mirror.
   */
  async podState({ uid, namespace, name }: PodRef, signal: AbortSignal): Promise<PodState> {
    try {
      const isNamed = namespace !== undefined && name !== undefined;
      return await (isNamed ? this.#byName({ namespace, name }, uid, signal) : this.#byUid(uid, signal));
    } catch {
      signal.throwIfAborted();
      return 'unknown';
    }
  }

  async #byName(pod: PodName, wanted: string, signal: AbortSignal): Promise<PodState> {
    const { transport, nodeName } = this.#deps;
    const path = podPath(pod);
    const request = { method: 'GET', path, accept: acceptMetadata, timeoutMs, retries: 1 } as const;
    const response = await unless(isMissing, transport.send(request, signal));
    if (response === undefined) return 'gone';
    const { metadata } = asObject<V1Pod>(parseJson(response.body));
    const { uid, annotations, ownerReferences } = asObject(metadata);
    if (asText(uid) === '') return 'unknown';
    const controller = controllerOf(ownersFromJson(ownerReferences));
    const mirrored = mirroredUid({ annotations: asObject(annotations), controller, nodeName });
    return uid === wanted || mirrored === wanted ? 'exists' : 'gone';
  }

  /** Reads the list pod by pod: the metadata of a hundred pods may be 140 MB. */
  async #byUid(wanted: string, signal: AbortSignal): Promise<PodState> {
    const pods = await this.#inTime((inTime) => readAll(this.#deps.transport, this.#pods, inTime), signal);
    return pods.some(({ uid, configHash }) => uid === wanted || configHash === wanted) ? 'exists' : 'gone';
  }

  async #inTime<T>(read: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const late = (): Error => new Error(`no response of the API server within ${timeoutMs / 1000} s`);
    const deadline = deadlineAfter(this.#deps.clock, timeoutMs, late, signal);
    try {
      return await read(deadline.signal);
    } finally {
      deadline.stop();
    }
  }
}

/** All policies, and the time of the API server's clock; undefined if it sends no date. */
async function readPolicies(
  transport: Pick<KubeTransport, 'send'>,
  signal: AbortSignal,
): Promise<{ readonly policies: PolicySet; readonly serverTime: Date | undefined }> {
  const request = { method: 'GET', path: policiesPath, timeoutMs, retries: 1 } as const;
  const { body, headers } = await transport.send(request, signal);
  const list = asObject(parseJson(body));
  if (!Array.isArray(list['items'])) throw new Error('reading policies: the response is not a list');
  if (asText(asObject(list['metadata'])['continue']) !== '')
    throw new Error('reading policies: the response is not the whole list');
  const policies = new PolicySet();
  policies.update(asObjects(list['items']));
  const sent = Date.parse(asText(headers['date']));
  return { policies, serverTime: Number.isNaN(sent) ? undefined : new Date(sent) };
}

const skewMs = (clock: Pick<Clock, 'now'>, serverTime: Date | undefined): number =>
  serverTime === undefined ? 0 : clock.now().getTime() - serverTime.getTime();

function livePodOf(pod: Unchecked<V1Pod>): LivePod {
  const meta = asObject(pod.metadata);
  const spec = asObject(pod.spec);
  const { phase } = asObject(pod.status);
  const controller = controllerOf(ownersFromJson(meta.ownerReferences));
  const nodeName = typeof spec.nodeName === 'string' ? spec.nodeName : undefined;
  const annotations = asObject(meta.annotations);
  const uid = asText(meta.uid);
  if (uid === '') throw new Error('the response is not a pod');
  return {
    namespace: asText(meta.namespace),
    name: asText(meta.name),
    uid,
    resourceVersion: asText(meta.resourceVersion),
    labels: textsFromJson(meta.labels),
    controller,
    nodeName,
    phase: asText(phase),
    isTerminating: asText(meta.deletionTimestamp) !== '',
    priority: numberFromJson(spec.priority),
    configHash: mirroredUid({ annotations, controller, nodeName }),
    doNotDisrupt: doNotDisruptOf(annotations),
  };
}
