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

/** An existing socket. */
interface FoundSocket {
  readonly path: string;
  /** Whether it serves CRI v1; undefined = not tested. */
  readonly servesCri: boolean | undefined;
}

/**
 * The first socket that serves CRI, else the first: its runtime may only be down. With cri-dockerd a node has two sockets, and containerd's
 * serves no CRI.
 */
export function chooseSocket(found: readonly FoundSocket[]): string | undefined {
  return (found.find(({ servesCri }) => servesCri === true) ?? found[0])?.path;
}

/** Path of `unix:///path` or `/path`; throws on anything else. */
export function socketPath(value: string): string {
  const path = value.startsWith('unix://') ? value.slice('unix://'.length) : value;
  if (!path.startsWith('/')) throw new Error(`'${value}' is not a socket: use unix:///path or /path`);
  return path;
}

interface SocketSearch {
  /** The user's choice, used without a test. */
  readonly configured?: string | undefined;
  /** Default: the well-known sockets. */
  readonly places?: readonly string[];
  /** Whether the socket serves CRI v1. Called only if several sockets exist; rejects when the signal aborts. */
  readonly servesCri: (path: string, signal: AbortSignal) => Promise<boolean>;
}

/** The path of the runtime's socket; throws with the list of places if there is none. */
export async function findSocket(
  { configured, places = wellKnownSockets, servesCri }: SocketSearch,
  signal: AbortSignal,
): Promise<string> {
  if (configured !== undefined && configured !== '') return socketPath(configured);
  const existing = await existingOf(places);
  const found: FoundSocket[] = [];
  for (const path of existing) {
    found.push({ path, servesCri: existing.length > 1 ? await servesCri(path, signal) : undefined });
  }
  const socket = chooseSocket(found);
  if (socket === undefined)
    throw new Error(`no container runtime's socket found; searched ${places.join(', ')}`);
  return socket;
}

async function existingOf(places: readonly string[]): Promise<readonly string[]> {
  const checks = await Promise.all(
    places.map(async (path) => ({
      path,
      exists: await stat(path).then(
        (s) => s.isSocket(),
        () => false,
      ),
    })),
  );
  return checks.filter(({ exists }) => exists).map(({ path }) => path);
}
