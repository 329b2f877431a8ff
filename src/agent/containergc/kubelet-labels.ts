import type { RuntimeContainer } from '../../cri/runtime.ts';

/** The longest name of a file. */
const nameLength = 255;
const suffix = '.log';

/** The name of the link in /var/log/containers to the log of this container, cut as the kubelet cuts it (`legacyLogSymlink`, pkg/kubelet/kuberuntime/legacy.go); undefined = it has none. */
export function legacyLinkOf({ id, labels }: RuntimeContainer): string | undefined {
  const pod = labels['io.kubernetes.pod.name'];
  const namespace = labels['io.kubernetes.pod.namespace'];
  const container = labels['io.kubernetes.container.name'];
  const names = [pod, namespace, container];
  if ([...names, id].some((name) => name === undefined || name === '' || name.includes('/')))
    return undefined;
  return `${names.join('_')}-${id}`.slice(0, nameLength - suffix.length) + suffix;
}

/** As upstream's least; more than the most would hold up the pass. */
const stopBounds = { least: 2, most: 30 };

/** What the pod asked for when it was made or deleted, within bounds. */
export function stopSeconds({ annotations }: RuntimeContainer): number {
  const asked = Number(
    annotations['io.kubernetes.pod.deletionGracePeriod'] ??
      annotations['io.kubernetes.pod.terminationGracePeriod'] ??
      stopBounds.least,
  );
  const seconds = Number.isFinite(asked) ? asked : stopBounds.least;
  return Math.min(Math.max(Math.trunc(seconds), stopBounds.least), stopBounds.most);
}
