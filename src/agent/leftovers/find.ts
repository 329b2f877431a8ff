import {
  contentNode,
  expiryOf,
  gcFlat,
  graphOf,
  ingestNode,
  isExpired,
  leasedNodes,
  onDisk,
  resourceNode,
  snapshotNode,
  type Graph,
  type Node,
  type Root,
} from '../../containerd/graph.ts';
import {
  gcRoot,
  kubernetesNamespace,
  type ContainerdStore,
  type Lease,
  type NamespaceStore,
  type Snapshot,
} from '../../containerd/store.ts';
import { sum } from '../../runtime/sum.ts';
import type { Leftover, LeftoverObstacle } from '../../api/leftovers.ts';
import type { DirectoryCounts, NamespaceBytes } from './facts.ts';

interface Given {
  /** Ids of the containers and sandboxes that CRI lists. */
  readonly owners: ReadonlySet<string>;
  readonly now: Date;
}

/** A client of containerd may still work on what is younger. */
export const minimumAgeMs = 60 * 60_000;

interface Found {
  readonly leftovers: readonly Leftover[];
  /** Writable snapshots of the leftovers whose sizes are unknown. */
  readonly unmeasured: readonly Snapshot[];
}

/** A leftover before its bytes are known. */
interface Candidate extends Omit<Leftover, 'sinceMs' | 'bytes' | 'isLowerBound' | 'progress'> {
  /** Of everything that it names. */
  readonly times: readonly Time[];
  readonly nodes: readonly Node[];
  /** It does not keep what the labels of these refer to. */
  readonly isFlat?: boolean;
}

/** Unix milliseconds; undefined = unknown. */
type Time = number | undefined;

/** Go's zero time is in the year 1. */
const timeOf = (seconds: number): Time => (seconds > 0 ? seconds * 1000 : undefined);

/**
 * Finds what containerd keeps for nobody: what is older than an hour or of unknown age, and what neither an image, a container or a sandbox
 * nor another namespace reaches. In the order of removal.
 */
export function findLeftovers(store: ContainerdStore, { owners: listed, now }: Given): Found {
  const stored = store.get(kubernetesNamespace);
  if (stored === undefined) return { leftovers: [], unmeasured: [] };
  const owners = new Set([
    ...listed,
    ...stored.containers.map(({ id }) => id),
    ...stored.sandboxes.map(({ id }) => id),
  ]);
  const graph = graphOf(store, now);
  // Some runtimes of sandboxes keep no container for them.
  for (const { snapshotter, name: id } of stored.snapshots)
    if (owners.has(id))
      graph.roots.push({ kind: 'container', id, node: snapshotNode(snapshotter, id), isFlat: false });
  const times = timesOf(stored);
  const isYoung = (ms: Time): boolean => ms !== undefined && now.getTime() - ms < minimumAgeMs;
  const candidates = [
    ...leasesOf(stored, { owners, times, nowMs: now.getTime() }),
    ...downloadsOf(graph, times),
    ...snapshotsOf(stored, { owners, graph, times }),
    ...labelledOf(stored, { graph, times }),
  ].filter((one) => !one.times.some(isYoung));
  const holders = new Set(candidates.map(({ holder }) => holder));
  const ofLabels = new Set(candidates.flatMap(({ kind, nodes }) => (isByLabel(kind) ? nodes : [])));
  const isOurs = ({ kind, id, node }: Root): boolean =>
    kind === 'label' ? id === gcRoot && ofLabels.has(node) : holders.has(`${kind} ${id}`);
  const held = graph.held((root) => !isOurs(root));
  const left = candidates.filter(
    ({ kind, nodes }) => !isByLabel(kind) || !nodes.some((node) => held.has(node)),
  );
  const loose = [...times.keys()].filter((node) => !held.has(node));
  const reached = new Set(left.flatMap(({ nodes, isFlat }) => [...graph.reach(nodes, isFlat)]));
  const rest = loose.filter((node) => !reached.has(node) && !isYoung(times.get(node)));
  return {
    leftovers: sized([...unreferenced(rest, times), ...left], graph, new Set(loose)),
    unmeasured: stored.snapshots.filter(
      ({ kind, sizeBytes, snapshotter, name }) =>
        kind !== 'committed' &&
        sizeBytes === 'unknown' &&
        reached.has(snapshotNode(snapshotter, name)) &&
        !held.has(snapshotNode(snapshotter, name)),
    ),
  };
}

const isByLabel = (kind: Leftover['kind']): boolean => kind === 'Snapshot' || kind === 'Content';

type Times = ReadonlyMap<Node, Time>;

const timesOf = ({ blobs, snapshots, ingests }: NamespaceStore): Times =>
  new Map([
    ...blobs.map((one) => [contentNode(one.digest), timeOf(one.createdAtSeconds)] as const),
    ...snapshots.map(
      (one) => [snapshotNode(one.snapshotter, one.name), timeOf(one.createdAtSeconds)] as const,
    ),
    ...ingests.map((one) => [ingestNode(one.ref), timeOf(one.updatedAtSeconds)] as const),
  ]);

/** What containerd does not have has none. */
const timesIn = (times: Times, nodes: readonly Node[]): readonly Time[] =>
  nodes.filter((node) => times.has(node)).map((node) => times.get(node));

/** undefined = one of them is unknown. */
function newest(times: readonly Time[]): Time {
  const known = times.filter((ms) => ms !== undefined);
  return known.length < times.length ? undefined : Math.max(...known);
}

interface LeaseFacts {
  readonly owners: ReadonlySet<string>;
  readonly times: Times;
  readonly nowMs: number;
}

/** Downloads first. A lease that will expire, and of no download, is no leftover: its client has set the end. */
function leasesOf(stored: NamespaceStore, { owners, times, nowMs }: LeaseFacts): readonly Candidate[] {
  const flat = new Set(stored.leases.filter(({ labels }) => gcFlat in labels).map(({ id }) => id));
  const found = stored.leases.flatMap((lease): Candidate[] => {
    const nodes = lease.resources.map(({ type, id }) => resourceNode(type, id));
    const kind = owners.has(lease.id) ? undefined : kindOf(lease, nodes, nowMs);
    if (kind === undefined) return [];
    const id = `lease ${lease.id}`;
    const name = repositoryOf(stored, nodes) ?? lease.id;
    const own = [timeOf(lease.createdAtSeconds), ...timesIn(times, nodes)];
    const isFlat = flat.has(lease.id);
    return [{ kind, id, name, holder: id, times: own, nodes, isFlat, obstacle: obstacleOf(lease.id, flat) }];
  });
  return found.toSorted((a, b) => Number(a.kind === 'Lease') - Number(b.kind === 'Lease'));
}

/** A client that deletes its objects by itself makes flat leases; BuildKit makes one beside it for copies of the layer in other compressions. CRI names the lease of a sandbox after it. */
function obstacleOf(id: string, flat: ReadonlySet<string>): LeftoverObstacle | undefined {
  if (flat.has(id.replace(/-variants$/, ''))) return 'HeldByOther';
  return /^[0-9a-f]{64}$/.test(id) ? 'SandboxUnknown' : undefined;
}

function kindOf({ labels }: Lease, nodes: readonly Node[], nowMs: number): 'Download' | 'Lease' | undefined {
  if (isExpired(labels, nowMs)) return nodes.length === 0 ? undefined : 'Download';
  if (nodes.some((node) => /^ingest |^snapshot [^/]+\/extract-/.test(node))) return 'Download';
  return expiryOf(labels) === undefined ? 'Lease' : undefined;
}

const repositoryLabel = 'containerd.io/distribution.source.';

/** `docker.io/library/nginx`, by a label of a blob; undefined = none has it. */
function repositoryOf({ blobs }: NamespaceStore, nodes: readonly Node[]): string | undefined {
  const own = new Set(nodes);
  const [first] = blobs
    .filter(({ digest }) => own.has(contentNode(digest)))
    .flatMap(({ labels }) => Object.entries(labels).filter(([key]) => key.startsWith(repositoryLabel)));
  if (first === undefined) return undefined;
  const [key, value] = first;
  return `${key.slice(repositoryLabel.length)}/${value.replace(/,.*/, '')}`;
}

/** Those that no lease holds. */
const downloadsOf = ({ roots }: Graph, times: Times): readonly Candidate[] =>
  roots.flatMap(({ kind, id, node }) =>
    kind === 'download'
      ? [
          {
            kind: 'Download' as const,
            id: `download ${id}`,
            name: id,
            holder: `download ${id}`,
            times: timesIn(times, [node]),
            nodes: [node],
            obstacle: undefined,
          },
        ]
      : [],
  );

interface SnapshotFacts {
  readonly graph: Graph;
  readonly times: Times;
  readonly owners: ReadonlySet<string>;
}

function snapshotsOf(stored: NamespaceStore, { graph, times, owners }: SnapshotFacts): readonly Candidate[] {
  const leased = leasedNodes(stored);
  return stored.snapshots
    .filter(({ kind, name }) => kind !== 'committed' && !owners.has(name))
    .map(({ snapshotter, name }) => ({ name, node: snapshotNode(snapshotter, name) }))
    .filter(({ node }) => !leased.has(node))
    .map(({ name, node }) => ({
      kind: 'Snapshot',
      id: node,
      name,
      ...holderOf(node, graph),
      times: timesIn(times, [node]),
      nodes: [node],
    }));
}

function holderOf(node: Node, { roots }: Graph): Pick<Leftover, 'holder' | 'obstacle'> {
  return roots.some((root) => root.node === node && root.id === gcRoot)
    ? labelled
    : { holder: nothing, obstacle: undefined };
}

/** Its client may use it at a place that an agent cannot see. */
const labelled = { holder: `label ${gcRoot}`, obstacle: 'HeldByOther' } as const;
const nothing = 'nothing';

/** Layers and packed blobs that another client has labelled. */
const labelledOf = (
  { snapshots }: NamespaceStore,
  { graph, times }: Omit<SnapshotFacts, 'owners'>,
): readonly Candidate[] => {
  const writable = new Set(
    snapshots.flatMap(({ kind, snapshotter, name }) =>
      kind === 'committed' ? [] : [snapshotNode(snapshotter, name)],
    ),
  );
  return graph.roots
    .filter(({ kind, id, node }) => kind === 'label' && id === gcRoot && !writable.has(node))
    .map(({ node }) => ({
      kind: 'Content',
      id: node,
      name: node.slice(node.indexOf(' ') + 1),
      ...labelled,
      times: timesIn(times, [node]),
      nodes: [node],
    }));
};

/** What containerd deletes when its collector runs. */
const unreferenced = (nodes: readonly Node[], times: Times): readonly Candidate[] =>
  nodes.length === 0
    ? []
    : [
        {
          kind: 'Content',
          id: 'unreferenced',
          name: 'unreferenced',
          holder: nothing,
          obstacle: undefined,
          times: timesIn(times, nodes),
          nodes,
        },
      ];

/** `freed`: all nodes that are deleted with the last leftover that reaches them. */
function sized(
  candidates: readonly Candidate[],
  graph: Graph,
  freed: ReadonlySet<Node>,
): readonly Leftover[] {
  const last = new Map<Node, Candidate>();
  for (const one of candidates)
    for (const node of graph.reach(one.nodes, one.isFlat)) if (freed.has(node)) last.set(node, one);
  const nodesBy = Map.groupBy(last.keys(), (node) => last.get(node));
  return candidates.map((one) => {
    const own = nodesBy.get(one) ?? [];
    const { kind, id, name, holder, obstacle } = one;
    const sinceMs = newest(one.times);
    const bytes = sum(own.map((node) => graph.bytes.get(node) ?? 0));
    const isLowerBound = own.some((node) => !graph.bytes.has(node) || graph.doubts.has(node));
    const progress = progressOf(one, graph);
    return { kind, id, name, holder, sinceMs, obstacle, bytes, isLowerBound, progress };
  });
}

/** A committed layer does not grow, also if its size is unknown. */
function progressOf({ nodes, times }: Candidate, { bytes, doubts }: Graph): string | undefined {
  const sizes = nodes.map((node) => ({ node, size: bytes.get(node) ?? doubts.get(node) }));
  const isKnown = sizes.every(({ node, size }) => size !== undefined || !node.startsWith('snapshot '));
  return isKnown
    ? JSON.stringify([newest(times), ...sizes.map(({ node, size }) => `${node} ${size ?? ''}`).sort()])
    : undefined;
}

/** The same with these sizes of snapshots of the kubelet's namespace. */
export function withSizes(store: ContainerdStore, sizes: ReadonlyMap<Snapshot, number>): ContainerdStore {
  const stored = store.get(kubernetesNamespace);
  if (stored === undefined) return store;
  const snapshots = stored.snapshots.map((one) => ({ ...one, sizeBytes: sizes.get(one) ?? one.sizeBytes }));
  return new Map([...store, [kubernetesNamespace, { ...stored, snapshots }]]);
}

/** `directories`: of the snapshotter overlayfs, which has one for each snapshot of all namespaces; undefined = unknown. */
export function countDirectories(
  directories: number | undefined,
  store: ContainerdStore,
): DirectoryCounts | undefined {
  if (directories === undefined) return undefined;
  const all = [...store.values()].flatMap(({ snapshots }) => snapshots);
  const surplus = directories - all.filter(({ snapshotter }) => snapshotter === 'overlayfs').length;
  return { withoutSnapshot: Math.max(0, surplus), missing: Math.max(0, -surplus) };
}

/** What the other namespaces of containerd have. */
export function namespaceBytes(store: ContainerdStore): readonly NamespaceBytes[] {
  const own = new Set(store.get(kubernetesNamespace)?.blobs.map(({ digest }) => digest));
  return [...store]
    .filter(([name]) => name !== kubernetesNamespace)
    .map(([name, { blobs, snapshots }]) => ({
      name,
      bytes: sum([
        ...blobs.filter(({ digest }) => !own.has(digest)).map(({ sizeBytes }) => onDisk(sizeBytes)),
        ...snapshots.map(({ sizeBytes }) => (sizeBytes === 'unknown' ? 0 : sizeBytes)),
      ]),
      isLowerBound: snapshots.some(({ sizeBytes }) => sizeBytes === 'unknown'),
    }));
}
