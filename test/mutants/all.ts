import { containerGcMutants } from './containergc.ts';
import { evictionMutants } from './eviction.ts';
import { executeMutants } from './execute.ts';
import { governanceMutants } from './governance.ts';
import type { MutantGroup } from './group.ts';
import { imageGcMutants } from './imagegc.ts';
import { localStorageMutants } from './localstorage.ts';
import { podGcMutants } from './podgc.ts';

/** Every rule of every plan, broken once at least. */
export const mutantGroups: readonly MutantGroup[] = [
  executeMutants,
  governanceMutants,
  podGcMutants,
  evictionMutants,
  imageGcMutants,
  containerGcMutants,
  localStorageMutants,
];
