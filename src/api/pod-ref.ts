/** A pod as its containers, sandboxes and log directories name it. */
export interface PodRef {
  readonly uid: string;
  /** undefined = not known: a log directory of the old form has only the UID. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** Anything that the kubelet labels: a container or a sandbox. */
interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

/** undefined = the kubelet did not make it. */
export const podUidOf = ({ labels }: Labelled): string | undefined =>
  labels['io.kubernetes.pod.uid'] === '' ? undefined : labels['io.kubernetes.pod.uid'];

/** The pod that a container or a sandbox belongs to, by its labels. */
export const podRefOf = (object: Labelled): PodRef => ({
  uid: podUidOf(object) ?? '',
  namespace: object.labels['io.kubernetes.pod.namespace'],
  name: object.labels['io.kubernetes.pod.name'],
});
