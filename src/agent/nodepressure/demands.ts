import {
  diskOf,
  isDiskSignal,
  isInodes,
  type DiskSignal,
  type Limit,
  type PlannedContainers,
  type SignalState,
} from '../../api/node-pressure.ts';
import type { Demand, NodePressureFacts } from './facts.ts';
import type { DiskLayout } from './rank.ts';

export interface CrossedDisk extends SignalState {
  readonly reading: SignalState['reading'] & { readonly signal: DiskSignal };
  readonly ours: Limit;
  readonly crossedSinceMs: number;
}

/** The disks whose thresholds are crossed, the longest crossed first. */
export const crossedDisks = (signals: readonly SignalState[]): readonly CrossedDisk[] =>
  signals.filter(isCrossedDisk).toSorted((a, b) => a.crossedSinceMs - b.crossedSinceMs);

const isCrossedDisk = (state: SignalState): state is CrossedDisk =>
  state.ours !== undefined && state.crossedSinceMs !== undefined && isDiskSignal(state.reading.signal);

/** Whether an emptier disk could be enough: a quantity may be more than the disk of this node has. */
export const canBeMet = ({ reading: { available }, largestCapacity, wanted }: CrossedDisk): boolean =>
  available + wanted < largestCapacity;

export const demandsOf = ({
  signals,
  usage,
}: Pick<NodePressureFacts, 'signals' | 'usage'>): readonly Demand[] =>
  crossedDisks(signals)
    .filter(canBeMet)
    .map((state) => demandOf(state, usage));

/** What the kubelet removes before it evicts (pkg/kubelet/eviction/helpers.go, buildSignalToNodeReclaimFuncs), and dead containers also where nothing of them but their logs uses the file system. */
function demandOf(
  { reading: { signal, available }, ours, kubelets, wanted }: CrossedDisk,
  layout: DiskLayout | undefined,
): Demand {
  const isImageFs = diskOf(signal) === 'imagefs';
  const isDedicated = layout?.dedicatedImageFs === true;
  const secondsLeft = kubelets?.secondsLeft;
  return {
    signal,
    threshold: ours.text,
    wanted,
    until: available + wanted,
    kubeletInMs: secondsLeft === undefined ? undefined : secondsLeft * 1000,
    containers: !(isImageFs && layout?.splitContainerFs === true),
    logs: !(isImageFs && isDedicated),
    images: !isDedicated || isImageFs,
  };
}

/** Amount that is still missing after planned removals of containers. */
export const missingAfter = (
  { signal, logs }: Pick<Demand, 'signal' | 'logs'>,
  missing: number,
  { bytes }: Pick<PlannedContainers, 'bytes'>,
): number => (logs && !isInodes(signal) ? missing - bytes : missing);
