import { randomUUID } from 'node:crypto';
import { deadlineAfter } from '../runtime/scheduling/abort.ts';
import { systemClock as clock } from '../runtime/scheduling/clock.ts';
import type { Method } from '../cri/call.ts';
import { CriConnection, type CriCall, type OnCall, type Service } from '../cri/connection.ts';
import { isNotFound, isUnimplemented } from '../cri/failure.ts';
import { RuntimeError } from '../cri/runtime.ts';
import { ContainersDefinition as containers, type ListContainerMessage } from './gen/containers.ts';
import {
  ContentDefinition as content,
  type Info as BlobInfo,
  type ListStatusesResponse,
  type ReadContentResponse,
  type Status,
} from './gen/content.ts';
import { ImagesDefinition as images, type Image, type ListImagesResponse } from './gen/images.ts';
import { IntrospectionDefinition as introspection } from './gen/introspection.ts';
import { LeasesDefinition as leases, type ListResourcesResponse, type ListResponse } from './gen/leases.ts';
import { NamespacesDefinition as namespaces } from './gen/namespaces.ts';
import {
  Kind,
  SnapshotsDefinition as snapshots,
  type Info as SnapshotInfo,
  type UsageResponse,
} from './gen/snapshots.ts';
import { StoreDefinition as sandboxes, type Sandbox, type StoreListResponse } from './gen/sandboxes.ts';
import type { Timestamp } from './gen/types.ts';
import {
  gcExpire,
  kubernetesNamespace,
  labelPrefixes,
  type Blob,
  type ContainerdStore,
  type ImageName,
  type Ingest,
  type Labels,
  type Layer,
  type Lease,
  type NamespaceStore,
  type Snapshot,
  type StoredContainer,
  type StoredSandbox,
} from './store.ts';

interface ContainerdOptions {
  /** Path of the runtime's socket, without a scheme. */
  readonly socket: string;
  /** Of a whole read; default 60 s. */
  readonly deadlineMs?: number;
  readonly onCall?: OnCall;
}

/** Names, blobs and snapshots together; a busy node has 5 000. More would need more memory than an agent has. */
const maxObjects = 40_000;

/** A call that changes something waits for containerd's collector, which may delete many files. */
const changeDeadlineMs = 120_000;

/**
 * Reads what containerd itself keeps, over the socket of its CRI, and removes references in the namespace of the kubelet; only containerd
 * deletes what nothing refers to. A failed call throws RuntimeError.
 */
export class ContainerdClient {
  readonly #connection: CriConnection;
  readonly #deadlineMs: number;
  /** Bytes of committed snapshots, which never change. */
  #sizes = new Map<string, number>();

  constructor({ socket, deadlineMs = 60_000, onCall = () => undefined }: ContainerdOptions) {
    this.#connection = new CriConnection(socket, onCall);
    this.#deadlineMs = deadlineMs;
  }

  close(): void {
    this.#connection.close();
  }

  /**
   * Reads all namespaces; undefined = the runtime is not containerd. The calls are not one transaction: what changes meanwhile is seen as it
   * was before or after.
   */
  async read(signal: AbortSignal): Promise<ContainerdStore | undefined> {
    const late = (): Error => new Error(`reading containerd took longer than ${this.#deadlineMs / 1000} s`);
    const deadline = deadlineAfter(clock, this.#deadlineMs, late, signal);
    try {
      return await orUnsupported(this.#read(deadline.signal));
    } finally {
      deadline.stop();
    }
  }

  /** Whether a download of the kubelet's has received something since this time. */
  async isReceiving(since: Date, signal: AbortSignal): Promise<boolean> {
    const of = { deadlineMs: this.#deadlineMs, namespace: kubernetesNamespace };
    const found = await orUnsupported(new Calls(this.#connection, of, signal).list(listIngests, all));
    return found?.some(({ updatedAtSeconds }) => updatedAtSeconds * 1000 >= since.getTime()) === true;
  }

  /** The names of the kubelet's images that have this label, however many names there are; undefined = the runtime is not containerd. */
  async imagesWith(label: string, signal: AbortSignal): Promise<readonly ImageName[] | undefined> {
    const of = { deadlineMs: this.#deadlineMs, namespace: kubernetesNamespace };
    const request = { filters: [`labels."${label}"`] };
    return orUnsupported(new Calls(this.#connection, of, signal).list(listImages, request));
  }

  /**
   * Sets labels of a name of an image, and leaves its other labels as they are; a label with the value '' is removed. Returns false if the
   * name does not exist.
   */
  async labelImage(name: string, labels: Labels, signal: AbortSignal): Promise<boolean> {
    // Without a target containerd ends with a panic; the mask makes it keep the one that it has.
    const image = { name, labels, target: { digest: '' } };
    return this.#change([images, images.methods.update], { image, updateMask: maskOf(labels) }, signal);
  }

  /** Returns after the collector has run; false: the lease does not exist. */
  async deleteLease(id: string, signal: AbortSignal): Promise<boolean> {
    return this.#change([leases, leases.methods.delete], { id, sync: true }, signal);
  }

  /** Ends a download and deletes what it has received; false: it does not exist. */
  async abort(ref: string, signal: AbortSignal): Promise<boolean> {
    return this.#change([content, content.methods.abort], { ref }, signal);
  }

  /** The bytes of writable snapshots of the kubelet's namespace, for which containerd reads all of their files; those of which it cannot say are missing. */
  async measure(listed: readonly Snapshot[], signal: AbortSignal): Promise<ReadonlyMap<Snapshot, number>> {
    const calls = new Calls(
      this.#connection,
      { deadlineMs: this.#deadlineMs, namespace: kubernetesNamespace },
      signal,
    );
    const sizes = new Map<Snapshot, number>();
    for (const one of listed) {
      const sizeBytes = await usageOf(calls, one.snapshotter, one.name);
      if (sizeBytes !== 'unknown') sizes.set(one, sizeBytes);
    }
    return sizes;
  }

  /** Deletes what nothing refers to: containerd's collector does not run by time, but after a lease is deleted. */
  async collect(signal: AbortSignal): Promise<void> {
    const id = `dustpan-collect-${randomUUID()}`;
    const expires = new Date(clock.now().getTime() + 60 * 60_000).toISOString();
    await this.#change([leases, leases.methods.create], { id, labels: { [gcExpire]: expires } }, signal);
    await this.deleteLease(id, signal);
  }

  async #change<Request, Response>(
    [service, method]: readonly [Service, Method<Request, Response>],
    request: Request,
    signal: AbortSignal,
  ): Promise<boolean> {
    const headers = { 'containerd-namespace': kubernetesNamespace };
    const sent = { request, deadlineMs: changeDeadlineMs, headers };
    return (await orGone(this.#connection.stream([service, method, () => true], sent, signal))) !== 'gone';
  }

  async #read(signal: AbortSignal): Promise<ContainerdStore> {
    const callsIn = (namespace?: string): Calls =>
      new Calls(this.#connection, { deadlineMs: this.#deadlineMs, namespace }, signal);
    const snapshotters = await callsIn().list(
      [introspection, introspection.methods.plugins, ({ plugins }) => plugins.filter(isRunning)],
      { filters: ['type==io.containerd.snapshotter.v1'] },
    );
    const found = await callsIn().list([namespaces, namespaces.methods.list, (page) => page.namespaces], {
      filter: '',
    });
    const listed = new Map<string, NamespaceStore>();
    let objects = 0;
    for (const { name } of found) {
      const stored = await listNamespace(callsIn(name), snapshotters);
      objects += stored.images.length + stored.blobs.length + stored.snapshots.length;
      if (objects > maxObjects)
        throw new RuntimeError(
          `containerd keeps more than ${maxObjects} names, blobs and snapshots`,
          'other',
        );
      listed.set(name, stored);
    }
    const store = new Map<string, NamespaceStore>();
    const sizes = new Map<string, number>();
    for (const [name, stored] of listed) {
      const snapshots = await this.#measured(callsIn(name), stored.snapshots, sizes);
      store.set(name, { ...stored, snapshots });
    }
    this.#sizes = sizes;
    return store;
  }

  /** The snapshots with their sizes. containerd has no call for all of them: it answers for each, from its database. */
  async #measured(
    calls: Calls,
    listed: readonly Snapshot[],
    sizes: Map<string, number>,
  ): Promise<readonly Snapshot[]> {
    const measured: Snapshot[] = [];
    for (const snapshot of listed) {
      if (snapshot.kind !== 'committed') {
        measured.push(snapshot);
        continue;
      }
      const { snapshotter, name, createdAtSeconds } = snapshot;
      const key = [calls.namespace, snapshotter, name, createdAtSeconds].join(' ');
      const sizeBytes = this.#sizes.get(key) ?? (await usageOf(calls, snapshotter, name));
      if (sizeBytes !== 'unknown') {
        sizes.set(key, sizeBytes);
        // Also if this read fails later, the next one goes on from here.
        this.#sizes.set(key, sizeBytes);
      }
      measured.push({ ...snapshot, sizeBytes });
    }
    return measured;
  }
}

/** The calls of one read in one namespace of containerd. */
class Calls {
  readonly namespace: string;
  readonly #connection: CriConnection;
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal;

  constructor(
    connection: CriConnection,
    { deadlineMs, namespace = '' }: { readonly deadlineMs: number; readonly namespace: string | undefined },
    signal: AbortSignal,
  ) {
    this.namespace = namespace;
    this.#connection = connection;
    this.#deadlineMs = deadlineMs;
    this.#signal = signal;
  }

  /** The items of all messages of the response. */
  async list<Request, Response, Item>(
    call: CriCall<Request, Response, readonly Item[]>,
    request: Request,
  ): Promise<readonly Item[]> {
    const headers = { 'containerd-namespace': this.namespace };
    const sent = { request, deadlineMs: this.#deadlineMs, headers };
    return (await this.#connection.stream(call, sent, this.#signal)).flat();
  }
}

const all = { filters: [] };

/** What refers is listed before what is referred to: an object that is made meanwhile then belongs to nothing that is known. */
async function listNamespace(
  calls: Calls,
  snapshotters: readonly { readonly id: string }[],
): Promise<NamespaceStore> {
  const names = await calls.list(listImages, all);
  const running = await calls.list([containers, containers.methods.listStream, toContainers], all);
  const pods = await readSandboxes(calls);
  const held = await readLeases(calls);
  const ingests = await calls.list(listIngests, all);
  const blobs = await calls.list([content, content.methods.list, ({ info }) => info.map(toBlob)], all);
  const pulled = await withLayers(calls, blobs, held);
  const layers: Snapshot[] = [];
  for (const { id: snapshotter } of snapshotters)
    layers.push(
      ...(await calls.list(
        [snapshots, snapshots.methods.list, ({ info }) => info.map((one) => toSnapshot(one, snapshotter))],
        { snapshotter, filters: [] },
      )),
    );
  return {
    images: names,
    containers: running,
    sandboxes: pods,
    leases: held,
    ingests,
    blobs: pulled,
    snapshots: layers,
  };
}

/** containerd labels each manifest with its parts. */
const configLabel = 'containerd.io/gc.ref.content.config';
/** Of a manifest; images have some KB. */
const maxManifestBytes = 4 * 1024 * 1024;

/** Adds the layers of manifests that leases keep: those of pulls, which name their layers before they fetch them. */
async function withLayers(
  calls: Calls,
  blobs: readonly Blob[],
  leased: readonly Lease[],
): Promise<readonly Blob[]> {
  if (calls.namespace !== kubernetesNamespace) return blobs;
  const ids = new Set(leased.flatMap(({ resources }) => resources.map(({ id }) => id)));
  const read: Blob[] = [];
  for (const blob of blobs) {
    const { digest, sizeBytes, labels } = blob;
    const isRead = configLabel in labels && ids.has(digest) && sizeBytes <= maxManifestBytes;
    const chunks = isRead ? await orGone(calls.list(readBlob, { digest })) : 'gone';
    const layers = chunks === 'gone' ? undefined : layersOf(Buffer.concat(chunks));
    read.push(layers === undefined ? blob : { ...blob, layers });
  }
  return read;
}

const readBlob = [content, content.methods.read, ({ data }: ReadContentResponse) => [data]] as const;

/** undefined = not a manifest: a registry may serve anything. */
function layersOf(manifest: Buffer): readonly Layer[] | undefined {
  try {
    const { layers } = JSON.parse(manifest.toString()) as Partial<Record<string, unknown>>;
    return (layers as readonly Unread[]).map(({ digest, size }) => {
      if (typeof digest !== 'string' || !Number.isSafeInteger(size) || Number(size) < 0)
        throw new TypeError('not a layer');
      return { digest, sizeBytes: Number(size) };
    });
  } catch {
    return undefined;
  }
}

type Unread = Readonly<Record<'digest' | 'size', unknown>>;

/** containerd before 1.7 has none: its sandboxes are containers. */
async function readSandboxes(calls: Calls): Promise<readonly StoredSandbox[]> {
  const list = [
    sandboxes,
    sandboxes.methods.list,
    (page: StoreListResponse) => page.list.map(toSandbox),
  ] as const;
  return (await orUnsupported(calls.list(list, all))) ?? [];
}

/** A lease that ends meanwhile keeps nothing. */
async function readLeases(calls: Calls): Promise<readonly Lease[]> {
  const found: Lease[] = [];
  const list = [leases, leases.methods.list, (page: ListResponse) => page.leases] as const;
  const resourcesOf = [
    leases,
    leases.methods.listResources,
    (page: ListResourcesResponse) => page.resources,
  ] as const;
  for (const { id, createdAt, labels } of await calls.list(list, all)) {
    const resources = await orGone(calls.list(resourcesOf, { id }));
    if (resources !== 'gone')
      found.push({ id, createdAtSeconds: secondsOf(createdAt), labels: knownLabels(labels), resources });
  }
  return found;
}

async function orGone<T>(reading: Promise<T>): Promise<T | 'gone'> {
  try {
    return await reading;
  } catch (err) {
    if (err instanceof RuntimeError && isNotFound(err.cause)) return 'gone';
    throw err;
  }
}

/** Unknown: it was removed meanwhile, or this snapshotter does not measure. The next read asks again. */
async function usageOf(calls: Calls, snapshotter: string, key: string): Promise<number | 'unknown'> {
  const usage = [snapshots, snapshots.methods.usage, ({ size }: UsageResponse) => [size]] as const;
  try {
    const [sizeBytes] = await calls.list(usage, { snapshotter, key });
    return sizeBytes ?? 'unknown';
  } catch (err) {
    if (err instanceof RuntimeError && err.failure === 'other') return 'unknown';
    throw err;
  }
}

async function orUnsupported<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (err) {
    if (err instanceof RuntimeError && isUnimplemented(err.cause)) return undefined;
    throw err;
  }
}

/** Without a path, containerd would replace all labels. */
const maskOf = (labels: Labels): { readonly paths: string[] } => ({
  paths: Object.keys(labels).map((key) => `labels.${key}`),
});

const isRunning = ({ initErr }: { readonly initErr: unknown }): boolean => initErr === undefined;

const toImageName = ({ name, target, labels }: Image): ImageName => ({
  name,
  target: target?.digest ?? '',
  labels: knownLabels(labels),
});

const listImages = [
  images,
  images.methods.list,
  (page: ListImagesResponse) => page.images.map(toImageName),
] as const;

const listIngests = [
  content,
  content.methods.listStatuses,
  ({ statuses }: ListStatusesResponse) => statuses.map(toIngest),
] as const;

const toContainers = ({ container }: ListContainerMessage): readonly StoredContainer[] =>
  container === undefined
    ? []
    : [
        {
          id: container.id,
          snapshotter: container.snapshotter,
          snapshotKey: container.snapshotKey,
          image: container.image,
          labels: knownLabels(container.labels),
        },
      ];

const toSandbox = ({ sandboxId, labels }: Sandbox): StoredSandbox => ({
  id: sandboxId,
  labels: knownLabels(labels),
});

const toIngest = ({ ref, startedAt, updatedAt, offset, total, expected }: Status): Ingest => ({
  ref,
  startedAtSeconds: secondsOf(startedAt),
  updatedAtSeconds: secondsOf(updatedAt),
  receivedBytes: offset,
  totalBytes: total,
  expectedDigest: expected,
});

const toBlob = ({ digest, size, createdAt, labels }: BlobInfo): Blob => ({
  digest,
  sizeBytes: size,
  createdAtSeconds: secondsOf(createdAt),
  labels: knownLabels(labels),
});

const toSnapshot = (info: SnapshotInfo, snapshotter: string): Snapshot => ({
  snapshotter,
  name: info.name,
  parent: info.parent,
  kind: info.kind === Kind.COMMITTED ? 'committed' : 'other',
  createdAtSeconds: secondsOf(info.createdAt),
  labels: knownLabels(info.labels),
  sizeBytes: 'unknown',
});

const secondsOf = (time: Timestamp | undefined): number => time?.seconds ?? 0;

const knownLabels = (labels: Readonly<Record<string, string>>): Labels =>
  Object.fromEntries(
    Object.entries(labels).filter(([key]) => labelPrefixes.some((prefix) => key.startsWith(prefix))),
  );
