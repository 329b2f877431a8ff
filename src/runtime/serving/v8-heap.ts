import { setFlagsFromString } from 'node:v8';

// NODE_OPTIONS takes none of these flags, so they are set here, first of all.

/**
 * Has one thread collect what is short-lived. In one or two megabytes there is little to share, and helpers that a busy machine, or the
 * limit of a container, does not let run would be waited for.
 */
export function collectYoungAlone(): void {
  setFlagsFromString('--no-parallel-scavenge');
}

/**
 * While the heap is filled, hardly anything that has grown old in it is garbage, and V8 goes through all of it after each growth by a fifth:
 * a tenth of the CPU time of a list. Let it grow to twice its size before that; or, from the next time
 * on, as much as V8 itself thinks right.
 */
export function letHeapDouble(isFilling: boolean): void {
  setFlagsFromString(`--heap-growing-percent=${isFilling ? 100 : 0}`);
}
