import {
  fullness,
  type ContainerStorageUsage,
  type EvictionSignal,
  type LimitUsage,
  type PodStorageUsage,
  type StorageMeasurement,
  type StorageUsage,
} from '../../api/local-storage.ts';
import type { BindingLimit } from './facts.ts';
import type { PodLimits } from './limits.ts';

/** Returns the usage of each limit that is measured, in the order of the kubelet's checks (pkg/kubelet/eviction/eviction_manager.go, localStorageEviction). */
export function readLimits(
  limits: PodLimits,
  usage: PodStorageUsage,
  nodeUsage: Pick<StorageUsage, 'atMs' | 'dedicatedImageFs'>,
): readonly LimitUsage[] {
  return [
    ...limits.emptyDirs.flatMap(({ name, ...limit }) =>
      reading({ signal: 'emptydirfs.limit', subject: name }, usage.volumes.get(name), { limit, nodeUsage }),
    ),
    ...reading({ signal: 'ephemeralpodfs.limit', subject: undefined }, usage.total, {
      limit: limits.pod,
      nodeUsage,
    }),
    ...usage.containers.flatMap((container) =>
      reading(
        { signal: 'ephemeralcontainerfs.limit', subject: container.name },
        usageOf(container, nodeUsage),
        {
          limit: limits.containers.get(container.name),
          nodeUsage,
        },
      ),
    ),
  ];
}

/** Orders limits, the fullest first. */
export function byFullness(a: Measured, b: Measured): number {
  const [left, right] = [fullness(a.usedBytes, a.limit.bytes), fullness(b.usedBytes, b.limit.bytes)];
  // Infinity - Infinity is NaN.
  return left === right ? 0 : right - left;
}

type Measured = Pick<LimitUsage, 'usedBytes' | 'limit'>;

function reading(
  of: { readonly signal: EvictionSignal; readonly subject: string | undefined },
  measured: StorageMeasurement | undefined,
  {
    limit,
    nodeUsage,
  }: { readonly limit: BindingLimit | undefined; readonly nodeUsage: Pick<StorageUsage, 'atMs'> },
): LimitUsage[] {
  if (measured === undefined || Number.isNaN(measured.bytes) || limit === undefined) return [];
  return [{ ...of, usedBytes: measured.bytes, ...limit, measuredAtMs: measured.atMs ?? nodeUsage.atMs }];
}

/** Usage that counts for one container: its logs, and its layer unless images have a file system of their own. */
function usageOf(
  { layer, logs }: ContainerStorageUsage,
  { dedicatedImageFs }: Pick<StorageUsage, 'dedicatedImageFs'>,
): StorageMeasurement | undefined {
  const parts = [logs, dedicatedImageFs ? undefined : layer].filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  const times = parts.flatMap(({ atMs }) => atMs ?? []);
  return {
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    // The sum is as old as its oldest part.
    atMs: times.length === 0 ? undefined : Math.min(...times),
  };
}
