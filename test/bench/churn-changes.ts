/** One request that changes one pod. */
export type Change =
  | {
      /** Steps in the life of a pod of the bench's own, in this order. */
      readonly kind: 'create' | 'bind' | 'start' | 'finish' | 'delete';
      /** Which of them: counted from 0. */
      readonly born: number;
    }
  | {
      /** A condition, a label, and the label that keeps a pod, of one that is there all the time. */
      readonly kind: 'heartbeat' | 'label' | 'keep';
      /** Which of them. */
      readonly pod: number;
    };

const life = ['create', 'bind', 'start', 'finish', 'delete'] as const;
/** Five steps of lives, three heartbeats, a label and a keep mark. */
const changesOfCycle = 10;
/** From one step of a pod's life to the next: a second, at 200 changes a second. */
const cyclesOfStep = 20;

/**
 * The change that comes at this place of an endless sequence over so many lasting pods. Half of them are the lives of short-lived pods,
 * of which there are always equally many after the first ones; no pod is marked to be kept twice.
 */
export function changeAt(i: number, pods: number): Change {
  const cycle = Math.floor(i / changesOfCycle);
  const step = i % changesOfCycle;
  const kind = life[step];
  if (kind !== undefined) {
    const born = cycle - step * cyclesOfStep;
    return born < 0 ? { kind: 'label', pod: (cycle * 7 + step) % pods } : { kind, born };
  }
  if (step < 8) return { kind: 'heartbeat', pod: (cycle * 3 + step) % pods };
  return step === 9 && cycle < pods ? { kind: 'keep', pod: cycle } : { kind: 'label', pod: cycle % pods };
}
