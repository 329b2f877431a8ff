import type { ContainerEnd, PodFacts, PodWait } from '../../kube/cache/objects.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { isTerminating, waitsForFinalizers } from './facts.ts';
import {
  hasTaintLeft,
  isOutOfService,
  outOfServiceTaint,
  removeTaint,
  taintLeftText,
  type NodeState,
} from './nodes.ts';

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
export interface StuckPod {
  readonly pod: PodFacts;
  /** When the grace period ended, or its node was lost within it; of a pod that has not started, its last progress. Unix milliseconds. */
  readonly sinceMs: number;
  readonly obstacle: Obstacle;
}

/** What holds a pod. It has no text: a pass may find 100 000 stuck pods, and shows few. */
interface Obstacle {
  readonly cause: StuckCause;
  readonly detail: (pod: PodFacts, wait: PodWait) => string;
  readonly help: (pod: PodFacts) => StuckHelp;
}

interface StuckHelp {
  /** When the command helps; without a full stop. */
  readonly advice: string;
  readonly command: string;
}

/** What holds the pod, in sentences. */
export const stuckDetail = ({ pod, obstacle }: StuckPod): string => obstacle.detail(pod, pod.wait ?? noWait);

const noWait: PodWait = {
  sinceMs: 0,
  reason: '',
  message: '',
  image: '',
  container: '',
  initEnd: undefined,
  isWorking: false,
};

/** The nodes by name; undefined = not known: then no node is a cause. */
type Nodes = ReadonlyMap<string, NodeState> | undefined;

/** A kubelet needs seconds to end a pod, and a slow detachment of a volume six minutes. */
const terminatingMs = 10 * 60_000;
/** A large image, or a new node, may take many minutes. */
const startingMs = 60 * 60_000;

/**
 * The stuck pods, longest first. A terminating pod is stuck ten minutes after its grace period (its deletionTimestamp), or after the loss of its node
 * within it. A pod in phase Pending or Unknown is stuck an hour after its last progress: the newest of its creation, the transitions of its conditions
 * and the ends of its init containers, because its status has no time for the phase, and a pod that was scheduled a minute ago is not stuck, however
 * long it has been queued. A pod with a scheduling gate waits on purpose, and one whose init container runs works, while its node is ready or unknown.
 * A time that is not known, or in the future, proves nothing.
 */
export function stuckPods(pods: Iterable<PodFacts>, nodes: Nodes, now: Date): readonly StuckPod[] {
  const stuck: StuckPod[] = [];
  for (const pod of pods) {
    const node = nodes?.get(pod.nodeName ?? '');
    const sinceMs = isTerminating(pod) ? endlessSinceMs(pod, node) : waitingSinceMs(pod, nodes, node);
    const limitMs = isTerminating(pod) ? terminatingMs : startingMs;
    if (sinceMs !== undefined && now.getTime() - sinceMs >= limitMs)
      stuck.push({ pod, sinceMs, obstacle: obstacleOf(pod, nodes) });
  }
  return stuck.sort((a, b) => a.sinceMs - b.sinceMs);
}

/** When the grace period of a terminating pod ended; if its node was lost before, since when no kubelet ends the pod. */
function endlessSinceMs(
  { deletionAtMs, deletionGracePeriodSeconds: graceSeconds }: PodFacts,
  node: NodeState | undefined,
): number | undefined {
  const { ready = true, readyChangedAtMs: lostAtMs } = node ?? {};
  if (deletionAtMs === undefined || graceSeconds === undefined || ready || lostAtMs === undefined)
    return deletionAtMs;
  return Math.min(deletionAtMs, Math.max(deletionAtMs - graceSeconds * 1000, lostAtMs));
}

function waitingSinceMs(
  { wait, nodeName }: PodFacts,
  nodes: Nodes,
  node: NodeState | undefined,
): number | undefined {
  if (wait?.reason === 'SchedulingGated') return undefined;
  if (wait?.isWorking !== true || nodeName === undefined) return wait?.sinceMs;
  // On a lost node nobody knows whether the init container still runs.
  if (nodes === undefined || node?.ready === true) return undefined;
  return node === undefined ? wait.sinceMs : node.readyChangedAtMs;
}

function obstacleOf(pod: PodFacts, nodes: Nodes): Obstacle {
  if (waitsForFinalizers(pod)) return finalizer;
  const node = pod.nodeName === undefined ? undefined : nodes?.get(pod.nodeName);
  if (pod.nodeName !== undefined && nodes !== undefined && node === undefined) return noNode;
  if (node?.ready === false) return isOutOfService(node) ? outOfService : notReady;
  return isTerminating(pod) || pod.wait === undefined ? notEnded(pod, node) : notStarted(pod, pod.wait);
}

/** A terminating pod on a node that is ready, or unknown, or on none. */
function notEnded(pod: PodFacts, node: NodeState | undefined): Obstacle {
  if (pod.nodeName === undefined) return neverBound;
  if (isFinished(pod)) return unmounted;
  return node !== undefined && hasTaintLeft(node) ? runningOnTainted(pod.nodeName) : running;
}

/** A pod that is not bound, or on a node that is ready or unknown. */
function notStarted({ nodeName, phase }: PodFacts, { reason, message, initEnd }: PodWait): Obstacle {
  if (nodeName === undefined) return /[Vv]olume/.test(message) ? unboundVolume : unbound;
  if (phase === 'Unknown') return unknown;
  if (imageReasons.has(reason)) return image;
  if (initEnd !== undefined) return initEnded(initEnd);
  return reason === 'PodReadyToStartContainers' ? unprepared : notCreated;
}

/** Removes one finalizer, and never one of Kubernetes, which removes its own when its work is done. */
function unfinalize(pod: PodFacts): StuckHelp {
  const index = pod.finalizers.findIndex((one) => !ownersOfFinalizers.has(one));
  const value = pod.finalizers[index];
  if (value === undefined)
    return {
      ...describe(pod),
      advice: 'Kubernetes removes its finalizers; do not remove them by hand. More about the pod',
    };
  const path = `/metadata/finalizers/${index}`;
  const patch = JSON.stringify([
    { op: 'test', path, value },
    { op: 'remove', path },
  ]);
  return {
    advice: `Repair the controller of ${value}; if it is gone for good, remove this finalizer`,
    command: `${kubectl(pod)} patch pod ${pod.name} --type=json -p '${patch}'`,
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

/** What else waits after the kubelet. */
const thenFinalizers = ({ finalizers }: PodFacts): string =>
  finalizers.length === 0 ? '' : ` Then it waits for its finalizers: ${finalizers.join(', ')}.`;

/** Why it waits, by its status: `(ErrImagePull): the message.` */
function becauseOf({ reason, message }: PodWait): string {
  const text = message.replace(/[.\s]+$/, '');
  return `${reason === '' ? '' : ` (${reason})`}${text === '' ? '' : `: ${text}`}.`;
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

const describe = (pod: PodFacts): StuckHelp => ({
  advice: 'Its latest Events say more',
  command: `${kubectl(pod)} describe pod ${pod.name}`,
});

const described = (cause: StuckCause, detail: Obstacle['detail']): Obstacle => ({
  cause,
  detail,
  help: describe,
});

const kubectl = ({ namespace }: PodFacts): string => `kubectl -n ${namespace}`;

const verb = (pod: PodFacts): string => (isTerminating(pod) ? 'end' : 'start');

const deleteByHand =
  (advice: string) =>
  (pod: PodFacts): StuckHelp => ({
    advice,
    command: `${kubectl(pod)} delete pod ${pod.name} --grace-period=0 --force`,
  });

const finalizer: Obstacle = {
  cause: 'Finalizer',
  detail: ({ finalizers }) =>
    `It waits for its finalizers: ${finalizers.map((one) => `${one} (${ownerOfFinalizer(one)})`).join(', ')}.`,
  help: unfinalize,
};

const noNode: Obstacle = {
  cause: 'NoNode',
  detail: (pod) => `Node ${pod.nodeName} does not exist, so no kubelet ${verb(pod)}s the pod.`,
  help: deleteByHand(
    'A GCPolicy with pods.orphaned deletes it. By hand, if its containers have surely ended',
  ),
};

const notReady: Obstacle = {
  cause: 'NodeNotReady',
  detail: (pod) => `Node ${pod.nodeName} is not ready, so its kubelet does not ${verb(pod)} the pod.`,
  help: ({ nodeName }) => ({
    advice:
      'If the machine is off and does not come back, mark the node: then a GCPolicy with pods.outOfService deletes its terminating pods',
    command: `kubectl taint nodes ${nodeName} ${outOfServiceTaint}=nodeshutdown:NoExecute`,
  }),
};

const outOfService: Obstacle = {
  cause: 'NodeNotReady',
  detail: (pod, wait) => `${notReady.detail(pod, wait)} It has the out-of-service taint.`,
  help: () => ({
    advice: 'A GCPolicy in mode Enforce with pods.outOfService deletes such terminating pods. The policies',
    command: 'kubectl get gcpolicies',
  }),
};

const neverBound: Obstacle = {
  cause: 'Other',
  detail: () => 'It was never bound to a node, so no kubelet ends it.',
  help: deleteByHand('A GCPolicy with pods.unscheduledTerminating deletes it. By hand'),
};

const unmounted = described(
  'Volume',
  (pod) =>
    `Its containers have ended, but the kubelet of node ${pod.nodeName} has not removed it, most often because a volume cannot be unmounted.${thenFinalizers(pod)}`,
);

const running = described(
  'Other',
  (pod) =>
    `The kubelet of node ${pod.nodeName} has not reported that its containers have ended.${thenFinalizers(pod)}`,
);

const runningOnTainted = (node: string): Obstacle => ({
  cause: 'Other',
  detail: (pod, wait) => `${running.detail(pod, wait)} ${taintLeftText(node)}`,
  help: () => ({
    advice: 'Remove the taint, and if the pod does not end, describe it',
    command: removeTaint(node),
  }),
});

const unbound = described('Unschedulable', (_, wait) => {
  const because = becauseOf(wait);
  return because === '.' ? 'No scheduler has judged it.' : `The scheduler has not bound it${because}`;
});

const unboundVolume = described('Volume', unbound.detail);

const unknown = described(
  'Other',
  ({ nodeName }) => `The kubelet of node ${nodeName} does not report its state.`,
);

const image = described('Image', (_, wait) => `Image ${wait.image} cannot be pulled${becauseOf(wait)}`);

const unprepared = described(
  'Volume',
  ({ nodeName }) =>
    `The kubelet of node ${nodeName} has not prepared its volumes and its network, most often because a volume cannot be mounted.`,
);

const notCreated = described('Other', (_, wait) =>
  wait.container === ''
    ? `Its containers have not started${becauseOf(wait)}`
    : `Its container ${wait.container} has not started${becauseOf(wait)}`,
);

const initEnded = ({ reason, exitCode }: ContainerEnd): Obstacle =>
  described(
    'Other',
    ({ nodeName }, { container }) =>
      `Its init container ${container} has ended (${reason === '' ? '' : `${reason}, `}exit code ${exitCode}), and the kubelet of node ${nodeName} has started nothing since.`,
  );
