import { pinsWanted } from '../../api/policy/matching.ts';
import type { WantedList, WantedReading } from '../../api/wanted-images.ts';
import type { Workload } from '../../kube/cache/workloads.ts';
import type { UnitContext } from '../context.ts';
import { isWanting, needsWrite, planWanted } from './plan.ts';

interface WantedImagesDeps extends Pick<UnitContext, 'policySet' | 'clock' | 'log'> {
  /** Lists the workloads that the function accepts. */
  readonly workloads: (
    isListed: (workload: Workload) => boolean,
    signal: AbortSignal,
  ) => Promise<readonly Workload[]>;
  readonly read: (signal: AbortSignal) => Promise<WantedReading>;
  readonly write: (list: WantedList, signal: AbortSignal) => Promise<void>;
  readonly holdsLease: () => boolean;
}

/** Writes the images that workloads want to the list that agents read, while a policy needs them. */
export class WantedImagesController {
  readonly #deps: WantedImagesDeps;

  constructor(deps: WantedImagesDeps) {
    this.#deps = deps;
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const { policySet, clock, log, workloads, read, write, holdsLease } = this.#deps;
    if (!pinsWanted(policySet.ranked)) return;
    const listedAtMs = clock.now().getTime();
    const { images, omitted } = planWanted(await workloads(isWanting, signal));
    const planned = { listedAtMs, images, omitted };
    if (!needsWrite(await read(signal), planned) || !holdsLease()) return;
    await write(planned, signal);
    log.info({ images: images.length, omitted }, 'wrote the list of wanted images');
  }
}
