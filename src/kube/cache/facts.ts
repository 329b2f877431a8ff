import { keptFinalizers } from '../../api/finalizers.ts';
import { CONTAINER_ENDS, KEEP_LABEL, TTL_ANNOTATION } from '../../api/policy/matching.ts';
import { podReason, type PodEnd } from '../../api/policy/ttl-rules.ts';
import { bounded, bounds, isCut } from '../../runtime/bounds.ts';
import { parseQuantity } from '../../runtime/text/quantity.ts';
import type { ReplicaSet } from '../gen/apps.ts';
import type { Job } from '../gen/batch.ts';
import {
  type ContainerStatus,
  type Namespace,
  type Node,
  type Pod,
  type PodCondition,
  type PodSpec,
  type PodStatus,
} from '../gen/core.ts';
import {
  endsOf,
  finishOf,
  ms,
  noStatus,
  trueCondition,
  wasDisrupted,
  type End,
  type Writer,
} from './pod-end.ts';
import { controllerOf } from './owner-references.ts';
import { MalformedError } from '../codec/frames.ts';
import { PodRecord, type PodTraits } from './pod-record.ts';
import type {
  ContainerEnd,
  JobFacts,
  LabelKeys,
  NamespaceFacts,
  NodeFacts,
  PodFacts,
  PodWait,
  ReplicaSetFacts,
} from './objects.ts';
import { noTtlResults, type TtlResults } from './ttl-results.ts';
import type { SharedValues } from '../codec/shared-values.ts';

type Labels = Readonly<Record<string, string>>;

const maxMessageLength = 256;
const unfinishedPhases: ReadonlySet<string> = new Set(['Pending', 'Running', 'Unknown']);

/** Which labels of a resource are kept, and the values that its objects share. */
export interface Keep {
  readonly labelKeys: () => LabelKeys;
  readonly texts: SharedValues<string>;
  readonly ends: SharedValues<PodFacts['ends']>;
  readonly podTraits: SharedValues<PodTraits>;
  readonly ttlResults: TtlResults;
}

/** Parts of an object that are read only when a function is called. */
export interface Unread {
  readonly annotation: (key: string) => string | undefined;
  /** The status of a pod with its texts uncut. */
  readonly status: () => PodStatus | undefined;
  readonly writers: () => readonly Writer[];
}

/** Makes the facts of a pod. `known` is the same state of the same pod, perhaps with other labels: its strings are reused. */
export function podFacts(pod: Pod, keep: Keep, unread: Unread, known?: PodFacts): PodFacts {
  const { texts } = keep;
  const meta = identified(pod.metadata);
  const status = pod.status ?? noStatus;
  const labels = keptLabels(meta.labels, keep);
  const ended = !unfinishedPhases.has(status.phase);
  const ttlAnnotation = ended ? keptAnnotation(unread, keep) : undefined;
  const ends = keptEnds(status, keep);
  const ttlRules = ended ? keep.ttlResults.of(keep.labelKeys(), () => podEnd(status, unread)) : noTtlResults;
  if (known && isSame(known, { labels, ttlAnnotation, ends, ttlRules })) return known;
  const { uid, name, resourceVersion } = known ?? meta;
  const { finishedAtMs, finishedByMs } = known ?? finishOf(pod, unread.writers);
  return new PodRecord(
    {
      uid,
      name,
      namespace: texts.share(meta.namespace),
      resourceVersion,
      generation: meta.generation,
      createdAtMs: ms(meta.creationTimestamp) ?? 0,
      deletionAtMs: ms(meta.deletionTimestamp),
      deletionGracePeriodSeconds: meta.deletionGracePeriodSeconds,
      labels,
      ttlAnnotation,
      controller: known ? known.controller : controllerOf(meta.ownerReferences),
      finalizers: keptFinalizers(meta.finalizers),
      nodeName: nodeNameOf(pod, keep),
      nodeExisted: ms(status.startTime) !== undefined || trueCondition(status, 'PodScheduled') !== undefined,
      ready: trueCondition(status, 'Ready') !== undefined,
      phase: bounded(status.phase, bounds.label),
      reason: bounded(status.reason, bounds.name),
      endedByKubelet: wasDisrupted(status, 'TerminationByKubelet'),
      markedByPodGc: wasDisrupted(status, 'DeletionByPodGC'),
      ends,
      finishedAtMs,
      finishedByMs,
      ttlRules,
      wait: isWaiting(status) ? podWait(pod, keep) : undefined,
      partlyEnded: partlyEnded(pod),
    },
    keep.podTraits,
  );
}

const isWaiting = ({ phase }: PodStatus): boolean => phase === 'Pending' || phase === 'Unknown';

function podWait(pod: Pod, { texts }: Keep): PodWait | undefined {
  const { metadata, spec, status = noStatus } = pod;
  const times = [
    metadata?.creationTimestamp,
    ...status.conditions.map((one) => one.lastTransitionTime),
    ...status.initContainerStatuses.map(({ state }) => state?.terminated?.finishedAt),
  ];
  const known = times.flatMap((time) => ms(time) ?? []);
  if (known.length === 0) return undefined;
  const { reason, message, image, container, initEnd } = obstacle(status);
  return {
    sinceMs: Math.max(...known),
    reason: texts.share(bounded(reason, bounds.name)),
    // Few are equal, and would empty the shared texts.
    message: shortened(message),
    image: texts.share(bounded(image, bounds.name)),
    container: texts.share(bounded(container, bounds.label)),
    initEnd: initEnd && {
      reason: texts.share(bounded(initEnd.reason, bounds.label)),
      exitCode: initEnd.exitCode,
    },
    isWorking: status.initContainerStatuses.some(
      (one) => one.state?.running !== undefined && !isSidecar(spec, one),
    ),
  };
}

/** Whether the container runs as long as the pod, and is not waited for. */
const isSidecar = (spec: PodSpec | undefined, { name }: ContainerStatus): boolean =>
  spec?.initContainers.some((one) => one.name === name && one.restartPolicy === 'Always') === true;

/** A pod whose containers are started again has a container that has ended only for a moment. */
function partlyEnded({ spec, status = noStatus }: Pod): PodFacts['partlyEnded'] {
  const { phase, containerStatuses } = status;
  if (phase !== 'Running' || !['OnFailure', 'Never'].includes(spec?.restartPolicy ?? '')) return undefined;
  const namesOf = (kind: 'running' | 'terminated'): readonly string[] =>
    containerStatuses
      .filter(({ state }) => state?.[kind] !== undefined)
      .slice(0, bounds.containerEnds)
      .map(({ name }) => bounded(name, bounds.label));
  const [ended, running] = [namesOf('terminated'), namesOf('running')];
  return ended.length > 0 && running.length > 0 ? { ended, running } : undefined;
}

type Obstacle = Pick<PodWait, 'reason' | 'message' | 'image' | 'container' | 'initEnd'>;

const noContainer = { image: '', container: '', initEnd: undefined } as const;

/** What the scheduler, else the kubelet reports; a container's own reason is more precise than that it has not been created. */
function obstacle(status: PodStatus): Obstacle {
  const isFalse = (name: string) => (one: PodCondition) => one.type === name && one.status === 'False';
  const unscheduled = status.conditions.find(isFalse('PodScheduled'));
  if (unscheduled !== undefined) return { ...unscheduled, ...noContainer };
  const waiting = [...status.initContainerStatuses, ...status.containerStatuses].flatMap(
    ({ name: container, image, state }) =>
      state?.waiting === undefined ? [] : [{ ...state.waiting, image, container, initEnd: undefined }],
  );
  const failing = waiting.find(({ reason }) => !uncreated.has(reason));
  if (failing !== undefined) return failing;
  const unprepared = status.conditions.find(isFalse('PodReadyToStartContainers'));
  if (unprepared !== undefined) return { reason: unprepared.type, message: '', ...noContainer };
  const reason = waiting[0]?.reason ?? '';
  const isInitialized = !status.conditions.some(isFalse('Initialized'));
  const last = isInitialized
    ? undefined
    : status.initContainerStatuses.findLast(({ state }) => state?.terminated !== undefined);
  const initEnd = last?.state?.terminated;
  return last === undefined || initEnd === undefined
    ? { reason, message: '', ...noContainer }
    : { reason, message: '', image: '', container: last.name, initEnd };
}

const uncreated: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

export function nodeFacts(node: Node, keep: Keep): NodeFacts {
  const meta = identified(node.metadata);
  const taints = node.spec?.taints.slice(0, bounds.taints) ?? [];
  const ready = node.status?.conditions.find(({ type }) => type === 'Ready');
  return {
    uid: meta.uid,
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    labels: keptLabels(meta.labels, keep),
    ready: ready?.status === 'True',
    readyChangedAtMs: ms(ready?.lastTransitionTime),
    taintKeys: taints.map(({ key }) => keep.texts.share(key)),
    containerRuntimeVersion: keep.texts.share(
      bounded(node.status?.nodeInfo?.containerRuntimeVersion ?? '', bounds.label),
    ),
    podSlots: parseQuantity(node.status?.allocatable['pods']?.string ?? ''),
  };
}

export function namespaceFacts(namespace: Namespace, keep: Keep): NamespaceFacts {
  const { uid, name, resourceVersion, labels } = identified(namespace.metadata);
  return { uid, name, resourceVersion, labels: keptLabels(labels, keep) };
}

export function jobFacts(job: Job, keep: Keep): JobFacts {
  const finished = (job.status?.conditions ?? []).some(
    (c) => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True',
  );
  return { ...replicaSetFacts(job, keep), finished };
}

export function replicaSetFacts({ metadata }: ReplicaSet, { texts }: Keep): ReplicaSetFacts {
  const { uid, name, namespace, resourceVersion, ownerReferences } = identified(metadata);
  const controller = controllerOf(ownerReferences);
  return { uid, name, namespace: texts.share(namespace), resourceVersion, controller };
}

function identified<I extends { readonly uid: string; readonly name: string }>(object: I | undefined): I {
  if (object === undefined || object.uid === '' || object.name === '') {
    throw new MalformedError('object without metadata.uid and metadata.name');
  }
  return object;
}

function keptLabels(labels: Labels, { labelKeys, texts }: Keep): Labels {
  const keys = labelKeys();
  const kept = Object.entries(labels).filter(([key]) => keys === 'all' || keys.has(key));
  const size = kept.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (size > bounds.labels) return optedOut;
  return Object.fromEntries(kept.map(([key, value]) => [key, texts.share(value)]));
}

/** A value of more than 63 bytes is no duration; its beginning shows a person what was written. */
function keptAnnotation({ annotation }: Unread, keep: Keep): string | undefined {
  const value = keepsKey(keep, TTL_ANNOTATION) ? annotation(TTL_ANNOTATION) : undefined;
  return value === undefined ? undefined : keep.texts.share(bounded(value, bounds.label));
}

function keepsKey({ labelKeys }: Keep, key: string): boolean {
  const keys = labelKeys();
  return keys === 'all' || keys.has(key);
}

const noEnds: PodFacts['ends'] = [];

const keptEnds = (status: PodStatus, keep: Keep): PodFacts['ends'] =>
  keepsKey(keep, CONTAINER_ENDS) ? keep.ends.share(distinct(endsOf(status).map(keptEnd))) : noEnds;

/** The end of a pod for the entries of ttlByReason, which must see every text as a whole. */
function podEnd(shortened: PodStatus, { status: read }: Unread): PodEnd {
  const texts = [shortened.reason, shortened.message, ...endsOf(shortened).map(({ reason }) => reason)];
  const status = texts.some(isCut) ? (read() ?? shortened) : shortened;
  const endedByKubelet = wasDisrupted(status, 'TerminationByKubelet');
  return {
    phase: status.phase,
    reason: podReason({ reason: status.reason, endedByKubelet }),
    message: status.message,
    ends: endsOf(status),
  };
}

const keptEnd = ({ reason, exitCode }: End): ContainerEnd => ({
  reason: bounded(reason, bounds.label),
  exitCode,
});

const distinct = (ends: readonly ContainerEnd[]): PodFacts['ends'] =>
  [...new Map(ends.map((end) => [`${end.exitCode} ${end.reason}`, end])).values()].slice(
    0,
    bounds.containerEnds,
  );

/** An object with longer labels is opted out: if some were dropped, a selector that excludes the object might select it. */
const optedOut: Labels = Object.freeze({ [KEEP_LABEL]: 'true' });

type Kept = Pick<PodFacts, 'labels' | 'ttlAnnotation' | 'ends' | 'ttlRules'>;

/** The ends of a pod in the same state are the same, or not kept. */
function isSame(known: Kept, other: Kept): boolean {
  if (known.ttlAnnotation !== other.ttlAnnotation || known.ends.length !== other.ends.length) return false;
  if (known.ttlRules !== other.ttlRules) return false;
  const [a, b] = [known.labels, other.labels];
  const keys = Object.keys(a);
  return a === b || (keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]));
}

function nodeNameOf({ spec }: Pod, { texts }: Keep): string | undefined {
  const name = spec?.nodeName ?? '';
  return name === '' ? undefined : texts.share(name);
}

/** Copies through a Buffer: a slice would keep the whole message in memory. */
function shortened(message: string): string {
  return message.length <= maxMessageLength
    ? message
    : Buffer.from(message.slice(0, maxMessageLength)).toString();
}
