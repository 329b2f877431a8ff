import { busyboxProgram, type ImageSpec } from '../node/image.ts';
import { seededRandom, type Random } from '../population/random.ts';

/** How the last container of an image is removed: alone, or with its pod. */
export interface Release {
  readonly image: string;
  readonly by: 'container' | 'pod';
}

/** The steps on a node until its disk is full. */
export interface Round {
  readonly name: string;
  /** One import after the other. */
  readonly batches: readonly (readonly ImageSpec[])[];
  readonly pinned: readonly ImageSpec[];
  /** Images of pods that run to their end and leave a dead container. */
  readonly ended: readonly string[];
  /** Images of pods that keep running. */
  readonly running: readonly string[];
  /** One after the other: nothing uses these images any more. */
  readonly releases: readonly Release[];
  /** Imported last, and too young to be removed. */
  readonly fresh: ImageSpec;
  /** Idle images as they lose their place, the first first. */
  readonly idle: readonly ImageSpec[];
  /** The number of idle images that must be removed. */
  readonly wanted: number;
}

interface RoundOptions {
  /** Less would not reach from the low threshold to the high one. */
  readonly leastBytes: number;
}

const busybox = busyboxProgram();

/** An image without shared or compressible layers: its removal frees its size. */
export function ownImage(name: string, fillBytes: number, tags: readonly string[] = []): ImageSpec {
  const ref = `bed.test/${name}:1`;
  const files = [
    { path: 'bin/busybox', data: busybox, mode: 0o755 },
    { path: 'name', data: Buffer.from(ref) },
  ];
  return { ref, tags, busybox: false, files, fill: { bytes: fillBytes, kind: 'random' } };
}

/** The approximate size of an own image. */
export const sizeOf = ({ fill }: ImageSpec): number => busybox.length + (fill?.bytes ?? 0);

export const megabyte = 1_000_000;

/** Three rounds on one node with random sizes, usage, releases and removals. */
export function imageRounds(seed: number, options: RoundOptions): readonly Round[] {
  const random = seededRandom(seed);
  const rounds: Round[] = [];
  let idle: Idle = { never: [], used: [] };
  for (const index of [0, 1, 2]) {
    const round = drawRound(index, idle, { ...options, random });
    rounds.push(round);
    idle = leftOf(round);
  }
  return rounds;
}

/** Idle images in the order of their removal: never used ones first. */
interface Idle {
  readonly never: readonly ImageSpec[];
  readonly used: readonly ImageSpec[];
}

interface Drawing extends RoundOptions {
  readonly random: Random;
}

function drawRound(index: number, before: Idle, drawing: Drawing): Round {
  const next = drawer(index, drawing);
  const again = before.used.slice(-1);
  const never = [next(), next()] as const;
  const used = [next(), next(), next()] as const;
  const held = next();
  const first = firstRound(index, next, drawing);
  const released = shuffled(drawing.random, [...again, ...used]);
  const allNever = [...before.never, ...never, ...first.never];
  const idle = [...allNever, ...before.used.filter((image) => !again.includes(image)), ...released];
  return {
    name: `round-${index}`,
    // A batch has one image that stays unused: the order of two images of the same age would be open.
    batches: [[never[0], used[0], held], [never[1], used[1], used[2]], ...first.batches],
    pinned: first.pinned,
    ended: [...released, ...first.ended].map(({ ref }) => ref),
    running: [held.ref],
    releases: released.map(({ ref }, nth) => ({ image: ref, by: nth % 2 === 0 ? 'container' : 'pod' })),
    fresh: next(),
    idle,
    wanted: drawWanted(idle, allNever.length, drawing),
  };
}

/** Only in the first round: a third unused image, a pinned one, one of a dead container. */
function firstRound(
  index: number,
  next: () => ImageSpec,
  drawing: Drawing,
): Pick<Round, 'batches' | 'pinned'> & Record<'never' | 'ended', readonly ImageSpec[]> {
  if (index > 0) return { batches: [], pinned: [], never: [], ended: [] };
  const [never, ended] = [next(), next()];
  return { batches: [[never, ended]], pinned: [draw('pinned', 0, drawing)], never: [never], ended: [ended] };
}

/** Shuffled names, so that names do not determine the order. */
function drawer(index: number, drawing: Drawing): () => ImageSpec {
  const numbers = shuffled(drawing.random, [...Array(9).keys()]);
  let nth = 0;
  return () => draw(`r${index}-${numbers[nth] ?? nth}`, nth++, drawing);
}

function draw(name: string, nth: number, { random }: Drawing): ImageSpec {
  const tags = nth % 4 === 0 ? [`bed.test/${name}:again`] : [];
  return ownImage(name, (3 + random.int(9)) * megabyte, tags);
}

/** All that were never used and one more at least, and never the last two. */
function drawWanted(idle: readonly ImageSpec[], never: number, { random, leastBytes }: Drawing): number {
  let sum = 0;
  const enough = idle.findIndex((image) => (sum += sizeOf(image)) > leastBytes) + 1;
  const [from, to] = [Math.max(enough, never) + 1, idle.length - 2];
  if (enough === 0 || from > to) throw new Error('another seed: too little is idle in this round');
  return from + random.int(to - from + 1);
}

/** Every round removes all images that were never used. */
const leftOf = ({ idle, wanted, fresh }: Round): Idle => ({ never: [fresh], used: idle.slice(wanted) });

function shuffled<T>(random: Random, items: readonly T[]): readonly T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(random.int(rest.length), 1));
}
