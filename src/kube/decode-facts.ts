import { withFinalizer } from '../api/finalizers.ts';
import { KEEP_LABEL } from '../api/matching.ts';
import { bounded, bounds } from '../runtime/bounds.ts';
import type { ReplicaSet } from './gen/apps.ts';
import type { Job } from './gen/batch.ts';
import { type ContainerStatus, type Namespace, type Node, type Pod, PodStatus } from './gen/core.ts';
import { type ObjectMeta, type OwnerReference, type Time } from './gen/meta.ts';
import { boundedOwner, type Interner } from './decode-intern.ts';
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

const maxMessageLength = 256;
const unfinishedPhases: ReadonlySet<string> = new Set(['Pending', 'Running', 'Unknown']);

/** What shapes the facts of one resource: the labels to keep, and the table of shared values. */
export interface Keep {
  readonly labelKeys: () => LabelKeys;
  readonly intern: Interner;
}

/** What is kept of a pod. `known` is the same state of the same pod, perhaps with other labels: its strings are used again. */
export function podFacts(pod: Pod, keep: Keep, known?: PodFacts): PodFacts {
  const { intern } = keep;
  const meta = identified(pod.metadata);
  const status = pod.status ?? noStatus;
  const labels = keptLabels(meta.labels, keep);
  if (known && isSameLabels(known.labels, labels)) return known;
  const { uid, name, resourceVersion, controller } = known ?? identity(meta, intern);
  const ended = !unfinishedPhases.has(status.phase);
  return packed(
    {
      uid,
      name,
      namespace: intern.string(meta.namespace),
      resourceVersion,
      generation: meta.generation,
      createdAtMs: ms(meta.creationTimestamp) ?? 0,
      deletionAtMs: ms(meta.deletionTimestamp),
      deletionGracePeriodSeconds: meta.deletionGracePeriodSeconds,
      labels,
      controller,
      finalizers: intern.strings(meta.finalizers.reduce<string[]>(withFinalizer, [])),
      nodeName: emptyToUndefined(intern.string(pod.spec?.nodeName ?? '')),
      started: ms(status.startTime) !== undefined,
      phase: intern.string(bounded(status.phase, bounds.label)),
      reason: intern.string(bounded(status.reason, bounds.name)),
      message: ended ? shortened(status.message) : '',
      finishedAtMs: ended ? finishedAtMs(meta, status) : undefined,
    },
    intern,
  );
}

const noStatus = PodStatus.fromPartial({});

const packed = (facts: PodFacts, intern: Interner): PodFacts => new PodRecord(facts, intern.traits(facts));

/** What is kept of a node. */
export function nodeFacts(node: Node, keep: Keep): NodeFacts {
  const meta = identified(node.metadata);
  const taints = node.spec?.taints.slice(0, bounds.taints) ?? [];
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
  const { uid, name, resourceVersion, labels } = identified(namespace.metadata);
  return { uid, name, resourceVersion, labels: keptLabels(labels, keep) };
}

/** What is kept of a Job. */
export function jobFacts(job: Job, { intern }: Keep): JobFacts {
  const { uid, name, namespace, resourceVersion } = identified(job.metadata);
  const finished = (job.status?.conditions ?? []).some(
    (c) => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True',
  );
  return { uid, name, namespace: intern.string(namespace), resourceVersion, finished };
}

/** What is kept of a ReplicaSet. */
export function replicaSetFacts(replicaSet: ReplicaSet, { intern }: Keep): ReplicaSetFacts {
  const meta = identified(replicaSet.metadata);
  return {
    uid: meta.uid,
    name: meta.name,
    namespace: intern.string(meta.namespace),
    resourceVersion: meta.resourceVersion,
    controller: controllerOf(meta.ownerReferences, intern),
  };
}

function identity(
  { uid, name, resourceVersion, ownerReferences }: ObjectMeta,
  intern: Interner,
): Pick<PodFacts, 'uid' | 'name' | 'resourceVersion' | 'controller'> {
  return { uid, name, resourceVersion, controller: controllerOf(ownerReferences, intern) };
}

function identified<I extends { readonly uid: string; readonly name: string }>(object: I | undefined): I {
  if (object === undefined || object.uid === '' || object.name === '') {
    throw new MalformedError('object without metadata.uid and metadata.name');
  }
  return object;
}

function keptLabels(labels: Labels, { labelKeys, intern }: Keep): Labels {
  const keys = labelKeys();
  const kept = Object.entries(labels).filter(([key]) => keys === 'all' || keys.has(key));
  const size = kept.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return intern.labels(size <= bounds.labels ? kept : optedOut);
}

/** Of an object with absurdly many labels: without some of them it might match a selector that excludes it. */
const optedOut = [[KEEP_LABEL, 'true']] as const;

function controllerOf(owners: readonly OwnerReference[], intern: Interner): OwnerRef | undefined {
  const owner = owners.find((o) => o.controller === true);
  return owner && intern.owner(boundedOwner(owner));
}

/**
 * The last container to finish, when all of them say when; else the latest of what is known: a container that the kubelet lost, or never
 * ended, must not make the pod as old as its init container. A time before the creation shows a clock that was behind, and then no
 * later one is right either: it is the answer, and no plan believes it. The start of the pod shows that of any pod, however long it ran.
 */
function finishedAtMs({ creationTimestamp }: ObjectMeta, status: PodStatus): number {
  const created = ms(creationTimestamp) ?? 0;
  const started = ms(status.startTime);
  if (started !== undefined && started < created - tolerableStartSkewMs) return started;
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses, conditions } = status;
  const ends = containerStatuses.map(endOf);
  const otherEnds = [...initContainerStatuses, ...ephemeralContainerStatuses].map(endOf);
  const isTold = ends.length > 0 && !ends.includes(undefined);
  const changes = isTold ? [] : conditions.map(({ lastTransitionTime }) => ms(lastTransitionTime));
  let last = created;
  for (const at of [...ends, ...otherEnds, ...changes]) {
    if (at === undefined) continue;
    if (at < created) return at;
    last = Math.max(last, at);
  }
  return last;
}

const endOf = ({ state }: ContainerStatus): number | undefined => ms(state?.terminated?.finishedAt);

/** A kubelet starts a pod within the second of its creation, by a clock that may be a little behind. */
const tolerableStartSkewMs = 5_000;

/** Zero is how "never" is written: the kubelet says 1970 of a container it lost sight of. */
const ms = (time: Time | undefined): number | undefined =>
  time === undefined || time.seconds <= 0 ? undefined : time.seconds * 1000;

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
