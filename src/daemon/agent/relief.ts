import type { ContainerGcManager } from '../../agent/containergc/manager.ts';
import type { ImageGcManager } from '../../agent/imagegc/manager.ts';
import { nextStep, resultAfter, type ReclaimDone, noContainers } from '../../agent/nodepressure/demands.ts';
import type { Demand, ReclaimResult } from '../../agent/nodepressure/facts.ts';
import { diskOf, isInodes } from '../../api/node-pressure.ts';
import type { FileSystemStats } from '../../node/disk/filesystem.ts';
import type { AgentLoops } from './loops.ts';

type Measure = (signal: AbortSignal) => Promise<Pick<FileSystemStats, 'availableBytes' | 'inodesFree'>>;

interface ReliefDeps {
  readonly containers: Pick<ContainerGcManager, 'relieve'>;
  readonly images: Pick<ImageGcManager, 'relieve'>;
  readonly place: { readonly nodeDisk: Measure; readonly imageDisk: Measure };
  readonly alone: AgentLoops['alone'];
}

/** Removes dead containers, then images, until a demand is met. What the file system does not count is not short. */
export function reliefOf({ containers, images, place, alone }: ReliefDeps) {
  return async (demand: Demand, signal: AbortSignal): Promise<ReclaimResult> => {
    const measure = diskOf(demand.signal) === 'imagefs' ? place.imageDisk : place.nodeDisk;
    const missing = async (next: AbortSignal): Promise<number> => {
      const { availableBytes, inodesFree } = await measure(next);
      const available = isInodes(demand.signal) ? inodesFree : availableBytes;
      return available === undefined ? 0 : demand.until - available;
    };
    /** Measures again, and runs the next pass: the kubelet measured up to a minute ago, and the pass has waited for others. */
    const step = (done: ReclaimDone): Promise<ReclaimDone | ReclaimResult> =>
      alone(async (next) => {
        const chosen = nextStep(demand, await missing(next), done);
        if (chosen.pass === undefined) return chosen.result;
        const { signal: name, threshold, kubeletInMs } = demand;
        const relief = { signal: name, threshold, wanted: chosen.wanted, kubeletInMs, missing };
        if (chosen.pass === 'images')
          return resultAfter(done, await images.relieve({ ...relief, planned: done.planned }, next));
        const { result, planned } = await containers.relieve(relief, next);
        return { containers: result, planned };
      }, signal);
    let done: ReclaimDone | ReclaimResult = { planned: noContainers };
    while (typeof done !== 'string') done = await step(done);
    return done;
  };
}
