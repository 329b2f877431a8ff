import { createReadStream, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Cluster } from '../servers/cluster.ts';
import { runCommand } from '../servers/command.ts';
import { phases } from '../agent/environment.ts';
import { criResponse, crictl } from '../node/crictl.ts';
import { podOn, type Collector } from './side-by-side.ts';
import { megabyte, ownImage, sizeOf, type Release, type Round } from './random-images.ts';
import { kubectl, create, listed } from '../servers/kubectl.ts';
import { settled, waitUntil } from '../servers/waiting.ts';

/** The settings that both collectors have. */
export interface Thresholds {
  readonly high: number;
  readonly low: number;
  readonly minimumAgeMs: number;
}

/** One collector at work on a node. */
export interface ImageSide {
  readonly cluster: Cluster;
  readonly thresholds: Thresholds;
  /** Waits until the collector has seen the current state. */
  noticed(): Promise<void>;
  /** Longer than two passes are apart. */
  readonly quietMs: number;
  /** Sends a signal to the collector's process. */
  readonly signal: (name: 'SIGSTOP' | 'SIGCONT') => Promise<void>;
}

/** Plays a round and returns the names of the images that are there when the collector has come to rest. */
export async function play(side: ImageSide, round: Round): Promise<readonly string[]> {
  const { cluster } = side;
  for (const batch of round.batches) {
    await cluster.importImages(batch);
    await side.noticed();
  }
  const noticedAt = performance.now();
  if (round.pinned.length > 0) await cluster.importImages(round.pinned, { pinned: true });
  await discardPacked(cluster);
  await run(cluster, round);
  await side.noticed();
  for (const release of round.releases) {
    await removeLastContainer(cluster, round, release);
    await side.noticed();
  }
  await oldEnough(side, noticedAt);
  await cluster.importImages([round.fresh]);
  await discardPacked(cluster);
  // Without a wait: it must still be too young when the disk is full.
  return await collect(side, middleOf(round));
}

async function oldEnough({ thresholds }: ImageSide, since: number): Promise<void> {
  const is = (): boolean => performance.now() > since + thresholds.minimumAgeMs;
  await waitUntil('images to be old enough', () => Promise.resolve(is()));
}

/** Halfway between the bytes with and without the last image to remove, so that rounding does not matter. */
function middleOf({ idle, wanted }: Round): number {
  const bytes = (count: number): number => idle.slice(0, count).reduce((sum, one) => sum + sizeOf(one), 0);
  return (bytes(wanted - 1) + bytes(wanted)) / 2;
}

/** Images that are kept packed as well: each uses twice the size that CRI reports. */
const twice = Array.from({ length: 6 }, (_, index) => ownImage(`twice-${index}`, 12 * megabyte));
/** The image of a pod whose init container still runs. */
const awaited = ownImage('awaited', 3 * megabyte);

/** Runs the known difference after the last round: the disk needs four of the six images, or by CRI's sizes more than exist. */
export async function playDeviation(side: ImageSide, last: Round): Promise<readonly string[]> {
  const { cluster } = side;
  const idle = [...last.idle.slice(last.wanted), last.fresh].map(({ ref }) => ref);
  const here = (await imageNames(cluster)).map((names) => names.split(' ')[0] ?? '');
  await crictl(cluster, 'rmi', ...idle.filter((ref) => here.includes(ref)));
  await cluster.importImages([...twice, awaited]);
  const init = { image: last.running[0] ?? '', script: forever };
  await create(cluster, podOn(cluster, { name: 'starting', image: awaited.ref, script: 'exit 0', init }));
  await side.noticed();
  await oldEnough(side, performance.now());
  return await collect(side, 3.5 * 2 * sizeOf(twice[0] ?? awaited));
}

/** The distinct failure Events of one collector about images: reason and message without numbers. */
export async function failuresOf(cluster: Cluster, collector: Collector): Promise<readonly string[]> {
  const failures = (await listed<Event>(cluster, 'events', '-A')).filter(
    ({ reason, reportingComponent, source }) => {
      const isOurs = (reportingComponent ?? source?.component) === 'gc.dustpan.dev/agent';
      return failureReasons.includes(reason) && isOurs === (collector === 'dustpan');
    },
  );
  return [...new Set(failures.map(({ reason, message = '' }) => `${reason}: ${wordsOf(message)}`))].sort();
}

/** Replaces each number of a message with N. */
export const wordsOf = (message: string): string => message.replace(/\d[\d.]*( ([KMGT]?i?B|bytes))?/g, 'N');

const failureReasons: readonly string[] = ['FreeDiskSpaceFailed', 'ImageGCFailed'];

interface Event {
  readonly reason: string;
  readonly message?: string;
  readonly reportingComponent?: string;
  readonly source?: { readonly component?: string };
}

/** Fills the disk until so many bytes must be freed, waits until that is done, and removes the filling. */
export async function collect(
  { cluster, thresholds, quietMs, signal }: ImageSide,
  wantedBytes: number,
): Promise<readonly string[]> {
  const before = await imageNames(cluster);
  // A collector that measured the disk while it fills would free too little.
  await signal('SIGSTOP');
  try {
    await fill(wantedBytes, thresholds);
  } finally {
    await signal('SIGCONT');
  }
  try {
    await waitUntil('images to go', async () => (await imageNames(cluster)).length < before.length);
    return await settled(() => imageNames(cluster), quietMs);
  } finally {
    rmSync(filling, { force: true });
  }
}

const imageFs = '/var/lib/containerd';
const filling = join(imageFs, 'filling');

async function fill(wantedBytes: number, { high, low }: Thresholds): Promise<void> {
  const { blocks, bavail, bsize } = statfsSync(imageFs);
  const [capacity, available] = [blocks * bsize, bavail * bsize];
  const availableAfter = Math.floor((capacity * (100 - low)) / 100) - wantedBytes;
  if (100 - Math.floor((availableAfter * 100) / capacity) < high || availableAfter > available)
    throw new Error(`${wantedBytes} of ${capacity} bytes do not reach from ${low} % to ${high} %`);
  const length = String(Math.floor(available - availableAfter));
  const { code, stderr } = await runCommand(['fallocate', '--length', length, filling], { env: process.env });
  if (code !== 0) throw new Error(`filling the disk: ${stderr}`);
}

/** Removes the packed layers, as `discard_unpacked_layers` does: CRI's image size is then the real one. */
async function discardPacked(cluster: Cluster): Promise<void> {
  const { code, stderr } = await cluster.run('ctr', ['-n', 'k8s.io', 'content', 'prune', 'references']);
  if (code !== 0) throw new Error(`discarding packed layers: ${stderr}`);
}

const forever = 'exec /bin/busybox sleep 3600';

/** The pod of the image `bed.test/NAME:1` is NAME-ROUND. */
const podName = (round: Round, image: string): string => `${image.replace(/^.*\/|:.*$/g, '')}-${round.name}`;

/** Starts a pod for each image and waits until all have ended or run. */
async function run(cluster: Cluster, round: Round): Promise<void> {
  const pod = (script: string) => (image: string) =>
    podOn(cluster, { name: podName(round, image), image, script });
  const specs = [...round.ended.map(pod('exit 0')), ...round.running.map(pod(forever))];
  await create(cluster, ...specs);
  await waitUntil('pods to end or to run', async () => {
    const found = await phases(cluster);
    const are = (refs: readonly string[], phase: string): boolean =>
      refs.every((image) => found[podName(round, image)] === phase);
    return are(round.ended, 'Succeeded') && are(round.running, 'Running');
  });
}

/** Removes the last container of an image. */
async function removeLastContainer(cluster: Cluster, round: Round, { image, by }: Release): Promise<void> {
  const pod = podName(round, image);
  const left = (): Promise<string> =>
    crictl(cluster, 'ps', '--all', '--quiet', `--label=io.kubernetes.pod.name=${pod}`);
  if (by === 'pod') await kubectl(cluster, ['delete', 'pod', pod, '--now', '--wait=false']);
  else await crictl(cluster, 'rm', await left());
  await waitUntil(`the container of ${pod} to go`, async () => (await left()) === '');
}

/** All names of each image, sorted. */
async function imageNames(cluster: Cluster): Promise<readonly string[]> {
  interface Listing {
    readonly images: readonly { readonly repoTags: readonly string[] }[];
  }
  const { images } = await criResponse<Listing>(cluster, 'images');
  return images.map(({ repoTags }) => repoTags.toSorted().join(' ')).sort();
}

/** Waits for so many ListImages requests; needs a containerd that logs at level trace. */
export async function imagesListed(cluster: Cluster, times: number): Promise<void> {
  const file = join(cluster.dir, 'log/ctd.log');
  const start = statSync(file).size;
  await waitUntil(`${times} listings of images`, async () => {
    const log = createReadStream(file, { start, encoding: 'utf8' });
    return (await text(log)).split('returns image list').length > times;
  });
}
