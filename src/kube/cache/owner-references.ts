import { bounded, bounds } from '../../runtime/bounds.ts';
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
