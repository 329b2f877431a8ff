import { bounded, bounds } from '../../runtime/bounds.ts';
import type { Workload } from '../../api/local-storage.ts';
import type { OwnerReference } from '../gen/meta.ts';
import type { OwnerRef } from './objects.ts';

/** Returns the controller of an object. Its texts are cut: the API server does not validate owner references. */
export function controllerOf(owners: readonly OwnerReference[]): OwnerRef | undefined {
  const owner = owners.find(({ controller }) => controller === true);
  return (
    owner && {
      apiVersion: bounded(owner.apiVersion, bounds.apiVersion),
      kind: bounded(owner.kind, bounds.label),
      name: bounded(owner.name, bounds.name),
      uid: bounded(owner.uid, bounds.uid),
    }
  );
}

interface MirrorEvidence {
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly controller: Pick<OwnerRef, 'apiVersion' | 'kind' | 'name'> | undefined;
  readonly nodeName: string | undefined;
}

/**
 * Returns the UID under which the kubelet runs the static pod that this pod mirrors; undefined if the pod is not a mirror.
 *
 * The API server accepts every annotation from every user, and the kubelet replaces `config.source` on its own copy of an API pod. Only
 * `config.mirror` counts, and only on a pod whose controller is its Node, as the kubelet creates mirrors. The API server rejects adding that
 * annotation later, and the kubelet never runs a pod that has it. The Node's UID is not compared: after a Node was registered again, its mirrors
 * keep the old UID for a while.
 */
export function mirroredUid({ annotations, controller, nodeName }: MirrorEvidence): string | undefined {
  const uid = annotations['kubernetes.io/config.mirror'];
  const isOwnedByNode =
    controller?.apiVersion === 'v1' && controller.kind === 'Node' && controller.name === nodeName;
  // An empty annotation counts.
  return typeof uid === 'string' && isOwnedByNode ? uid : undefined;
}

interface OwnedPod {
  readonly name: string;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly controller: Pick<OwnerRef, 'apiVersion' | 'kind' | 'name'> | undefined;
  /** The node of a static pod, with which the name of its mirror ends; undefined = another pod. */
  readonly mirrorOn: string | undefined;
}

/** The CronJob controller adds the scheduled time in minutes (pkg/controller/cronjob/utils.go, getJobName), from mid-2017 on: no date such as 20261231. */
const scheduled = /^(?<cronJob>.{1,52})-(?:2[5-9]|[3-9]\d)\d{6}$/;

/**
 * Returns the workload of a pod from its controller alone, because agents may not read ReplicaSets and Jobs. Derived: a Deployment, where the name of
 * the ReplicaSet ends with the pod's `pod-template-hash`; a CronJob, where the name of the Job ends with a scheduled time.
 */
export function workloadOf({ name, labels, controller, mirrorOn }: OwnedPod): Workload {
  if (mirrorOn !== undefined) return { kind: 'StaticPod', name: withoutEnd(name, mirrorOn) ?? name };
  if (controller === undefined) return { kind: 'Pod', name };
  return derivedOwner(controller, labels) ?? { kind: groupedKind(controller), name: controller.name };
}

function derivedOwner(
  { apiVersion, kind, name }: Pick<OwnerRef, 'apiVersion' | 'kind' | 'name'>,
  { 'pod-template-hash': hash }: OwnedPod['labels'],
): Workload | undefined {
  if (apiVersion === 'apps/v1' && kind === 'ReplicaSet') {
    const deployment = typeof hash === 'string' ? withoutEnd(name, hash) : undefined;
    return deployment === undefined ? undefined : { kind: 'Deployment', name: deployment };
  }
  const isJob = apiVersion === 'batch/v1' && kind === 'Job';
  const cronJob = isJob ? scheduled.exec(name)?.groups?.['cronJob'] : undefined;
  return cronJob === undefined ? undefined : { kind: 'CronJob', name: cronJob };
}

function groupedKind({ apiVersion, kind }: Pick<OwnerRef, 'apiVersion' | 'kind'>): string {
  const [group = '', version] = apiVersion.split('/');
  return version === undefined || group === 'apps' || group === 'batch'
    ? kind
    : bounded(`${kind}.${group}`, bounds.name);
}

/** The text before `-end`; undefined = it does not end so, or is nothing else. */
function withoutEnd(text: string, end: string): string | undefined {
  const rest = text.slice(0, -end.length - 1);
  return end !== '' && rest !== '' && text === `${rest}-${end}` ? rest : undefined;
}
