import type { NodeGCReportStatusImagesPull } from '../../api/gen/nodegcreport.gen.ts';
import { imageIndex } from '../../api/image-index.ts';
import { normaliseReference, parseImageReference, repositoryOf } from '../../api/image-reference.ts';
import type { StoredPull } from '../../api/image-space.ts';
import type { AwaitedImage, NodePod } from '../../api/node-pod.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { contentNode, imageNode, resourceNode, type Graph, type Node } from '../../containerd/graph.ts';
import { kubernetesNamespace, type Blob, type ContainerdStore } from '../../containerd/store.ts';
import { sum } from '../../runtime/sum.ts';
import type { FittedPull, ImageGcFacts, PendingPull, PullAttempts } from './facts.ts';
import { distinctImages } from './uses.ts';

/** As the report of the node has it. */
export const reportedPull = ({ pods, reason, ...pull }: FittedPull): NodeGCReportStatusImagesPull => ({
  ...pull,
  pods: [...pods],
  podCount: pods.length,
  reason: reason === '' ? undefined : reason,
});

/** A pull that has received nothing for longer needs no further pass, and may have been interrupted. */
export const receivedWithinMs = 60_000;

/** The pulls that containerd has begun in the namespace of the kubelet. It fetches the manifest of the platform of the node alone, which names all layers. */
export function storedPulls(store: ContainerdStore, graph: Graph, now: Date): readonly StoredPull[] {
  const { images = [], blobs = [], leases = [], ingests = [] } = store.get(kubernetesNamespace) ?? {};
  const ofImages = graph.reach(images.map(({ name }) => imageNode(name)));
  const sizes = new Map(blobs.map(({ digest, sizeBytes }) => [digest, sizeBytes]));
  // As `layer-sha256:…`; containerd lists no expected digest.
  const received = new Map(ingests.map((ingest) => [ingest.ref.slice(ingest.ref.indexOf('-') + 1), ingest]));
  const sinceMs = now.getTime() - receivedWithinMs;
  return blobs.flatMap((blob) => {
    const { digest, layers } = blob;
    const node = contentNode(digest);
    if (layers === undefined || ofImages.has(node)) return [];
    const own = [...new Map(layers.map((layer) => [layer.digest, layer])).values()].filter(
      (layer) => !ofImages.has(contentNode(layer.digest)),
    );
    const leased = leases
      .map(({ id: leaseId, resources }) => ({
        leaseId,
        nodes: resources.map(({ type, id }) => resourceNode(type, id)),
      }))
      .filter(({ nodes }) => nodes.includes(node));
    const kept = leased.flatMap(({ nodes }) => nodes);
    const unpacked = new Set(kept.filter((one) => isSnapshot(one) && !ofImages.has(one)));
    return {
      repositories: repositoriesOf(blob),
      digests: [
        digest,
        ...blobs.filter(({ labels }) => Object.values(labels).includes(digest)).map((index) => index.digest),
      ],
      totalBytes: sum(own.map(({ sizeBytes }) => sizeBytes)),
      receivedBytes: sum(
        own.map((layer) => sizes.get(layer.digest) ?? received.get(layer.digest)?.receivedBytes ?? 0),
      ),
      unpackedBytes: sum([...unpacked].map((one) => graph.bytes.get(one) ?? 0)),
      isReceiving: own.some(
        ({ digest: layer }) => (received.get(layer)?.updatedAtSeconds ?? 0) * 1000 >= sinceMs,
      ),
      leaseIds: leased.map(({ leaseId }) => leaseId),
    };
  });
}

const isSnapshot = (node: Node): boolean => node.startsWith('snapshot ');

const source = 'containerd.io/distribution.source.';

const repositoriesOf = ({ labels }: Blob): readonly string[] =>
  Object.entries(labels).flatMap(([key, paths]) =>
    key.startsWith(source)
      ? paths.split(',').map((path) => repositoryOf({ domain: key.slice(source.length), path }))
      : [],
  );

type PullFacts = Pick<ImageGcFacts, 'listed' | 'pods' | 'space' | 'pullBytes' | 'attempts'>;

/** The images that pods wait for, each once. */
export function pendingPulls(facts: PullFacts): readonly PendingPull[] {
  const ratio = unpackedRatio(facts);
  return awaitedPulls(facts).map(({ reference, stored, ...pull }) => {
    const left = stored && ratio && leftBytes(stored, ratio);
    return {
      ...pull,
      totalBytes: stored?.totalBytes,
      receivedBytes: stored?.receivedBytes,
      neededBytes: left ?? facts.pullBytes?.get(reference),
      attempts: facts.attempts?.get(reference)?.count,
    };
  });
}

/** The images that pods wait for by their references, and what containerd has of each. */
function awaitedPulls({ listed, pods = [], space, pullBytes }: PullFacts) {
  const index = imageIndex(distinctImages(listed));
  const waiting = pods
    .filter((pod) => !isFinished(pod) && pod.deletionAtMs === undefined)
    .flatMap((pod) => (pod.awaited ?? []).map((one) => awaitedBy(pod, one)))
    .filter(({ image }) => index.idsOf(image).length === 0);
  // The first of each.
  const distinct = new Map(waiting.toReversed().map((one) => [one.reference, one]));
  return [...distinct.values()].map(({ reference, image, reason }) => {
    const isRemembered = pullBytes?.has(reference) === true;
    const waits = waiting.filter((one) => one.reference === reference);
    return {
      reference,
      image,
      pods: [...new Set(waits.map(({ pod }) => pod))],
      reason,
      stored: storedPullOf(reference, isRemembered, [...distinct.keys()], space?.pulls ?? []),
    };
  });
}

const awaitedBy = ({ namespace, name }: NodePod, { image, reason }: AwaitedImage) => ({
  image,
  reason,
  reference: normaliseReference(image),
  pod: `${namespace}/${name}`,
});

/**
 * The pull of a reference. By its tag it is known only if no other reference is of its repository, and one pull alone receives something: one that
 * does not may be an interrupted pull of another tag, unless the size of this one is remembered.
 */
function storedPullOf(
  reference: string,
  isRemembered: boolean,
  references: readonly string[],
  pulls: readonly StoredPull[],
): StoredPull | undefined {
  const { digest, repository } = partsOf(reference);
  if (digest !== undefined) return pulls.find(({ digests }) => digests.includes(digest));
  const all = references.map(partsOf);
  const own = pulls.filter(
    ({ repositories, digests }) =>
      repositories.includes(repository) && !all.some((one) => one.digest && digests.includes(one.digest)),
  );
  const receiving = own.filter(({ isReceiving }) => isReceiving);
  const [only, ...others] = isRemembered && receiving.length === 0 ? own : receiving;
  const isAlone = all.filter((one) => one.repository === repository).length === 1;
  return isAlone && others.length === 0 ? only : undefined;
}

function partsOf(reference: string): { readonly digest: string | undefined; readonly repository: string } {
  const parsed = parseImageReference(reference);
  if (parsed === undefined) return { digest: undefined, repository: '' };
  const { digest, domain, path } = parsed;
  // The labels of containerd have the registry without its port.
  return { digest, repository: repositoryOf({ domain: domain.replace(/:\d+$/, ''), path }) };
}

const leftBytes = ({ totalBytes, receivedBytes, unpackedBytes }: StoredPull, ratio: number): number =>
  Math.max(0, totalBytes - receivedBytes) + Math.max(0, Math.ceil(totalBytes * ratio) - unpackedBytes);

/** How many bytes the layers of the images of the node have for each packed one, which the runtime reports: the median; undefined = no image shows it. */
function unpackedRatio({ listed, space }: Pick<PullFacts, 'listed' | 'space'>): number | undefined {
  const ratios = distinctImages(listed).flatMap(({ id, sizeBytes }) => {
    const { unique, shared, packed } = space?.images.get(id) ?? { unique: 0, shared: 0, packed: 0 };
    const unpacked = unique + shared - packed;
    return unpacked > 0 && sizeBytes > 0 ? [unpacked / sizeBytes] : [];
  });
  return ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)];
}

/** Remembers what the whole of each pull takes: between two attempts the runtime knows nothing of it. Those that nothing waits for are forgotten. */
export function observePullBytes(facts: PullFacts): ReadonlyMap<string, number> {
  const { pods, pullBytes = new Map<string, number>() } = facts;
  if (pods === undefined) return pullBytes;
  const ratio = unpackedRatio(facts);
  return new Map(
    pendingPulls(facts).flatMap(({ image, totalBytes }) => {
      const reference = normaliseReference(image);
      const whole = totalBytes && ratio && Math.ceil(totalBytes * (1 + ratio));
      const bytes = whole ?? pullBytes.get(reference);
      return bytes === undefined ? [] : [[reference, bytes] as const];
    }),
  );
}

/**
 * Counts the attempts of each pull by their leases. The count is a lower bound: an attempt that ends between two passes is not seen. One that receives
 * nothing may be the interrupted pull of another tag.
 */
export function observeAttempts(facts: PullFacts): ReadonlyMap<string, PullAttempts> {
  const { pods, attempts: before = new Map<string, PullAttempts>() } = facts;
  if (pods === undefined) return before;
  return new Map(
    awaitedPulls(facts).flatMap(({ reference, stored }) => {
      const known = before.get(reference);
      if (stored?.isReceiving !== true) return known === undefined ? [] : [[reference, known] as const];
      const { leaseIds = [] } = stored;
      const began = leaseIds.filter((id) => known?.leaseIds.includes(id) !== true).length;
      const count = (known?.count ?? 0) + began;
      return count === 0 ? [] : [[reference, { count, leaseIds }] as const];
    }),
  );
}

interface Room {
  /** undefined = not known. */
  readonly freeBytes: number | undefined;
  /** What removals may add; off: none is allowed for pulls. */
  readonly freeableBytes: number | 'off' | 'unknown';
}

/**
 * Compares the pulls with the free space, those in progress first, then the smallest: one that cannot fit does not keep the others from it.
 * `wantedBytes`: what removals have to add for those that fit then.
 */
export function fitPulls(
  pulls: readonly PendingPull[],
  { freeBytes, freeableBytes }: Room,
): { readonly pulls: readonly FittedPull[]; readonly wantedBytes: number } {
  let taken = 0;
  let wantedBytes = 0;
  const fitted = pulls.toSorted(byTurn).map((pull): FittedPull => {
    const { neededBytes } = pull;
    const availableBytes = freeBytes && Math.max(0, freeBytes - taken);
    if (freeBytes === undefined || neededBytes === undefined)
      return { ...pull, fit: 'Unknown', availableBytes };
    const fit = fitOf(neededBytes, freeBytes - taken, freeableBytes);
    if (fit === 'Fits' || fit === 'Freeing') taken += neededBytes;
    if (fit === 'Freeing') wantedBytes = taken - freeBytes;
    return { ...pull, fit, availableBytes };
  });
  return { pulls: fitted, wantedBytes };
}

function fitOf(needed: number, free: number, freeable: Room['freeableBytes']): FittedPull['fit'] {
  if (needed <= free) return 'Fits';
  if (freeable === 'off') return 'Off';
  if (freeable === 'unknown') return 'Unknown';
  return needed <= free + freeable ? 'Freeing' : 'Short';
}

const byTurn = (a: PendingPull, b: PendingPull): number =>
  Number(a.receivedBytes === undefined) - Number(b.receivedBytes === undefined) ||
  (a.neededBytes ?? Infinity) - (b.neededBytes ?? Infinity) ||
  (a.image < b.image ? -1 : 1);
