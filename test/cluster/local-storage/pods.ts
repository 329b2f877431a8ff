import type { Cluster } from '../servers/cluster.ts';
import { busyboxImage } from '../node/image.ts';
import { create, eventsOn } from '../servers/kubectl.ts';
import { eventually, settled } from '../servers/waiting.ts';

/** A container that writes, and then waits to be ended. */
interface Writer {
  /** A shell script; volumes are mounted at `/NAME`. */
  readonly script?: string;
  /** Limit of ephemeral storage. */
  readonly limit?: string;
}

/** A pod whose containers exceed limits. */
export interface Overrun {
  readonly main?: Writer;
  readonly second?: Writer;
  /** Runs before the others. */
  readonly init?: Writer;
  /** Runs beside the others. */
  readonly sidecar?: Writer;
  /** Limits by name; '' = none. */
  readonly emptyDirs?: Readonly<Record<string, string>>;
  /** The same in memory. */
  readonly inMemory?: Readonly<Record<string, string>>;
  /** Fields of the spec. */
  readonly spec?: object;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The script ends the pod. */
  readonly ends?: boolean;
}

/** A shell command that writes so many MiB to a file, all at once: a measurement of a part could exceed another limit. */
export const write = (path: string, mebi: number): string =>
  `dd if=/dev/zero of=${path} bs=${mebi * 1_048_576} count=1 2>/dev/null`;

/** A shell script that writes so many MiB a second below a folder until it is ended. */
export const fillSteadily = (folder: string, mebi: number): string =>
  `i=0; while :; do ${write(`${folder}/$i`, mebi)}; i=$((i+1)); sleep 1; done`;

/** A shell command that prints so many MiB. */
export const print = (mebi: number): string =>
  `line=$(printf '%01008d' 0); i=0; while [ $i -lt ${mebi * 1024} ]; do echo $line; i=$((i+1)); done`;

const wait = 'trap "exit 0" TERM; while :; do sleep 1; done';

/** The pod, bound to the node and on its network, so that it needs neither scheduler nor addresses. */
export function overrunPod(nodeName: string, name: string, pod: Overrun): object {
  const { emptyDirs = {}, inMemory = {}, main = {}, second, init, sidecar, ends = false } = pod;
  const volumes = [
    ...Object.entries(emptyDirs).map(([volume, limit]) => volumeOf(volume, limit)),
    ...Object.entries(inMemory).map(([volume, limit]) => volumeOf(volume, limit, 'Memory')),
  ];
  const volumeMounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
  const container = (id: string, { script = 'true', limit }: Writer, end = wait): object => ({
    ...{ name: id, image: busyboxImage.ref, volumeMounts, command: ['sh', '-c', `${script}; ${end}`] },
    // A node that does not count ephemeral storage has none to give, so none is requested.
    ...(limit !== undefined && {
      resources: { limits: { 'ephemeral-storage': limit }, requests: { 'ephemeral-storage': '0' } },
    }),
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: pod.labels, annotations: pod.annotations },
    spec: {
      ...{ nodeName, hostNetwork: true, restartPolicy: 'Never', terminationGracePeriodSeconds: 2, volumes },
      initContainers: [
        ...(init === undefined ? [] : [container('init', init, 'exit 0')]),
        ...(sidecar === undefined ? [] : [{ ...container('sidecar', sidecar), restartPolicy: 'Always' }]),
      ],
      containers: [
        container('main', main, ends ? 'exit 0' : wait),
        ...(second === undefined ? [] : [container('second', second)]),
      ],
      ...pod.spec,
    },
  };
}

function volumeOf(name: string, sizeLimit: string, medium?: 'Memory') {
  return { name, emptyDir: { ...(sizeLimit !== '' && { sizeLimit }), ...(medium && { medium }) } };
}

/** Creates them as one list. */
export async function createOverruns(
  cluster: Cluster,
  pods: Readonly<Record<string, Overrun>>,
): Promise<void> {
  const manifests = Object.entries(pods).map(([name, pod]) => overrunPod(cluster.node.name, name, pod));
  await create(cluster, ...manifests);
}

/** An Event on a pod. */
export interface PodEvent {
  readonly pod: string;
  readonly reason: string;
  readonly note: string;
  readonly by: string;
}

/** All Events on pods that have this reason. */
export async function podEvents(cluster: Cluster, reason: string): Promise<readonly PodEvent[]> {
  return (await eventsOn(cluster, 'Pod'))
    .filter((event) => event.reason === reason)
    .map(({ regarding, note, reportingController: by }) => ({ pod: regarding.name, reason, note, by }));
}

/** Covers the slowest measurements, the kubelet's pass of 10 s and the runtime's statistics of 10 s: nobody is evicted any more. */
export const noMoreEvictions = <T>(read: () => Promise<T>): Promise<T> =>
  settled(read, 35_000, { ...eventually, timeout: 240_000 });
