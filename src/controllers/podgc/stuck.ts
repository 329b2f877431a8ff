import type { NodeFacts, PodFacts, PodWait } from '../../kube/cache/objects.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { isTerminating } from './facts.ts';
import { isOutOfService, outOfServiceTaint } from './nodes.ts';

/** Why a pod is stuck, in a word, with a sentence that holds for each such pod. */
export const stuckMeanings = {
  NoNode: 'Its node does not exist.',
  NodeNotReady: 'Its node is not ready.',
  Finalizer: 'It waits for its finalizers.',
  Volume: 'A volume is missing, or its kubelet cannot mount or unmount one.',
  Image: 'An image cannot be pulled.',
  Unschedulable: 'The scheduler has not bound it to a node.',
  Other: 'Its status names another cause, or none.',
} as const;

export type StuckCause = keyof typeof stuckMeanings;

export const isStuckCause = (text: string): text is StuckCause => Object.hasOwn(stuckMeanings, text);

export const stuckCauses: readonly StuckCause[] = Object.keys(stuckMeanings).filter(isStuckCause);

/** A pod that makes no progress. dustpan reports it, and does not delete it because of that. */
export interface Stuck {
  readonly cause: StuckCause;
  /** When the grace period ended; of a pod that has not started, its last progress. Unix milliseconds. */
  readonly sinceMs: number;
  /** What holds the pod. */
  readonly detail: string;
  /** When the command helps; without a full stop. */
  readonly advice: string;
  readonly command: string;
}

/** The nodes by name; undefined = not known: then no node is a cause. */
type Nodes = ReadonlyMap<string, NodeFacts> | undefined;

/** A kubelet needs seconds to end a pod, and a slow detachment of a volume six minutes. */
const terminatingMs = 10 * 60_000;
/** A large image, or a new node, may take many minutes. */
const startingMs = 60 * 60_000;

/**
 * Why a pod is stuck; undefined = it is not. A terminating pod is stuck ten minutes after its grace period (its deletionTimestamp). A pod in phase
 * Pending or Unknown is stuck an hour after its last progress: the newest of its creation and the transitions of its conditions, because its status
 * has no time for the phase, and a pod that was scheduled a minute ago is not stuck, however long it has been queued. A time that is not known,
 * or in the future, proves nothing.
 */
export function stuckBecause(pod: PodFacts, nodes: Nodes, now: Date): Stuck | undefined {
  const { deletionAtMs, wait } = pod;
  const sinceMs = deletionAtMs ?? wait?.sinceMs;
  const limitMs = deletionAtMs === undefined ? startingMs : terminatingMs;
  if (sinceMs === undefined || now.getTime() - sinceMs < limitMs) return undefined;
  return { sinceMs, ...obstacle(pod, nodes) };
}

/** A stuck pod with the obstacle. */
export interface StuckPod extends Stuck {
  readonly pod: PodFacts;
}

/** The stuck pods, longest first. */
export function stuckPods(pods: Iterable<PodFacts>, nodes: Nodes, now: Date): readonly StuckPod[] {
  const stuck: StuckPod[] = [];
  for (const pod of pods) {
    const because = stuckBecause(pod, nodes, now);
    if (because !== undefined) stuck.push({ pod, ...because });
  }
  return stuck.sort((a, b) => a.sinceMs - b.sinceMs);
}

type Obstacle = Omit<Stuck, 'sinceMs'>;

function obstacle(pod: PodFacts, nodes: Nodes): Obstacle {
  if (isHeld(pod)) return finalizers(pod);
  const node = pod.nodeName === undefined ? undefined : nodes?.get(pod.nodeName);
  if (pod.nodeName !== undefined && nodes !== undefined && node === undefined) return noNode(pod);
  if (node?.ready === false) return notReady(pod, node);
  return isTerminating(pod) || pod.wait === undefined ? notEnded(pod) : notStarted(pod, pod.wait);
}

/** With grace 0 the API server waits for nothing but the finalizers: neither for the node nor for its kubelet. */
const isHeld = (pod: PodFacts): boolean => pod.deletionGracePeriodSeconds === 0 && pod.finalizers.length > 0;

function finalizers(pod: PodFacts): Obstacle {
  const named = pod.finalizers.map((one) => `${one} (${ownerOfFinalizer(one)})`).join(', ');
  return {
    cause: 'Finalizer',
    detail: `It waits for its finalizers: ${named}.`,
    advice: 'Repair the controller of the finalizer; if it is gone for good, remove the finalizers',
    command: `${kubectl(pod)} patch pod ${pod.name} --type=merge -p '{"metadata":{"finalizers":null}}'`,
  };
}

const ownersOfFinalizers: ReadonlyMap<string, string> = new Map([
  ['batch.kubernetes.io/job-tracking', 'the Job controller of Kubernetes'],
  ['foregroundDeletion', 'the garbage collector of Kubernetes'],
  ['orphan', 'the garbage collector of Kubernetes'],
]);

/** By its domain: a controller uses its own. */
function ownerOfFinalizer(finalizer: string): string {
  const domain = finalizer.includes('/') ? finalizer.replace(/\/.*/s, '') : undefined;
  return (
    ownersOfFinalizers.get(finalizer) ??
    (domain === undefined ? 'its controller is not known' : `probably of a controller of ${domain}`)
  );
}

const noNode = (pod: PodFacts): Obstacle => ({
  cause: 'NoNode',
  detail: `Node ${pod.nodeName} does not exist, so no kubelet ${isTerminating(pod) ? 'ends' : 'starts'} the pod.`,
  advice: 'A GCPolicy with pods.orphaned deletes it. By hand, if its containers have surely ended',
  command: `${kubectl(pod)} delete pod ${pod.name} --grace-period=0 --force`,
});

function notReady(pod: PodFacts, node: NodeFacts): Obstacle {
  const cause = 'NodeNotReady';
  const detail = `Node ${node.name} is not ready, so its kubelet does not ${isTerminating(pod) ? 'end' : 'start'} the pod.`;
  if (isOutOfService(node))
    return {
      cause,
      detail: `${detail} It has the out-of-service taint.`,
      advice: 'A GCPolicy in mode Enforce with pods.outOfService deletes such terminating pods. The policies',
      command: 'kubectl get gcpolicies',
    };
  return {
    cause,
    detail,
    advice:
      'If the machine is off and does not come back, mark the node: then a GCPolicy with pods.outOfService deletes its terminating pods',
    command: `kubectl taint nodes ${node.name} ${outOfServiceTaint}=nodeshutdown:NoExecute`,
  };
}

/** A terminating pod on a node that is ready, or unknown, or on none. */
function notEnded(pod: PodFacts): Obstacle {
  const { nodeName, finalizers: names } = pod;
  if (nodeName === undefined)
    return {
      cause: 'Other',
      detail: 'It was never bound to a node, so no kubelet ends it.',
      advice: 'A GCPolicy with pods.unscheduledTerminating deletes it. By hand',
      command: `${kubectl(pod)} delete pod ${pod.name} --grace-period=0 --force`,
    };
  const also = names.length === 0 ? '' : ` Then it waits for its finalizers: ${names.join(', ')}.`;
  if (isFinished(pod))
    return {
      cause: 'Volume',
      detail: `Its containers have ended, but the kubelet of node ${nodeName} has not removed it, most often because a volume cannot be unmounted.${also}`,
      ...describe(pod),
    };
  return {
    cause: 'Other',
    detail: `The kubelet of node ${nodeName} has not reported that its containers have ended.${also}`,
    ...describe(pod),
  };
}

/** Why it waits, by its status: `(ErrImagePull): the message.` */
function becauseOf({ reason, message }: PodWait): string {
  const text = message.replace(/[.\s]+$/, '');
  return `${reason === '' ? '' : ` (${reason})`}${text === '' ? '' : `: ${text}`}.`;
}

function unbound(pod: PodFacts, wait: PodWait): Obstacle {
  const isVolume = /volume/i.test(wait.message);
  const because = becauseOf(wait);
  const detail = because === '.' ? 'No scheduler has judged it.' : `The scheduler has not bound it${because}`;
  return { cause: isVolume ? 'Volume' : 'Unschedulable', detail, ...describe(pod) };
}

/** A pod that is not bound, or on a node that is ready or unknown. */
function notStarted(pod: PodFacts, wait: PodWait): Obstacle {
  const { nodeName, phase } = pod;
  if (nodeName === undefined) return unbound(pod, wait);
  if (phase === 'Unknown')
    return {
      cause: 'Other',
      detail: `The kubelet of node ${nodeName} does not report its state.`,
      ...describe(pod),
    };
  if (imageReasons.has(wait.reason))
    return {
      cause: 'Image',
      detail: `Image ${wait.image} cannot be pulled${becauseOf(wait)}`,
      ...describe(pod),
    };
  if (wait.reason === 'PodReadyToStartContainers')
    return {
      cause: 'Volume',
      detail: `The kubelet of node ${nodeName} has not prepared its volumes and its network, most often because a volume cannot be mounted.`,
      ...describe(pod),
    };
  return { cause: 'Other', detail: `Its containers have not started${becauseOf(wait)}`, ...describe(pod) };
}

/** The reasons of a waiting container that the kubelet gives for its image (pkg/kubelet/images/types.go). */
const imageReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ImageInspectError',
  'ErrImageNeverPull',
  'InvalidImageName',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

const describe = (pod: PodFacts): Pick<Obstacle, 'advice' | 'command'> => ({
  advice: 'Its latest Events say more',
  command: `${kubectl(pod)} describe pod ${pod.name}`,
});

const kubectl = ({ namespace }: PodFacts): string => `kubectl -n ${namespace}`;
