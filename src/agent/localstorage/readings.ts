import {
  exceeds,
  type ContainerStorageUsage,
  type EvictionSignal,
  type LimitReading,
  type PodStorageUsage,
  type StorageFigure,
  type StorageUsage,
} from '../../api/local-storage.ts';
import type { BindingLimit } from './facts.ts';
import type { PodLimits } from './limits.ts';

/** How much of each limit is used, in the order of the kubelet's checks (pkg/kubelet/eviction/eviction_manager.go, localStorageEviction); a limit without a measurement is left out. */
export function readLimits(
  limits: PodLimits,
  usage: PodStorageUsage,
  look: Pick<StorageUsage, 'atMs' | 'dedicatedImageFs'>,
): readonly LimitReading[] {
  return [
    ...limits.emptyDirs.flatMap(({ name, ...limit }) =>
      reading({ signal: 'emptydirfs.limit', subject: name }, usage.volumes.get(name), { limit, look }),
    ),
    ...reading({ signal: 'ephemeralpodfs.limit', subject: undefined }, usage.total, {
      limit: limits.pod,
      look,
    }),
    ...usage.containers.flatMap((container) =>
      reading({ signal: 'ephemeralcontainerfs.limit', subject: container.name }, figureOf(container, look), {
        limit: limits.containers.get(container.name),
        look,
      }),
    ),
  ];
}

/** The first limit of which more than this is used. */
export const firstExcess = (readings: readonly LimitReading[], percent: number): LimitReading | undefined =>
  readings.find(({ usedBytes, limit }) => exceeds(usedBytes, limit.bytes, percent));

function reading(
  of: { readonly signal: EvictionSignal; readonly subject: string | undefined },
  figure: StorageFigure | undefined,
  { limit, look }: { readonly limit: BindingLimit | undefined; readonly look: Pick<StorageUsage, 'atMs'> },
): LimitReading[] {
  if (figure === undefined || Number.isNaN(figure.bytes) || limit === undefined) return [];
  return [{ ...of, usedBytes: figure.bytes, ...limit, measuredAtMs: figure.atMs ?? look.atMs }];
}

/** What one container is charged with: its logs, and its layer unless images have a file system of their own. */
function figureOf(
  { layer, logs }: ContainerStorageUsage,
  { dedicatedImageFs }: Pick<StorageUsage, 'dedicatedImageFs'>,
): StorageFigure | undefined {
  const parts = [logs, dedicatedImageFs ? undefined : layer].filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  const times = parts.flatMap(({ atMs }) => atMs ?? []);
  return {
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    // As old as its oldest part.
    atMs: times.length === 0 ? undefined : Math.min(...times),
  };
}
