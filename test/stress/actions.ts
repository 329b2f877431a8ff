import { seededRandom, type Random } from '../cluster/population/random.ts';

/** What the containers of a pod do; the name of a pod begins with it. */
export const podKinds = [
  'serves',
  'crashes',
  'finishes',
  'fails',
  'waits',
  'fills',
  'overwrites',
  'logs',
  'kept',
] as const;
export type PodKind = (typeof podKinds)[number];

/** One step of the load. A position from 0 to 1 selects one of the objects that exist when the step is taken. */
export type Action =
  | { readonly do: 'start'; readonly kind: PodKind; readonly image: number; readonly seconds: number }
  | { readonly do: 'delete'; readonly position: number }
  | { readonly do: 'pull'; readonly from: number; readonly count: number };

export const victims = ['api', 'ctd', 'kubelet', 'agent', 'controller'] as const;
export type Victim = (typeof victims)[number];

/** A component is killed and started again, or paused, for this time; or the open connections to the API server fall silent for good. */
export interface Fault {
  readonly do: 'kill' | 'pause' | 'silence';
  readonly victim: Victim;
  readonly forMs: number;
}

/** A step and the pause before it. */
interface Timed<T> {
  readonly afterMs: number;
  readonly step: T;
}

/** Number of images that pods use, and of others that are only pulled. */
export const imageCounts = { used: 8, unused: 20 } as const;

/** The load of a seed, without end. */
export function* actionsOf(seed: number): Generator<Timed<Action>, never> {
  const random = seededRandom(seed);
  for (;;) yield { afterMs: 300 + random.int(1_200), step: actionOf(random) };
}

/** The faults of a seed, without end. */
export function* faultsOf(seed: number): Generator<Timed<Fault>, never> {
  // Another sequence than that of the load.
  const random = seededRandom(seed ^ 0x5eed);
  for (;;) yield { afterMs: 2_000 + random.int(8_000), step: faultOf(random) };
}

function actionOf(random: Random): Action {
  const roll = random.next();
  if (roll < 0.6) return startOf(random);
  if (roll < 0.76) return { do: 'delete', position: random.next() };
  return { do: 'pull', from: random.int(imageCounts.unused), count: 1 + random.int(8) };
}

/** Most pods end by themselves: the policy is about those. */
const shares: readonly (readonly [PodKind, number])[] = [
  ['finishes', 21],
  ['fails', 16],
  ['serves', 16],
  ['crashes', 12],
  ['waits', 10],
  ['logs', 7],
  ['fills', 5],
  ['overwrites', 5],
  ['kept', 8],
];

function startOf(random: Random): Action {
  const all = shares.reduce((sum, [, share]) => sum + share, 0);
  let left = random.int(all);
  const [kind] = shares.find(([, share]) => (left -= share) < 0) ?? ['finishes'];
  return { do: 'start', kind, image: random.int(imageCounts.used), seconds: 1 + random.int(6) };
}

function faultOf(random: Random): Fault {
  // Rarely: until dustpan notices, after two minutes at most, its watches see nothing.
  if (random.chance(1 / 12)) return { do: 'silence', victim: 'api', forMs: 0 };
  const victim = random.pick(victims);
  // The API server needs seconds for its start.
  if (random.chance(0.5)) return { do: 'kill', victim, forMs: random.int(4_000) };
  return { do: 'pause', victim, forMs: 1_000 + random.int(9_000) };
}
