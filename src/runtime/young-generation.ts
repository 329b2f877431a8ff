import { setFlagsFromString } from 'node:v8';

/**
 * Has one thread collect what is short-lived. In one or two megabytes there is little to share, and helpers that a busy machine, or the
 * limit of a container, does not let run would be waited for. NODE_OPTIONS does not take the flag, so it is set here, first of all.
 */
export function collectYoungAlone(): void {
  setFlagsFromString('--no-parallel-scavenge');
}
