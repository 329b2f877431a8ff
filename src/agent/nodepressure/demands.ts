import { diskOf, isDiskSignal, isInodes, type DiskSignal } from '../../api/node-pressure.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type {
  Demand,
  NodePressureFacts,
  Relief,
  Limit,
  PlannedContainers,
  ReclaimResult,
  SignalState,
} from './facts.ts';
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

/** What the passes for a demand have left so far, after which the next one is chosen. */
export interface ReclaimDone {
  /** undefined = no pass over containers. */
  readonly containers?: ReclaimResult;
  /** Containers that were only planned. */
  readonly planned: PlannedContainers;
}

type ReclaimStep =
  | { readonly pass: 'containers' | 'images'; readonly wanted: number; readonly result?: undefined }
  | { readonly pass?: undefined; readonly result: ReclaimResult };

/** The next pass for a demand, or its result: dead containers come first, because they hold images. `missing`: what is measured. */
export function nextStep(demand: Demand, missing: number, { containers, planned }: ReclaimDone): ReclaimStep {
  const wanted = demand.logs && !isInodes(demand.signal) ? missing - planned.bytes : missing;
  if (wanted <= 0) return { result: 'Enough' };
  if (demand.containers && containers === undefined) return { pass: 'containers', wanted };
  return demand.images ? { pass: 'images', wanted } : { result: containers ?? 'Exhausted' };
}

export const noContainers: PlannedContainers = { ids: new Set(), bytes: 0 };

/** The result after the pass over images. */
export const resultAfter = (
  { containers = 'Exhausted' }: Pick<ReclaimDone, 'containers'>,
  images: ReclaimResult,
): ReclaimResult =>
  images === 'Exhausted' || (containers === 'MoreLeft' && images === 'Ungoverned') ? containers : images;

/** The relief, if the policy still has the threshold for it: the policy may change while the relief waits for other passes. */
export const reliefBy = (governance: NodeGovernance, relief: Relief | undefined): Relief | undefined =>
  relief !== undefined &&
  governance.kind === 'governed' &&
  governance.nodes.nodePressure?.thresholds.has(relief.signal) === true
    ? relief
    : undefined;
