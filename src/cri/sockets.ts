import { stat } from 'node:fs/promises';

/** Default sockets in order of preference: containerd, CRI-O, cri-dockerd, k3s and RKE2, MicroK8s, k0s. */
const wellKnownSockets: readonly string[] = [
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
  '/run/cri-dockerd.sock',
  '/run/k3s/containerd/containerd.sock',
  '/var/snap/microk8s/common/run/containerd.sock',
  '/run/k0s/containerd.sock',
];

/** Path of `unix:///path` or `/path`; throws on anything else. */
export function socketPath(value: string): string {
  const path = value.startsWith('unix://') ? value.slice('unix://'.length) : value;
  if (!path.startsWith('/')) throw new Error(`'${value}' is not a socket: use unix:///path or /path`);
  return path;
}

interface SocketSearch {
  /** The user's choice, used without a test. */
  readonly configured?: string | undefined;
  readonly places?: readonly string[];
  /** Whether a runtime responds to `Version` of CRI v1 on the socket; rejects when the signal aborts. */
  readonly servesCri: (path: string, signal: AbortSignal) => Promise<boolean>;
}

/**
 * The path of the first socket on which a runtime responds; throws if there is none. A socket alone proves nothing: with cri-dockerd, containerd's
 * socket serves no CRI, and during a boot an old socket may be there before the right one.
 */
export async function findSocket(
  { configured, places = wellKnownSockets, servesCri }: SocketSearch,
  signal: AbortSignal,
): Promise<string> {
  if (configured !== undefined && configured !== '') return socketPath(configured);
  const existing = await existingOf(places);
  for (const path of existing) if (await servesCri(path, signal)) return path;
  throw new Error(
    existing.length === 0
      ? `no container runtime's socket found; searched ${places.join(', ')}`
      : `no container runtime responds on ${existing.join(', ')}`,
  );
}

async function existingOf(places: readonly string[]): Promise<readonly string[]> {
  const areSockets = places.map((path) =>
    stat(path).then(
      (stats) => stats.isSocket(),
      () => false,
    ),
  );
  const exists = await Promise.all(areSockets);
  return places.filter((_, i) => exists[i]);
}
