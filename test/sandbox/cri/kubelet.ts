import { randomUUID } from 'node:crypto';
import type { SimSandbox, SimState } from './facts.ts';
import type { NewContainer, NewSandbox } from './pod-store.ts';

type Texts = Readonly<Record<string, string>>;

/** The properties of a pod that a test sets; the rest is like the kubelet's. */
export interface PodSpec {
  readonly name: string;
  /** Default `default`. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly attempt?: number;
  readonly createdAt?: Date;
  /** `kubernetes.io/config.source`; default `api`; `file` = a static pod. */
  readonly source?: string;
  /** Default: one container `main` of image `app`. */
  readonly containers?: readonly ContainerSpec[];
}

export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  /** Default: one more than the latest of its name. */
  readonly attempt?: number;
  /** Default Running. */
  readonly state?: SimState;
  readonly exitCode?: number;
  readonly createdAt?: Date;
  readonly finishedAt?: Date;
  /** One line of its log. */
  readonly log?: string;
  readonly mountedImages?: readonly string[];
  /** Added to the kubelet's labels; undefined removes one. */
  readonly labels?: Readonly<Record<string, string | undefined>>;
}

type Pod = PodSpec & { readonly namespace: string; readonly uid: string };

const podLabels = (pod: Pick<Pod, 'name' | 'namespace' | 'uid'>): Texts => ({
  'io.kubernetes.pod.name': pod.name,
  'io.kubernetes.pod.namespace': pod.namespace,
  'io.kubernetes.pod.uid': pod.uid,
});

/** The pod with its defaults. */
export const podOf = (spec: PodSpec): Pod => ({
  ...spec,
  namespace: spec.namespace ?? 'default',
  uid: spec.uid ?? randomUUID(),
});

/** The sandbox that the kubelet would create. */
export const sandboxOf = (pod: Pod): Omit<NewSandbox, 'logDirectory'> => ({
  name: pod.name,
  namespace: pod.namespace,
  uid: pod.uid,
  attempt: pod.attempt ?? 0,
  runtimeHandler: '',
  createdAt: pod.createdAt,
  labels: podLabels(pod),
  annotations: { 'kubernetes.io/config.source': pod.source ?? 'api' },
});

export function containerOf(
  sandbox: SimSandbox,
  spec: ContainerSpec & { readonly attempt: number },
): Omit<NewContainer, 'sandboxId' | 'imageId'> {
  const labels: Record<string, string | undefined> = {
    ...podLabels(sandbox),
    'io.kubernetes.container.name': spec.name,
    ...spec.labels,
  };
  return {
    name: spec.name,
    attempt: spec.attempt,
    image: spec.image,
    createdAt: spec.createdAt,
    labels: Object.fromEntries(
      Object.entries(labels).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    annotations: { 'io.kubernetes.container.restartCount': String(spec.attempt) },
    logPath: `${spec.name}/${spec.attempt}.log`,
    command: [],
    mountedImages: spec.mountedImages ?? [],
  };
}
