import { isInodes, type DiskDemand } from '../../api/node-pressure.ts';
import type { Thresholds } from '../../api/policy/policy.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import { amountText, counted, signalField, signalText } from './words.ts';

/** Unit in which a file system can be full. */
export type SpaceUnit = 'bytes' | 'inodes';

/** The usage in one unit; undefined = unknown. */
interface Usage extends Thresholds {
  readonly usedPercent: number | undefined;
}

/** The usage of the image file system, the policy's thresholds, and what has to be freed; the usage itself is that of bytes. */
export interface SpaceEvidence extends Usage {
  /** undefined = the policy has no thresholds for inodes. */
  readonly inodes: Usage | undefined;
  /** The units whose high threshold is crossed. */
  readonly crossed: readonly SpaceUnit[];
  readonly wantedBytes: number;
  readonly wantedInodes: number;
  /** Of node pressure. */
  readonly demands: readonly DiskDemand[];
}

const percentText = ({ usedPercent }: Usage): string => String(usedPercent ?? '?');
const highField = ({ highThresholdPercent }: Thresholds, prefix = ''): string =>
  `nodes.imageGC.${prefix}highThresholdPercent=${highThresholdPercent}`;
const lowField = ({ lowThresholdPercent }: Thresholds, prefix = ''): string =>
  `nodes.imageGC.${prefix}lowThresholdPercent=${lowThresholdPercent}`;

/** One unit of the space step, for its sentences. */
interface Part {
  /** Prefix of its policy fields below `nodes.imageGC.`. */
  readonly prefix: string;
  readonly usage: Usage;
  readonly usageText: string;
  readonly wanted: number;
  /** `12 MiB`, `1200 inodes`. */
  readonly wantedText: string;
}

function bytesPart(space: SpaceEvidence): Part {
  const { wantedBytes: wanted } = space;
  const usageText = `is ${percentText(space)} % full`;
  return { prefix: '', usage: space, usageText, wanted, wantedText: sizeText(wanted) };
}

function inodesPart({ inodes, wantedInodes: wanted }: SpaceEvidence): readonly Part[] {
  if (inodes === undefined) return [];
  const usageText = `has ${percentText(inodes)} % of its inodes in use`;
  return [{ prefix: 'inodes.', usage: inodes, usageText, wanted, wantedText: counted(wanted, 'inode') }];
}

const crossedOf = (space: SpaceEvidence): readonly Part[] => [
  ...(space.crossed.includes('bytes') ? [bytesPart(space)] : []),
  ...(space.crossed.includes('inodes') ? inodesPart(space) : []),
];

/** The units that the space step frees; where the removals by age free enough, those that are over their high threshold. */
function targetsOf(space: SpaceEvidence): readonly Part[] {
  const crossed = crossedOf(space);
  if (crossed.length > 0) return crossed;
  return [bytesPart(space), ...inodesPart(space)].filter(
    ({ usage: { usedPercent = 0, highThresholdPercent } }) =>
      usedPercent >= highThresholdPercent && highThresholdPercent < 100,
  );
}

export const usageText = (space: SpaceEvidence): string =>
  crossedOf(space)
    .map((part) => part.usageText)
    .join(' and ');

export const wantedText = (space: SpaceEvidence): string =>
  crossedOf(space)
    .map((part) => `${part.wantedText} to reach ${part.usage.lowThresholdPercent} %`)
    .join(' and ');

export function targetText(space: SpaceEvidence): string {
  const targets = targetsOf(space);
  const needed = [
    ...targets
      .filter(({ wanted }) => wanted > 0)
      .map((part) => `the ${part.wantedText} needed to reach ${part.usage.lowThresholdPercent} %`),
    ...space.demands
      .filter(({ wanted }) => wanted > 0)
      .map(
        ({ signal, wanted }) =>
          `the ${amountText(signal, wanted)} that the node needs of ${signalText[signal]}`,
      ),
  ];
  if (needed.length > 0) return `It is removable, but the images before it free ${needed.join(' and ')}.`;
  const reached = [
    ...targets.map(
      ({ usage, prefix }) => `${usage.lowThresholdPercent} %${prefix === '' ? '' : ' of the inodes'}`,
    ),
    ...space.demands.map(({ signal, threshold }) => `the threshold ${threshold} of ${signal}`),
  ];
  return `It is removable, but the images that dustpan removes by age are enough to reach ${reached.join(' and ')}.`;
}

/** The caveat of a plan for inodes. */
export const estimateText = ({ crossed, demands }: SpaceEvidence): readonly string[] =>
  crossed.includes('inodes') || demands.some(({ signal }) => isInodes(signal))
    ? [
        'This is an estimate, because the runtime reports no inodes per image: a pass measures the file system after each removal and continues until enough inodes are free.',
      ]
    : [];

export const belowText = (space: SpaceEvidence): string =>
  space.highThresholdPercent >= 100
    ? 'It is removable, but with a threshold of 100 % dustpan removes no image for space.'
    : `It is removable, but the image file system is only ${percentText(space)} % full, and dustpan removes images from ${space.highThresholdPercent} % on.`;

export function inodesBelowText({ inodes }: SpaceEvidence): readonly string[] {
  if (inodes === undefined) return [];
  if (inodes.usedPercent === undefined)
    return ['The file system reports no inodes, so dustpan removes no image for inodes.'];
  return inodes.highThresholdPercent >= 100
    ? ['With a threshold of 100 % dustpan removes no image for inodes.']
    : [
        `Only ${inodes.usedPercent} % of its inodes are in use; dustpan removes images from ${inodes.highThresholdPercent} % on.`,
      ];
}

/** The policy fields that start the space step. */
export const crossedFields = (space: SpaceEvidence): string =>
  crossedOf(space)
    .map(({ prefix, usage }) => `${highField(usage, prefix)}, ${lowField(usage, prefix)}`)
    .join(', ');

/** The policy fields that the removals have to reach. */
export const targetFields = (space: SpaceEvidence): readonly string[] => [
  ...targetsOf(space).map(({ prefix, usage }) => lowField(usage, prefix)),
  ...space.demands.map(({ signal, threshold }) => signalField(signal, threshold)),
];

/** The policy fields that keep an image while usage is below them. */
export const thresholdFields = (space: SpaceEvidence): readonly string[] => [
  highField(space),
  ...(space.inodes === undefined ? [] : [highField(space.inodes, 'inodes.')]),
];
