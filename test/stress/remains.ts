import { isOver, type SeenContainer, type SeenImage, type SeenPod, type SeenSandbox } from './observation.ts';
import { isKept, programOf } from './pods.ts';

/** Everything that the policy governs, at one moment after the load. */
export interface Rest {
  readonly atMs: number;
  readonly pods: readonly SeenPod[];
  readonly containers: readonly SeenContainer[];
  readonly sandboxes: readonly SeenSandbox[];
  readonly images: readonly SeenImage[];
  /** UIDs of pods that have a log directory. */
  readonly logDirectories: readonly string[];
  /** Links to logs that are gone. */
  readonly brokenLinks: readonly string[];
  /** Rotated log files, with the log that they belong to. */
  readonly rotatedLogs: readonly {
    readonly log: string;
    readonly path: string;
    readonly rotatedAtMs: number;
  }[];
  readonly usedPercent: number;
}

/** The limits of the policy. */
export interface Limits {
  readonly terminatedPods: number;
  readonly failedTtlMs: number;
  readonly deadPerContainer: number;
  readonly rotatedPerContainer: number;
  readonly highThresholdPercent: number;
  readonly imageMaximumAgeMs: number | undefined;
  readonly keptImages: readonly string[];
}

/** Two passes and what they wait for; the API server's times have whole seconds. */
const leewayMs = 15_000;
/** dustpan leaves files alone that were rotated less than 30 s ago. */
const rotatedLeewayMs = 30_000 + leewayMs;
const pauseImage = 'bed.test/pause:1';

/** Returns one line for each object that the policy or its pod's program does not allow. */
export function offPolicy(rest: Rest, limits: Limits): readonly string[] {
  return [
    ...podsOff(rest, limits),
    ...containersOff(rest, limits),
    ...logsOff(rest, limits),
    ...imagesOff(rest, limits),
  ];
}

function podsOff({ pods, atMs }: Rest, { terminatedPods, failedTtlMs }: Limits): readonly string[] {
  const finished = pods.filter((pod) => isOver(pod) && !isKept(pod.name) && !pod.isDeleting);
  const tooMany = finished.length - terminatedPods;
  const old = (pod: SeenPod): boolean =>
    pod.phase === 'Failed' && (pod.finishedAtMs ?? atMs) < atMs - failedTtlMs - leewayMs;
  const evicted = (pod: SeenPod): boolean => programOf(pod.name)?.ends === 'evicted' && !isOver(pod);
  const notStarted = (pod: SeenPod): boolean =>
    programOf(pod.name)?.ends === 'never' && pod.phase !== 'Running';
  return [
    ...(tooMany > 0 ? [`${tooMany} finished pods beyond the threshold: ${namesOf(finished)}`] : []),
    ...finished.filter(old).map(({ name }) => `pod ${name} has failed and is past its time to live`),
    ...pods
      .filter(evicted)
      .map(({ name }) => `pod ${name} exceeds a limit of local storage and is not evicted`),
    ...pods
      .filter(notStarted)
      .map(({ name, phase, waiting }) => `pod ${name} does not run: ${[phase, ...waiting].join(', ')}`),
    ...pods.filter(({ isDeleting }) => isDeleting).map(({ name }) => `pod ${name} is still being deleted`),
  ];
}

const namesOf = (pods: readonly SeenPod[]): string => pods.map(({ name }) => name).join(', ');

function containersOff({ pods, containers, sandboxes }: Rest, limits: Limits): readonly string[] {
  const podOf = new Map(pods.map((pod) => [pod.uid, pod]));
  const isUnknown = ({ podUid }: { readonly podUid: string }): boolean => !podOf.has(podUid);
  const dead = containers.filter(({ isRunning, pod }) => !isRunning && !isKept(pod));
  const byContainer = Map.groupBy(
    dead,
    ({ podUid, name }) => `${name} of pod ${podOf.get(podUid)?.name ?? podUid}`,
  );
  const tooMany = [...byContainer].filter(([, attempts]) => attempts.length > limits.deadPerContainer);
  return [
    ...containers.filter(isUnknown).map(({ id, pod }) => `container ${id} of pod ${pod}, which is gone`),
    ...sandboxes.filter(isUnknown).map(({ id, podUid }) => `sandbox ${id} of pod ${podUid}, which is gone`),
    ...tooMany.map(([name, attempts]) => `${attempts.length} dead containers ${name}`),
  ];
}

function logsOff(
  { pods, atMs, logDirectories, brokenLinks, rotatedLogs }: Rest,
  { rotatedPerContainer }: Limits,
): readonly string[] {
  const uids = new Set(pods.map(({ uid }) => uid));
  const settled = rotatedLogs.filter(({ rotatedAtMs }) => rotatedAtMs < atMs - rotatedLeewayMs);
  const byLog = [...Map.groupBy(settled, ({ log }) => log)];
  return [
    ...logDirectories
      .filter((uid) => !uids.has(uid))
      .map((uid) => `log directory of pod ${uid}, which is gone`),
    ...brokenLinks.map((path) => `log link ${path} points to nothing`),
    ...byLog
      .filter(([, files]) => files.length > rotatedPerContainer)
      .map(([log, files]) => `${files.length} rotated files of log ${log}`),
  ];
}

function imagesOff({ pods, containers, images, usedPercent }: Rest, limits: Limits): readonly string[] {
  const used = new Set([
    ...[pauseImage, ...limits.keptImages],
    ...pods.filter((pod) => !isOver(pod)).flatMap((pod) => pod.images),
    ...containers.map(({ image }) => image),
  ]);
  const isUsed = ({ id, tags }: SeenImage): boolean => used.has(id) || tags.some((tag) => used.has(tag));
  const unused = limits.imageMaximumAgeMs === undefined ? [] : images.filter((image) => !isUsed(image));
  const isFull = usedPercent >= limits.highThresholdPercent && images.some((image) => !isUsed(image));
  return [
    ...unused.map(({ id, tags }) => `image ${tags.join(' ') || id} is unused and past its maximum age`),
    ...(isFull ? [`the image file system is ${usedPercent} % full, and unused images are left`] : []),
  ];
}
