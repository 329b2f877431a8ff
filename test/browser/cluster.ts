import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { NodeGCReportStatusUsage } from '../../src/api/gen/nodegcreport.gen.ts';
import { metaTime } from '../../src/runtime/text/rfc3339.ts';
import { seededRandom } from '../cluster/population/random.ts';
import { policyManifest } from '../manifests.ts';

interface Pool {
  readonly nodes: number;
  /** On each node, as the following. */
  readonly pods: number;
  readonly oldImages: number;
  readonly diskGiB: number;
  /** Size of the largest emptyDirs. */
  readonly volumeGiB: number;
  /** Namespace, name and MiB of the image. */
  readonly apps: readonly [string, ...string[]];
}

const shop = ['shop/cart 310', 'shop/store 420', 'checkout/api 380', 'payments/gateway 290'] as const;
const web = [...shop, 'search/query 540', 'staging/store 420'] as const;
const metrics = ['monitoring/prometheus 110', 'logging/loki 95'] as const;
const infra = [...metrics, 'ingress/nginx 105', 'kube-system/coredns 20'] as const;
const data = ['data/spark 1350', 'data/kafka 390', 'search/indexer 560'] as const;
const ci = ['ci/build 2300', 'ci/test 1700'] as const;
const ml = ['ml/train 7600', 'ml/notebook 5200'] as const;
/** The nodes of `ml` have another disk for images. */
const pools: Readonly<Record<string, Pool>> = {
  web: { nodes: 16, pods: 14, oldImages: 110, diskGiB: 80, volumeGiB: 6, apps: web },
  infra: { nodes: 4, pods: 10, oldImages: 60, diskGiB: 60, volumeGiB: 6, apps: infra },
  data: { nodes: 8, pods: 9, oldImages: 70, diskGiB: 400, volumeGiB: 90, apps: data },
  ci: { nodes: 8, pods: 12, oldImages: 70, diskGiB: 200, volumeGiB: 22, apps: ci },
  ml: { nodes: 4, pods: 4, oldImages: 50, diskGiB: 200, volumeGiB: 100, apps: ml },
};
const imageDiskGiB = 300;

const takenAt = new Date('2026-01-15T12:00:00Z');
const gib = 2 ** 30;
const random = seededRandom(7);
const between = (from: number, to: number): number => from + random.next() * (to - from);
/** Mostly small, sometimes the largest. */
const skewed = (largestGiB: number): number => Math.round(gib * largestGiB * random.next() ** 5);
const inHours = (hours: number): string => metaTime(new Date(takenAt.getTime() + hours * 3_600_000));
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const sumOf = <K extends string>(list: Iterable<Readonly<Record<K, number>>>, field: K): number =>
  sum([...list].map((one) => one[field]));

interface Image {
  readonly id: string;
  readonly tag: string;
  readonly bytes: number;
}
const images = new Map<string, Image>();

/** The same image on all nodes that have this version of an app. */
function imageOf(app: string, version: number): Image {
  const [name = '', mebibytes = ''] = app.split(' ');
  const tag = `registry.example.com/${name}:2.${version}.0`;
  const id = `sha256:${images.size.toString(16).padStart(64, '0')}`;
  const image = images.get(tag) ?? {
    id,
    tag,
    bytes: Math.round(Number(mebibytes) * between(0.9, 1.1) * 2 ** 20),
  };
  images.set(tag, image);
  return image;
}

function podOf({ apps, volumeGiB }: Pool, node: string) {
  const app = random.pick(apps);
  const [namespace = '', name = ''] = app.split(/[/ ]/);
  const uid = random.uid();
  const isFinished = ['build', 'test', 'spark', 'train'].includes(name) && random.chance(0.6);
  return {
    namespace,
    name: `${name}-${uid.slice(0, 8)}`,
    uid,
    node,
    image: imageOf(app, isFinished ? 25 + random.int(5) : 30),
    isFinished,
    layersBytes: skewed(1),
    volumesBytes: skewed(volumeGiB),
    logsBytes: skewed(3),
  };
}

type FileSystem = NonNullable<NodeGCReportStatusUsage['fileSystems']>[number];

/** A file system that these classes use. Some of them grow, and collection keeps up with some. */
function fileSystem(name: FileSystem['name'], sizeGiB: number, classes: Partial<FileSystem>) {
  const capacityBytes = sizeGiB * gib;
  const usedBytes = sum(Object.values(classes).map(Number));
  const availableBytes = Math.max(gib, Math.round(0.98 * capacityBytes) - usedBytes);
  const collectableBytes = Math.round((classes.imagesUnusedBytes ?? 0) * 0.9);
  const disk = { name, capacityBytes, availableBytes, usedBytes, ...classes, collectableBytes };
  if (random.chance(0.6)) return disk;
  const growthBytesPerHour = Math.round(capacityBytes / between(60, 240));
  const fullTime = inHours(availableBytes / growthBytesPerHour);
  const fullAfterCollectionTime = inHours((availableBytes + collectableBytes) / growthBytesPerHour);
  return { ...disk, growthBytesPerHour, fullTime, ...(random.chance(0.7) && { fullAfterCollectionTime }) };
}

function nodeOf(pool: string, name: string, given: Pool) {
  const { diskGiB, apps, oldImages } = given;
  const pods = Array.from({ length: given.pods }, () => podOf(given, name));
  const used = new Set(pods.map(({ image }) => image));
  const versions = Array.from({ length: Math.round(oldImages * between(0.1, 1)) }, () => random.int(30));
  const old = new Set(versions.map((version) => imageOf(random.pick(apps), version)));
  const unused = [...old].filter((one) => !used.has(one));
  const ofImages = {
    imagesInUseBytes: sumOf(used, 'bytes'),
    imagesUnusedBytes: sumOf(unused, 'bytes'),
    layersBytes: sumOf(pods, 'layersBytes'),
  };
  const ofPods = {
    volumesBytes: sumOf(pods, 'volumesBytes'),
    logsBytes: sumOf(pods, 'logsBytes'),
    orphansBytes: skewed(6),
    otherBytes: Math.round(between(5, 11) * gib),
  };
  const fileSystems =
    pool === 'ml'
      ? [
          fileSystem('nodefs', diskGiB, ofPods),
          fileSystem('imagefs', imageDiskGiB, { ...ofImages, otherBytes: gib }),
        ]
      : [fileSystem('nodefs', diskGiB, { ...ofImages, ...ofPods })];
  const namespaces = [...Map.groupBy(pods, ({ namespace }) => namespace)].map(([namespace, list]) => {
    const bytes = sum(list.flatMap((one) => [one.layersBytes, one.volumesBytes, one.logsBytes]));
    const growthBytesPerHour = random.chance(0.5) ? Math.round(bytes * between(0.001, 0.01)) : undefined;
    return { name: namespace, pods: list.length, bytes, growthBytesPerHour };
  });
  const usage = { fileSystems, namespaces, workloads: workloadsOf(pods), watchedSeconds: 604_800 };
  return { name, pool, pods, images: [...used, ...unused], usage };
}

/** The mark of a workload is twice what its largest pod uses now. */
function workloadsOf(pods: readonly ReturnType<typeof podOf>[]) {
  const running = pods.filter(({ isFinished }) => !isFinished);
  const sizeOf = (one: (typeof pods)[number]): number =>
    sum([one.layersBytes, one.volumesBytes, one.logsBytes]);
  const workloadOf = ({ namespace, name }: (typeof pods)[number]) =>
    `${namespace}/${name.slice(0, name.lastIndexOf('-'))}`;
  return [...Map.groupBy(running, workloadOf)].map(([key, own]) => {
    const [namespace, name] = key.split('/');
    const highestBytes = 2 * Math.max(...own.map(sizeOf));
    return {
      ...{ namespace, kind: 'Deployment', name, pods: own.length, bytes: sum(own.map(sizeOf)), highestBytes },
      ...{ watchedSeconds: 604_800, limitBytes: 8 * gib },
      parts: [{ kind: 'container', name: 'main', highestBytes, limitBytes: 8 * gib }],
    };
  });
}

const meta = (name: string) => ({ name, uid: name, resourceVersion: '1' });

const podObject = ({ namespace, name, uid, node, image, isFinished }: ReturnType<typeof podOf>) => ({
  metadata: { name, namespace, uid, resourceVersion: '1', creationTimestamp: inHours(-between(60, 90)) },
  spec: { nodeName: node, containers: [{ name: 'main', image: image.tag }] },
  status: {
    phase: isFinished ? 'Succeeded' : 'Running',
    containerStatuses: [
      { state: isFinished ? { terminated: { finishedAt: inHours(-between(1, 50)) } } : {} },
    ],
  },
});

/** The agent of one node is older and does not report the usage; another one has stopped. */
function reportObject({ name, usage }: ReturnType<typeof nodeOf>) {
  const measuredTime = inHours(name === 'data-05' ? -3 : 0);
  return { metadata: meta(name), status: name === 'web-12' ? {} : { usage: { measuredTime, ...usage } } };
}

const ofPools = (...values: readonly string[]) => ({
  nodeSelector: { matchExpressions: [{ key: 'pool', operator: 'In', values }] },
  imageGC: { highThresholdPercent: 75, lowThresholdPercent: 65, holdAbove: 0 },
});
const finishedPods = { terminated: { ttlAfterFinished: '36h' }, safety: { holdAbove: 0 } };
const policies = [
  policyManifest('finished-pods', { mode: 'Enforce', pods: finishedPods }),
  policyManifest('app-nodes', { mode: 'Enforce', nodes: ofPools('web', 'infra', 'ci') }),
  policyManifest('data-nodes', { mode: 'DryRun', nodes: ofPools('data', 'ml') }),
];

const image = ({ id, tag, bytes }: Image) => ({ id, repoTags: [tag], repoDigests: [], size: String(bytes) });
/** The agent has seen an old version in use until a newer one came. */
const times = ({ id }: Image) => [id, { firstDetected: inHours(-900), lastUsed: inHours(-between(2, 700)) }];

/** The images of a node, their file system, and no container. */
const nodeFiles = ({ images: present, usage: { fileSystems } }: ReturnType<typeof nodeOf>) => ({
  images: { images: present.map(image) },
  containers: { containers: [] },
  sandboxes: { items: [] },
  logs: [],
  state: { version: 1, images: Object.fromEntries(present.map(times)) as object, removed: [] },
  stats: { node: { runtime: { imageFs: fileSystems.at(-1) } } },
});

/** Writes the snapshot of a cluster of 40 nodes and 12 namespaces, always the same. */
export function writeCluster(directory: string): void {
  const write = (file: string, content: unknown): void => {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, `${file}.json`), JSON.stringify(content));
  };
  const nodes = Object.entries(pools).flatMap(([pool, given]) =>
    Array.from({ length: given.nodes }, (_, i) =>
      nodeOf(pool, `${pool}-${String(i + 1).padStart(2, '0')}`, given),
    ),
  );
  const pods = nodes.flatMap((one) => one.pods);
  const namespaces = new Set(pods.map(({ namespace }) => namespace));
  const lists = {
    policies,
    nodes: nodes.map(({ name, pool }) => ({ metadata: { ...meta(name), labels: { pool } } })),
    namespaces: [...namespaces].map((name) => ({ metadata: meta(name) })),
    pods: pods.map(podObject),
    jobs: [],
    replicasets: [],
    nodegcreports: nodes.map(reportObject),
  };
  write('snapshot', { takenAt: metaTime(takenAt) });
  for (const [file, items] of Object.entries(lists)) write(file, { kind: 'List', items });
  for (const node of nodes)
    for (const [file, content] of Object.entries(nodeFiles(node)))
      write(`nodes/${node.name}/${file}`, content);
}
