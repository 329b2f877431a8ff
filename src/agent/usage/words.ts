import type { StoragePod } from '../../api/local-storage.ts';
import { capital, counted } from '../../gc/reasons/words.ts';
import { shortSizeText } from '../../runtime/text/size-text.ts';
import type { DiskUse, UsageClass, UsageFacts } from './facts.ts';
import type { DiskForecast, Grower } from './forecast.ts';

/** When a disk is full, what collection gives back, and what grows fastest; undefined = it does not fill, or this is unknown. */
export function explainForecast(
  { name, collectableBytes = 0 }: Pick<DiskUse, 'name' | 'collectableBytes'>,
  { bytesPerHour, fullSeconds, fullAfterCollectionSeconds, growers }: DiskForecast,
): string | undefined {
  if (fullSeconds === undefined || bytesPerHour === undefined) return undefined;
  const rate = `${shortSizeText(Math.round(bytesPerHour))}/h`;
  const [first] = growers;
  return [
    `At ${rate}, ${name} is full in ${aboutText(fullSeconds)}${afterText(collectableBytes, fullAfterCollectionSeconds)}.`,
    ...(first === undefined ? [] : [growerText(first)]),
  ].join(' ');
}

/** What the other units have not listed, one line each. */
export function unlistedTexts({
  pods,
  images,
  containers,
}: Pick<UsageFacts, 'pods' | 'images' | 'containers'>): readonly string[] {
  const texts = [
    pods === undefined ? 'pods of the node: not known yet' : '',
    images === undefined ? 'images: not listed yet, or not in the last pass of imagegc' : '',
    images?.packed === 'unknown' ? 'bytes of images: not read in the last passes of imagegc' : '',
    containers?.logs === undefined ? 'logs: not listed yet, or not in the last pass of containergc' : '',
    containers?.checkpoints === undefined
      ? 'checkpoints: not listed yet, or not all in the last pass of containergc'
      : '',
  ];
  return texts.filter((text) => text !== '');
}

const maxNames = 3;

/** Pods whose sums are lower bounds. */
export function partialText(pods: readonly Pick<StoragePod, 'namespace' | 'name'>[]): string {
  const names = pods.map(({ namespace, name }) => `${namespace}/${name}`).toSorted();
  const more = names.length - maxNames;
  return `usage of ${counted(names.length, 'pod')}, measured in part or not at all: ${names.slice(0, maxNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function afterText(collectableBytes: number, seconds: number | undefined): string {
  if (seconds === undefined) return '';
  if (seconds === Infinity) return ', but unused images grow, and collection removes them';
  if (collectableBytes < 1) return '; nothing can be collected';
  return `; collection gives back ${shortSizeText(Math.round(collectableBytes))}, then in ${aboutText(seconds)}`;
}

export const classNames: Readonly<Record<UsageClass, string>> = {
  imagesInUseBytes: 'images in use',
  imagesUnusedBytes: 'unused images',
  packedBytes: 'packed copies of images',
  layersBytes: 'writable layers',
  volumesBytes: 'emptyDirs',
  logsBytes: 'logs',
  checkpointsBytes: 'checkpoints of containers',
  orphansBytes: 'directories of deleted pods',
  leftoversBytes: 'leftovers of the container runtime',
  namespacesBytes: 'other namespaces of the container runtime',
  otherBytes: 'files outside of pods and images',
};

function growerText({ what, namespace, bytesPerHour }: Grower): string {
  const whose = namespace === undefined ? '' : ` of namespace ${namespace}`;
  const name = what === 'images' ? what : classNames[what];
  return `${capital(name)}${whose} grow ${shortSizeText(Math.round(bytesPerHour))}/h.`;
}

const [minute, hour, day] = [60, 3600, 86_400];
/** Beyond it a forecast from 15 minutes means nothing. */
const longest = 365 * day;

/** A time in the largest unit of which there are at least two. */
function aboutText(seconds: number): string {
  if (seconds > longest) return 'more than a year';
  if (seconds >= 2 * day) return `${Math.round(seconds / day)} days`;
  return seconds >= 2 * hour ? `${Math.round(seconds / hour)} h` : `${Math.round(seconds / minute)} min`;
}
