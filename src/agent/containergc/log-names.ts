import type { PodRef } from '../../api/pod-ref.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';

/** Namespace and name are DNS names, which cannot contain the separator. */
const directoryForm = /^([a-z0-9][-a-z0-9]*)_([a-z0-9][-.a-z0-9]*)_([^_/]+)$/;
/** The two forms of a pod UID: those of the API server, and those of the kubelet for static pods. */
const bareUidForm = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})$/;
const rotatedForm = /^\d+\.log\.(\d{8}-\d{6})(?:\.gz)?(?:\.tmp)?$/;
const shortestId = 6;

/** The names in a path below a root, outermost first; empty = the path is not below it. */
export const namesBelow = (root: string, path: string): readonly string[] =>
  path.startsWith(`${root}/`) ? path.slice(root.length + 1).split('/') : [];

/** The pod of a log directory, or of a path inside: `NAMESPACE_NAME_UID` or a bare UID; undefined for any other name. */
export function podOfDirectory(path: string, podsRoot: string): PodRef | undefined {
  const [name = ''] = namesBelow(podsRoot, path);
  const [, namespace, pod, uid] = directoryForm.exec(name) ?? [];
  if (uid !== undefined) return { uid, namespace, name: pod };
  return bareUidForm.test(name) ? { uid: name, namespace: undefined, name: undefined } : undefined;
}

export interface LogDirectory {
  readonly path: string;
  readonly pod: PodRef | undefined;
  readonly entries: readonly LogEntry[];
  readonly bytes: number;
}

/** The log directories of pods by path, including those of which only files are listed. */
export function logDirectories({ roots, entries, directories }: LogListing): readonly LogDirectory[] {
  const inside = entries.filter(({ path }) => namesBelow(roots.pods, path).length > 1);
  const byDirectory = Map.groupBy(inside, ({ path }) =>
    path.slice(0, path.indexOf('/', roots.pods.length + 1)),
  );
  return [...new Set([...directories, ...byDirectory.keys()])].sort().map((path) => {
    const own = byDirectory.get(path) ?? [];
    const bytes = own.reduce((sum, entry) => sum + entry.bytes, 0);
    return { path, pod: podOfDirectory(path, roots.pods), entries: own, bytes };
  });
}

/** The container id, possibly cut, at the end of a link name in /var/log/containers; undefined = too short to identify a container. */
export function containerIdOfLink(path: string): string | undefined {
  const id = path.slice(path.lastIndexOf('-') + 1, -'.log'.length);
  return path.includes('-', path.lastIndexOf('/')) && id.length >= shortestId ? id : undefined;
}

/** `POD_NAMESPACE_CONTAINER-ID.log`, the id possibly cut (`legacyLogSymlink`, pkg/kubelet/kuberuntime/legacy.go). */
const linkForm = /^[^_]+_[^_]+_[^_]+-[0-9a-f]{12,64}\.log$/;

/** Whether the name of a link in /var/log/containers is one that the kubelet gives, so that the id is surely a container's. */
export const isKubeletsLink = (path: string): boolean => linkForm.test(path.slice(path.lastIndexOf('/') + 1));

/** The timestamp in the name that the kubelet gives a rotated log, older ones sort first; '' for any other log, as the live `N.log`. */
export const rotatedAt = (path: string): string =>
  rotatedForm.exec(path.slice(path.lastIndexOf('/') + 1))?.[1] ?? '';

/** The attempt in the name of a log, live or rotated. */
export const attemptOfLog = (name: string): number | undefined => {
  const attempt = /^(\d+)\.log/.exec(name)?.[1];
  return attempt === undefined ? undefined : Number(attempt);
};

/** The absolute target of a link; `..` and `.` resolved. */
export function resolvedTarget(link: string, target: string): string {
  const absolute = target.startsWith('/') ? target : `${link.slice(0, link.lastIndexOf('/'))}/${target}`;
  const names: string[] = [];
  for (const name of absolute.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}
