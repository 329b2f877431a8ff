import type { CountAndBytes, NodePod } from '../../api/report/node-pass.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';

/** Where something of a pod may be left on a node. */
const orphanPlaces = ['podDirectories', 'logDirectories', 'podCgroups'] as const;
export type OrphanPlace = (typeof orphanPlaces)[number];

/** Paths by place; a place that cannot be read is undefined, which is not the same as empty. */
export type OrphanPaths = Readonly<Record<OrphanPlace, readonly string[] | undefined>>;

/** What is left of pods that neither the API server nor the runtime knows, as far as it was looked for. */
export type OrphansFound = Readonly<Record<OrphanPlace, CountAndBytes | undefined>>;

/** Who knows which pods there are: the API server, and the runtime. */
export interface PodWitnesses {
  readonly pods: Iterable<Pick<NodePod, 'uid' | 'configHash'>>;
  readonly sandboxes: readonly Pick<RuntimeSandbox, 'podUid'>[];
  readonly containers: readonly Pick<RuntimeContainer, 'labels'>[];
}

/** The UIDs of all pods that anyone knows, static pods under the UID that their directories have. */
export function knownPodUids({ pods, sandboxes, containers }: PodWitnesses): ReadonlySet<string> {
  const known = new Set<string>();
  for (const { uid, configHash } of pods) known.add(uid).add(configHash ?? uid);
  for (const { podUid } of sandboxes) known.add(podUid);
  for (const { labels } of containers) known.add(labels['io.kubernetes.pod.uid'] ?? '');
  return known;
}

/** Of all listed paths those whose name holds the UID of a pod that is not known; a name that holds none is somebody else's. */
export function planUnclaimed(listed: OrphanPaths, known: ReadonlySet<string>): OrphanPaths {
  const unclaimed = (place: OrphanPlace): readonly string[] | undefined =>
    listed[place]?.filter((path) => {
      const uid = uidIn[place](path.slice(path.lastIndexOf('/') + 1));
      return uid !== undefined && !known.has(uid);
    });
  return byPlace(unclaimed);
}

/** What was unclaimed the last time too: between the end of a pod and the kubelet's clean-up everything is, for a while. */
export function planOrphans(unclaimed: OrphanPaths, before: OrphanPaths): OrphanPaths {
  return byPlace((place) => {
    const then = before[place];
    return then && unclaimed[place]?.filter((path) => then.includes(path));
  });
}

/** One value for each place. */
function byPlace<T>(make: (place: OrphanPlace) => T): Readonly<Record<OrphanPlace, T>> {
  const [podDirectories, logDirectories, podCgroups] = orphanPlaces;
  return {
    podDirectories: make(podDirectories),
    logDirectories: make(logDirectories),
    podCgroups: make(podCgroups),
  };
}

const uidIn: Readonly<Record<OrphanPlace, (name: string) => string | undefined>> = {
  podDirectories: asUid,
  logDirectories: (name) => asUid(name.slice(name.lastIndexOf('_') + 1)),
  podCgroups: uidOfCgroup,
};

/** The UIDs of the API server, and the hashes that the kubelet gives to static pods. */
const uidForm = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})$/;

function asUid(text: string): string | undefined {
  return uidForm.test(text) ? text : undefined;
}

/** `pod<uid>`; with systemd `kubepods-burstable-pod<uid>.slice`, dashes of the UID written as underscores. */
function uidOfCgroup(name: string): string | undefined {
  const uid = /(?:^|-)pod([0-9a-f_-]+)(?:\.slice)?$/.exec(name)?.[1];
  return uid === undefined ? undefined : asUid(uid.replaceAll('_', '-'));
}
