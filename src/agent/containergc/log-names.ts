import type { PodRef } from '../../api/pod-ref.ts';

/** Namespace and name are DNS names, so the separator is in neither of them. */
const directoryForm = /^([a-z0-9][-a-z0-9]*)_([a-z0-9][-.a-z0-9]*)_([^_/]+)$/;
/** A name that is only a UID must have its form: the kubelet gives no other names. */
const bareUidForm = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})$/;
const rotatedForm = /^\d+\.log\.(\d{8}-\d{6})(?:\.gz)?(?:\.tmp)?$/;
const shortestId = 6;

/** The names below a root, outermost first; empty for what is not below it. */
export const namesBelow = (root: string, path: string): readonly string[] =>
  path.startsWith(`${root}/`) ? path.slice(root.length + 1).split('/') : [];

/** The pod whose log directory a path is, or lies in: `NAMESPACE_NAME_UID`, or a bare UID; undefined for any other. */
export function podOfDirectory(path: string, podsRoot: string): PodRef | undefined {
  const [name = ''] = namesBelow(podsRoot, path);
  const [, namespace, pod, uid] = directoryForm.exec(name) ?? [];
  if (uid !== undefined) return { uid, namespace, name: pod };
  return bareUidForm.test(name) ? { uid: name, namespace: undefined, name: undefined } : undefined;
}

/** The id, maybe cut, that ends the name of a link in /var/log/containers; undefined = too short to identify one. */
export function containerIdOfLink(path: string): string | undefined {
  const id = path.slice(path.lastIndexOf('-') + 1, -'.log'.length);
  return path.includes('-', path.lastIndexOf('/')) && id.length >= shortestId ? id : undefined;
}

/** Only what the kubelet names so when it rotates: never the live `N.log`. */
export const isRotated = (name: string): boolean => rotatedForm.test(name);

/** When a log was rotated, as its name has it, so that older ones sort before newer ones; '' for what is no rotated log. */
export const rotatedAt = (path: string): string =>
  rotatedForm.exec(path.slice(path.lastIndexOf('/') + 1))?.[1] ?? '';

/** The attempt whose log it is, current or rotated. */
export const attemptOfLog = (name: string): number | undefined => {
  const attempt = /^(\d+)\.log/.exec(name)?.[1];
  return attempt === undefined ? undefined : Number(attempt);
};

/** Where a link leads, absolute; `..` and `.` resolved. */
export function resolvedTarget(link: string, target: string): string {
  const absolute = target.startsWith('/') ? target : `${link.slice(0, link.lastIndexOf('/'))}/${target}`;
  const names: string[] = [];
  for (const name of absolute.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}
