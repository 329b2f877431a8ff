import { LeanPodStatus } from './gen/core.ts';
import type { ContainerStatus, LeanPod, Namespace, Node, Pod, PodCondition, PodStatus } from './gen/core.ts';
import type { Job } from './gen/batch.ts';
import type { ReplicaSet } from './gen/apps.ts';
import type { LabelKey, LeanMeta, ObjectMeta, OwnerReference, Time } from './gen/meta.ts';
import type { Interner } from './decode-intern.ts';
import { MalformedError } from './frames.ts';
import { PodRecord } from './pod-record.ts';
import type {
  JobFacts,
  LabelKeys,
  NamespaceFacts,
  NodeFacts,
  OwnerRef,
  PodFacts,
  ReplicaSetFacts,
} from './objects.ts';

type Labels = Readonly<Record<string, string>>;
type ContainerStatuses = readonly ContainerStatus[];

const maxMessageLength = 256;
const noStatus = LeanPodStatus.fromPartial({});
const noConditions: readonly PodCondition[] = [];
const unfinishedPhases: ReadonlySet<string> = new Set(['Pending', 'Running', 'Unknown']);

/** What shapes the facts of one resource: the labels to keep, and the table of shared values. */
export interface Keep {
  readonly labelKeys: () => LabelKeys;
  readonly intern: Interner;
}

type AnyPodStatus = PodStatus | LeanPodStatus;
type AnyMeta = ObjectMeta | LeanMeta;

/** A Pod, or one that `lacksNothing`. */
export type AnyPod = Pod | LeanPod;

/** True when values of labels and conditions would change no fact: no label is kept, and each container of an ended pod says when it ended. */
export function lacksNothing(
  { metadata: meta, status = noStatus }: LeanPod,
  keys: ReadonlySet<string>,
): boolean {
  if (meta?.labels.some(({ key }) => keys.has(key)) === true) return false;
  return !isTerminated(status) || hasAllEnds(status.containerStatuses);
}

/** What is kept of a pod. `known` is the same state of the same pod, perhaps with other labels: its strings are used again. */
export function podFacts(pod: AnyPod, keep: Keep, known?: PodFacts): PodFacts {
  const { intern } = keep;
  const meta = metadata(pod.metadata);
  const labels = keptLabels(meta.labels, keep);
  if (known && isSameLabels(known.labels, labels)) return known;
  const { uid, name, resourceVersion, controller } = known ?? identity(meta, intern);
  const status = pod.status ?? noStatus;
  const createdAtMs = timeMs(meta.creationTimestamp);
  const ended = isTerminated(status);
  return packed(
    {
      uid,
      name,
      namespace: intern.string(meta.namespace),
      resourceVersion,
      createdAtMs: createdAtMs ?? 0,
      deletionAtMs: timeMs(meta.deletionTimestamp),
      deletionGracePeriodSeconds: meta.deletionGracePeriodSeconds,
      labels,
      controller,
      finalizers: intern.strings(meta.finalizers),
      nodeName: emptyToUndefined(intern.string(pod.spec?.nodeName ?? '')),
      phase: intern.string(status.phase),
      reason: intern.string(status.reason),
      message: ended ? shortened(status.message) : '',
      finishedAtMs: ended ? finishedAtMs(status, createdAtMs) : undefined,
    },
    intern,
  );
}

const packed = (facts: PodFacts, intern: Interner): PodFacts => new PodRecord(facts, intern.traits(facts));

/** What is kept of a node. */
export function nodeFacts(node: Node, keep: Keep): NodeFacts {
  const meta = metadata(node.metadata);
  const taints = node.spec?.taints ?? [];
  return {
    uid: meta.uid,
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    labels: keptLabels(meta.labels, keep),
    ready: (node.status?.conditions ?? []).some((c) => c.type === 'Ready' && c.status === 'True'),
    taintKeys: keep.intern.strings(taints.map((t) => t.key)),
  };
}

/** What is kept of a namespace. */
export function namespaceFacts(namespace: Namespace, keep: Keep): NamespaceFacts {
  const { uid, name, resourceVersion, labels } = metadata(namespace.metadata);
  return { uid, name, resourceVersion, labels: keptLabels(labels, keep) };
}

/** What is kept of a Job. */
export function jobFacts(job: Job, { intern }: Keep): JobFacts {
  const { uid, name, namespace, resourceVersion } = metadata(job.metadata);
  const finished = (job.status?.conditions ?? []).some(
    (c) => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True',
  );
  return { uid, name, namespace: intern.string(namespace), resourceVersion, finished };
}

/** What is kept of a ReplicaSet. */
export function replicaSetFacts(replicaSet: ReplicaSet, { intern }: Keep): ReplicaSetFacts {
  const meta = metadata(replicaSet.metadata);
  return {
    uid: meta.uid,
    name: meta.name,
    namespace: intern.string(meta.namespace),
    resourceVersion: meta.resourceVersion,
    controller: controllerOf(meta.ownerReferences, intern),
  };
}

function identity(
  { uid, name, resourceVersion, ownerReferences }: AnyMeta,
  intern: Interner,
): Pick<PodFacts, 'uid' | 'name' | 'resourceVersion' | 'controller'> {
  return { uid, name, resourceVersion, controller: controllerOf(ownerReferences, intern) };
}

function metadata<M extends AnyMeta>(meta: M | undefined): M {
  if (meta === undefined || meta.uid === '' || meta.name === '') {
    throw new MalformedError('object without metadata.uid and metadata.name');
  }
  return meta;
}

/** Of a lean pod there are none to keep. */
function keptLabels(labels: Labels | readonly LabelKey[], { labelKeys, intern }: Keep): Labels {
  if (isKeys(labels)) return intern.labels([]);
  const keys = labelKeys();
  return intern.labels(Object.entries(labels).filter(([key]) => keys === 'all' || keys.has(key)));
}

/** Array.isArray does not tell TypeScript of readonly arrays. */
function isKeys(labels: Labels | readonly LabelKey[]): labels is readonly LabelKey[] {
  return Array.isArray(labels);
}

function controllerOf(owners: readonly OwnerReference[], intern: Interner): OwnerRef | undefined {
  const owner = owners.find((o) => o.controller === true);
  return owner && intern.owner(owner);
}

/**
 * The last container to finish, when all of them say when; else the latest of what is known: a container that the kubelet lost, or never
 * ended, must not make the pod as old as its init container.
 */
function finishedAtMs(status: AnyPodStatus, createdAtMs: number | undefined): number | undefined {
  let last: number | undefined;
  for (const one of status.containerStatuses) last = later(last, finishMs(one));
  for (const one of status.initContainerStatuses) last = later(last, finishMs(one));
  for (const one of status.ephemeralContainerStatuses) last = later(last, finishMs(one));
  if (hasAllEnds(status.containerStatuses)) return last;
  for (const { lastTransitionTime } of conditionsOf(status)) last = later(last, timeMs(lastTransitionTime));
  return last ?? createdAtMs;
}

function conditionsOf(status: AnyPodStatus): readonly PodCondition[] {
  return 'conditions' in status ? status.conditions : noConditions;
}

function hasAllEnds(statuses: ContainerStatuses): boolean {
  return statuses.length > 0 && statuses.every((status) => finishMs(status) !== undefined);
}

function finishMs({ state }: ContainerStatus): number | undefined {
  return timeMs(state?.terminated?.finishedAt);
}

function isTerminated({ phase }: AnyPodStatus): boolean {
  return !unfinishedPhases.has(phase);
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  return b === undefined || (a !== undefined && a >= b) ? a : b;
}

/** Zero is how "never" is written: the kubelet says 1970 of a container it lost sight of. */
function timeMs(time: Time | undefined): number | undefined {
  return time === undefined || time.seconds <= 0 ? undefined : time.seconds * 1000;
}

function isSameLabels(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a);
  return a === b || (keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]));
}

function emptyToUndefined(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** Through a Buffer: a slice would keep the whole message in memory. */
function shortened(message: string): string {
  return message.length <= maxMessageLength
    ? message
    : Buffer.from(message.slice(0, maxMessageLength)).toString();
}
