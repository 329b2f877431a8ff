import type { StoredMetadata, StoredObject } from '../servers/etcd-objects.ts';
import type { Random } from './random.ts';

/** The fields that decide about a pod; the others are random, because they must not matter. */
export interface PodTraits {
  readonly name: string;
  readonly createdMs: number;
  readonly nodeName: string | undefined;
  readonly phase: string;
  readonly reason: string;
  readonly terminating: boolean;
  readonly finalizers: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  /** deletionGracePeriodSeconds of a terminating pod; random by default. */
  readonly grace?: number;
}

/** A pod as the API server stores it. */
export function podOf(random: Random, traits: PodTraits & { readonly namespace: string }): StoredObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadataOf(random, traits),
    spec: { ...specOf(random), ...(traits.nodeName !== undefined && { nodeName: traits.nodeName }) },
    status: statusOf(random, traits),
  };
}

function metadataOf(random: Random, traits: PodTraits & { readonly namespace: string }): StoredMetadata {
  const { name, namespace, createdMs, finalizers } = traits;
  const owned = ownersOf(random, traits);
  return {
    name,
    namespace,
    uid: random.uid(),
    ...generationOf(random),
    creationTimestamp: seconds(createdMs),
    labels: { app: name.split('-')[0] ?? '', ...(random.chance(0.2) && { tier: 'back' }), ...traits.labels },
    ...owned,
    ...(finalizers.length > 0 && { finalizers }),
    ...(traits.terminating && deletionOf(random, traits)),
  };
}

/** Counts from 1 with each change of the spec; an API server older than 1.33 stored none. */
function generationOf(random: Random): Pick<StoredMetadata, 'generation'> {
  const generation = random.pick([undefined, 1, 1, 2, 7]);
  return generation === undefined ? {} : { generation };
}

function deletionOf(
  random: Random,
  { createdMs, finalizers, grace: given }: PodTraits,
): Partial<StoredMetadata> {
  // Without a finalizer a pod of grace 0 would be gone.
  const grace = given ?? (finalizers.length > 0 ? random.pick([0, 0, 30]) : random.pick([1, 30, 30, 3_600]));
  return {
    deletionTimestamp: seconds(createdMs + 86_400_000 + random.int(100) * 1_000),
    deletionGracePeriodSeconds: grace,
  };
}

type Ownership = Pick<StoredMetadata, 'ownerReferences' | 'annotations'>;

function ownersOf(random: Random, { nodeName }: PodTraits): Ownership {
  const kind = random.pick(['', '', 'Job', 'Job', 'ReplicaSet', 'StatefulSet', 'Node']);
  // A static pod's mirror is always bound.
  if (kind === '' || (kind === 'Node' && nodeName === undefined)) return {};
  const uid = random.chance(0.3) ? claimedUid : random.uid();
  const apiVersion = kind !== 'Node' && random.chance(0.1) ? 'example.com/v1' : groups[kind];
  const other = `owner-${random.int(9)}`;
  const owner = { apiVersion, kind, name: kind === 'Node' ? nodeName : other, uid };
  const second = { apiVersion: 'v1', kind: 'ConfigMap', name: 'also', uid: random.uid() };
  return {
    ownerReferences: [{ ...owner, controller: true }, ...(random.chance(0.1) ? [second] : [])],
    ...(kind === 'Node' && { annotations: { 'kubernetes.io/config.mirror': random.uid() } }),
  };
}

/** An owner that pods in every namespace claim. */
const claimedUid = '00000000-0000-4000-8000-000000000001';

const groups: Readonly<Record<string, string>> = {
  Job: 'batch/v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  Node: 'v1',
};

function specOf(random: Random): object {
  const env = [{ name: 'A', value: '1' }];
  const containers = [{ name: 'main', image: 'example.com/a:1', ...(random.chance(0.1) && duplicates(env)) }];
  return { containers, restartPolicy: random.pick(['Never', 'Always', 'OnFailure']) };
}

/** Valid, and once the reason why upstream could not delete orphans (kubernetes/kubernetes#118261). */
function duplicates(env: readonly object[]): object {
  const port = { containerPort: 8080, protocol: 'TCP' };
  return {
    env: [...env, ...env],
    ports: [
      { name: 'x', ...port },
      { name: 'y', ...port },
    ],
  };
}

function statusOf(random: Random, { phase, reason, createdMs }: PodTraits): object {
  const hasFinished = phase === 'Succeeded' || phase === 'Failed';
  return {
    ...(phase !== '' && { phase }),
    ...(reason !== '' && { reason, message: `because of ${reason}` }),
    ...observationOf(random),
    conditions: conditionsOf(random, createdMs),
    ...(hasFinished && random.chance(0.8) && { containerStatuses: [endedOf(random, createdMs)] }),
    ...(random.chance(0.7) && { startTime: seconds(createdMs + 1_000), qosClass: 'BestEffort' }),
  };
}

/** The observed generation of the kubelet: of an older spec, or none. */
function observationOf(random: Random): object {
  const observedGeneration = random.pick([undefined, undefined, 1, 2]);
  return observedGeneration === undefined ? {} : { observedGeneration };
}

/** A container that ended, by the clock of its node: right, behind, ahead, never set, or nonsense. */
function endedOf(random: Random, createdMs: number): object {
  const finishedAt = random.pick([
    seconds(createdMs + 60_000),
    seconds(createdMs + 60_000),
    seconds(createdMs - 3_600_000),
    '2099-01-01T00:00:00Z',
    '1970-01-01T00:00:00Z',
    '1970-01-01T00:02:03Z',
    '9999-12-31T23:59:59Z',
  ]);
  const terminated = { exitCode: 0, reason: 'Completed', startedAt: seconds(createdMs + 1_000), finishedAt };
  const image = { image: 'example.com/a:1', imageID: '' };
  return { name: 'main', ready: false, restartCount: 0, ...image, state: { terminated } };
}

function conditionsOf(random: Random, createdMs: number): object[] {
  const lastTransitionTime = seconds(createdMs + random.pick([5_000, 5_000, -3_600_000]));
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime, ...observationOf(random) };
  const ready = { type: 'Ready', status: random.pick(['True', 'False']), reason: 'Some', lastTransitionTime };
  const disrupted = {
    type: 'DisruptionTarget',
    status: random.pick(['True', 'True', 'False']),
    reason: random.pick(['EvictionByEvictionAPI', 'DeletionByTaintManager', 'DeletionByPodGC']),
    message: random.pick(['somebody asked', 'PodGC: node no longer exists']),
    lastTransitionTime,
    ...observationOf(random),
  };
  return [scheduled, ready, disrupted].filter(({ type }) =>
    random.chance(type === 'DisruptionTarget' ? 0.3 : 0.7),
  );
}

/** metav1.Time, which has no fractions. */
const seconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
