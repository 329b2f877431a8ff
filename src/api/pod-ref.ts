/** A pod as its containers, sandboxes and log directories name it. */
export interface PodRef {
  readonly uid: string;
  /** undefined = unknown: the name of an old log directory has only the UID. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** A container or sandbox with the kubelet's labels. */
interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

/** undefined = the kubelet did not create it. */
export const podUidOf = ({ labels }: Labelled): string | undefined =>
  labels['io.kubernetes.pod.uid'] === '' ? undefined : labels['io.kubernetes.pod.uid'];

/** The pod of a container or sandbox, by its labels. */
export const podRefOf = (object: Labelled): PodRef => ({
  uid: podUidOf(object) ?? '',
  namespace: object.labels['io.kubernetes.pod.namespace'],
  name: object.labels['io.kubernetes.pod.name'],
});
