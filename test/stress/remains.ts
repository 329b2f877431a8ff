import { isKept, programOf } from './load.ts';
import { isOver, type Lists, type SeenImage, type SeenPod } from './observer.ts';

/** Everything that the policy governs, at one moment after the load. */
export interface Rest extends Lists {
  readonly atMs: number;
  readonly sandboxes: readonly { readonly id: string; readonly podUid: string }[];
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

export const keptImages: readonly string[] = ['bed.test/kept:1', 'bed.test/kept:2'];

/** The limits of the policy. */
export const limits = {
  terminatedPods: 6,
  failedTtlMs: 20_000,
  deadPerContainer: 1,
  rotatedPerContainer: 1,
  highThresholdPercent: 45,
  imageMaximumAgeMs: 20_000,
} as const;

/** Two passes and what they wait for; the API server's times have whole seconds. */
const leewayMs = 15_000;
/** dustpan leaves files alone that were rotated less than 30 s ago. */
const rotatedLeewayMs = 30_000 + leewayMs;
const pauseImage = 'bed.test/pause:1';

/** Returns one line for each object that the policy or its pod's program does not allow. */
export function offPolicy(rest: Rest, hasMaximumAge: boolean): readonly string[] {
  return [...podsOff(rest), ...containersOff(rest), ...logsOff(rest), ...imagesOff(rest, hasMaximumAge)];
}

function podsOff({ pods, atMs }: Rest): readonly string[] {
  const finished = pods.filter((pod) => isOver(pod) && !isKept(pod.name) && !pod.isDeleting);
  const tooMany = finished.length - limits.terminatedPods;
  const names = finished.map(({ name }) => name).join(', ');
  const isOld = ({ phase, finishedAtMs = atMs }: SeenPod): boolean =>
    phase === 'Failed' && finishedAtMs < atMs - limits.failedTtlMs - leewayMs;
  const problemOf = (pod: SeenPod): string | undefined => {
    const ends = programOf(pod.name)?.ends;
    if (pod.isDeleting) return 'is still being deleted';
    if (finished.includes(pod) && isOld(pod)) return 'has failed and is past its time to live';
    if (ends === 'evicted' && !isOver(pod)) return 'exceeds a limit of local storage and is not evicted';
    return ends === 'never' && pod.phase !== 'Running' ? `does not run: ${pod.phase}` : undefined;
  };
  return [
    ...(tooMany > 0 ? [`${tooMany} finished pods beyond the threshold: ${names}`] : []),
    ...pods.flatMap((pod) =>
      problemOf(pod) === undefined ? [] : [`pod ${pod.name} ${problemOf(pod) ?? ''}`],
    ),
  ];
}

function containersOff({ pods, containers, sandboxes }: Rest): readonly string[] {
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

function logsOff({ pods, atMs, logDirectories, brokenLinks, rotatedLogs }: Rest): readonly string[] {
  const uids = new Set(pods.map(({ uid }) => uid));
  const settled = rotatedLogs.filter(({ rotatedAtMs }) => rotatedAtMs < atMs - rotatedLeewayMs);
  const byLog = [...Map.groupBy(settled, ({ log }) => log)];
  return [
    ...logDirectories
      .filter((uid) => !uids.has(uid))
      .map((uid) => `log directory of pod ${uid}, which is gone`),
    ...brokenLinks.map((path) => `log link ${path} points to nothing`),
    ...byLog
      .filter(([, files]) => files.length > limits.rotatedPerContainer)
      .map(([log, files]) => `${files.length} rotated files of log ${log}`),
  ];
}

function imagesOff(
  { pods, containers, images, usedPercent }: Rest,
  hasMaximumAge: boolean,
): readonly string[] {
  const used = new Set([
    ...[pauseImage, ...keptImages],
    ...pods.filter((pod) => !isOver(pod)).flatMap((pod) => pod.images),
    ...containers.map(({ image }) => image),
  ]);
  const isUsed = ({ id, tags }: SeenImage): boolean => used.has(id) || tags.some((tag) => used.has(tag));
  const unused = hasMaximumAge ? images.filter((image) => !isUsed(image)) : [];
  const isFull = usedPercent >= limits.highThresholdPercent && images.some((image) => !isUsed(image));
  return [
    ...unused.map(({ id, tags }) => `image ${tags.join(' ') || id} is unused and past its maximum age`),
    ...(isFull ? [`the image file system is ${usedPercent} % full, and unused images are left`] : []),
  ];
}
