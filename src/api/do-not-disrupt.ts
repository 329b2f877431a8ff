import { exceeds, type EvictionSignal, type StoragePod } from './local-storage.ts';
import type { LocalStoragePolicy, NodesPolicy } from './policy/policy.ts';

/**
 * The annotations by which the owner of a pod refuses evictions that somebody chooses to make, and the values that refuse. Karpenter also reads a
 * duration from the start of the pod; it counts as a refusal for ever. The descheduler reads only whether its annotation is there.
 */
const refusals: Readonly<Record<string, (value: string) => boolean>> = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': (value) => value === 'false' || value === 'on-completion',
  'karpenter.sh/do-not-disrupt': (value) => value !== 'false',
  'karpenter.sh/do-not-evict': (value) => value === 'true',
  'descheduler.alpha.kubernetes.io/prefer-no-eviction': () => true,
};

export const doNotDisruptAnnotations: readonly string[] = Object.keys(refusals);

/** Returns the annotation by which the owner refuses, as `karpenter.sh/do-not-disrupt: "true"`; undefined = none. */
export function doNotDisruptOf(annotations: Readonly<Record<string, unknown>>): string | undefined {
  for (const [key, refuses] of Object.entries(refusals)) {
    const value = annotations[key];
    if (typeof value === 'string' && refuses(value)) return `${key}: ${JSON.stringify(value)}`;
  }
  return undefined;
}

/** The owner of the pod refuses evictions that the kubelet would not make. */
export interface RefusedEviction {
  readonly reason: 'DoNotDisrupt';
  /** As on the pod: `karpenter.sh/do-not-disrupt: "true"`. */
  readonly annotation: string;
}

/** Whether evictions of the pod that the kubelet would not make are refused; undefined = they are not. */
export const refusedBecause = (
  { doNotDisrupt: annotation }: Pick<StoragePod, 'doNotDisrupt'>,
  { respectDoNotDisrupt }: NodesPolicy,
): RefusedEviction | undefined =>
  annotation !== undefined && respectDoNotDisrupt ? { reason: 'DoNotDisrupt', annotation } : undefined;

/** A limit and its usage. */
interface Excess {
  readonly signal: EvictionSignal;
  readonly usedBytes: number;
  readonly limitBytes: number;
  /** The limit is the policy's; undefined = unknown: a limit of the same size counts as the policy's. */
  readonly isDefault: boolean | undefined;
}

/** Whether the kubelet would not evict the pod for this usage: it is within the limit, or the limit is the policy's. */
export function isVoluntary(
  { signal, usedBytes, limitBytes, isDefault }: Excess,
  rule: Pick<LocalStoragePolicy, 'defaultLimits'>,
): boolean {
  return !exceeds(usedBytes, limitBytes, 100) || (isDefault ?? limitBytes === defaultFor(signal, rule));
}

const defaultFor = (
  signal: EvictionSignal,
  { defaultLimits }: Pick<LocalStoragePolicy, 'defaultLimits'>,
): number | undefined =>
  ({
    'emptydirfs.limit': defaultLimits.emptyDirBytes,
    'ephemeralpodfs.limit': defaultLimits.podBytes,
    'ephemeralcontainerfs.limit': defaultLimits.containerBytes,
  })[signal];
