import type { ContainerGcManager } from '../../agent/containergc/manager.ts';
import type { ImageGcManager } from '../../agent/imagegc/manager.ts';
import type { Demand } from '../../agent/nodepressure/facts.ts';
import { isInodes, type Relief, type SignalThresholds } from '../../api/node-pressure.ts';
import type { FileSystemStats } from '../../node/disk/filesystem.ts';
import { defaultThresholds } from '../../node/kubelet/thresholds.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';

type Pass = (signal: AbortSignal) => Promise<void>;
type Measure = (signal: AbortSignal) => Promise<Pick<FileSystemStats, 'availableBytes' | 'inodesFree'>>;

interface ReliefDeps {
  readonly containers: Pick<ContainerGcManager, 'collect'>;
  readonly images: Pick<ImageGcManager, 'collect'>;
  readonly place: { readonly nodeDisk: Measure; readonly imageDisk: Measure };
  readonly alone: (pass: Pass, signal: AbortSignal) => Promise<void>;
}

/** Removes dead containers, then images, until a demand is met. What the file system does not count is not short. */
export function reliefOf({ containers, images, place, alone }: ReliefDeps) {
  return async ({ signal: name, until, ...by }: Demand, signal: AbortSignal): Promise<void> => {
    const measure = name.startsWith('imagefs.') ? place.imageDisk : place.nodeDisk;
    const isEnough = async (next: AbortSignal): Promise<boolean> => {
      const { availableBytes, inodesFree } = await measure(next);
      return ((isInodes(name) ? inodesFree : availableBytes) ?? Infinity) >= until;
    };
    const relief: Relief = { signal: name, until, isEnough };
    // The kubelet measured up to a minute ago.
    if (await isEnough(signal)) return;
    if (by.containers) await alone((next) => containers.collect(next, relief), signal);
    if (by.images && !(await isEnough(signal))) await alone((next) => images.collect(next, relief), signal);
  };
}

interface ThresholdsDeps {
  readonly read: (signal: AbortSignal) => Promise<SignalThresholds>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
}

/** A kubelet's configuration changes only with a restart. */
const readEveryMs = 10 * 60_000;

/** The kubelet's own thresholds, read now and then; the defaults of Kubernetes if it does not show them. */
export function kubeletThresholds({ read, clock, log }: ThresholdsDeps) {
  let last: { readonly thresholds: SignalThresholds; readonly atMs: number } | undefined;
  return async (signal: AbortSignal): Promise<SignalThresholds> => {
    const atMs = clock.monotonicMs();
    if (last !== undefined && atMs - last.atMs < readEveryMs) return last.thresholds;
    let thresholds = last?.thresholds ?? defaultThresholds;
    try {
      thresholds = await read(signal);
    } catch (err) {
      signal.throwIfAborted();
      log.debug({ err: errorLine(err) }, "using the defaults for the kubelet's thresholds");
    }
    last = { thresholds, atMs };
    return thresholds;
  };
}
