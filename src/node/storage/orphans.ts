import type { NodePod } from '../../api/node-pod.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';

/** Places of a node with resources of pods. */
export type OrphanPlace = 'podDirectories' | 'logDirectories' | 'podCgroups';

/** Paths by place; a place that does not exist is undefined, which is not the same as empty. */
export type OrphanPaths = Readonly<Record<OrphanPlace, readonly string[] | undefined>>;

export interface PodPath {
  readonly path: string;
  readonly podUid: string;
}

type Unclaimed = Readonly<Record<OrphanPlace, readonly PodPath[] | undefined>>;

/** The pods that the API server and the runtime know. */
export interface KnownPods {
  readonly pods: Iterable<Pick<NodePod, 'uid' | 'configHash'>>;
  readonly sandboxes: readonly Pick<RuntimeSandbox, 'podUid'>[];
  readonly containers: readonly Pick<RuntimeContainer, 'labels'>[];
}

/** The UIDs of all known pods; for a static pod also the UID in the names of its directories. */
export function knownPodUids({ pods, sandboxes, containers }: KnownPods): ReadonlySet<string> {
  const known = new Set<string>();
  for (const { uid, configHash } of pods) known.add(uid).add(configHash ?? uid);
  for (const { podUid } of sandboxes) known.add(podUid);
  for (const { labels } of containers) known.add(labels['io.kubernetes.pod.uid'] ?? '');
  return known;
}

/** Selects the paths whose name has the UID of an unknown pod. A name without a UID does not belong to a pod. */
export function planUnclaimed(listed: OrphanPaths, known: ReadonlySet<string>): Unclaimed {
  return byPlace((place) =>
    listed[place]?.flatMap((path) => {
      const podUid = uidIn[place](path.slice(path.lastIndexOf('/') + 1));
      return podUid === undefined || known.has(podUid) ? [] : [{ path, podUid }];
    }),
  );
}

function byPlace<T>(make: (place: OrphanPlace) => T): Readonly<Record<OrphanPlace, T>> {
  return {
    podDirectories: make('podDirectories'),
    logDirectories: make('logDirectories'),
    podCgroups: make('podCgroups'),
  };
}

const uidIn: Readonly<Record<OrphanPlace, (name: string) => string | undefined>> = {
  podDirectories: asUid,
  logDirectories: (name) => asUid(name.slice(name.lastIndexOf('_') + 1)),
  podCgroups: uidOfCgroup,
};

/** The UIDs of the API server, and the kubelet's hashes for static pods. */
const uidForm = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})$/;

function asUid(text: string): string | undefined {
  return uidForm.test(text) ? text : undefined;
}

/** `pod<uid>`; with systemd `kubepods-burstable-pod<uid>.slice`, with underscores for the dashes of the UID. */
function uidOfCgroup(name: string): string | undefined {
  const uid = /(?:^|-)pod([0-9a-f_-]+)(?:\.slice)?$/.exec(name)?.[1];
  return uid === undefined ? undefined : asUid(uid.replaceAll('_', '-'));
}
