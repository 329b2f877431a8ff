import type { OwnerRef } from './objects.ts';

/** The parts of a pod that show whether it mirrors a static pod. */
interface MirrorEvidence {
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly controller: Pick<OwnerRef, 'apiVersion' | 'kind' | 'name'> | undefined;
  readonly nodeName: string | undefined;
}

/**
 * The UID under which the kubelet runs the static pod that this pod mirrors; undefined = the pod is no mirror.
 *
 * The API server accepts every annotation from everybody, and the kubelet replaces `config.source` on its own copy of an API pod. Only
 * `config.mirror` counts, and only on a pod that its Node owns, as the kubelet creates a mirror. The API server lets nobody add it later, and
 * the kubelet never runs a pod that has it. The Node's UID is not compared: a Node that was registered again has a new one before its mirrors do.
 */
export function mirroredUid({ annotations, controller, nodeName }: MirrorEvidence): string | undefined {
  const uid = annotations['kubernetes.io/config.mirror'];
  const isOwnedByNode =
    controller?.apiVersion === 'v1' && controller.kind === 'Node' && controller.name === nodeName;
  // An empty annotation is one: it is there.
  return typeof uid === 'string' && isOwnedByNode ? uid : undefined;
}
