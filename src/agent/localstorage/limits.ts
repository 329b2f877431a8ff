import { declaredTotal } from '../../api/declared-storage.ts';
import {
  fullness,
  largestOf,
  storageParts,
  type ContainerStorageUsage,
  type EvictionSignal,
  type LimitUsage,
  type PodStorageSpec,
  type PodStorageUsage,
  type StorageLimit,
  type StorageMeasurement,
  type StoragePod,
  type StorageUsage,
} from '../../api/local-storage.ts';
import { quantityText } from '../../runtime/text/quantity.ts';
import type { LocalStoragePolicy } from '../../api/policy/policy.ts';

/** A limit that binds a pod: its own, or the policy's default. */
type BindingLimit = Pick<LimitUsage, 'limit' | 'isDefault' | 'evictAtPercent'>;

export interface PodLimits {
  /** Ordered as in the spec. */
  readonly emptyDirs: readonly (BindingLimit & { readonly name: string })[];
  readonly pod: BindingLimit | undefined;
  /** Keyed by name: containers, and sidecars that declare a limit. */
  readonly containers: ReadonlyMap<string, BindingLimit>;
}

/**
 * Returns the limits of a pod as upstream computes them (pkg/kubelet/eviction/eviction_manager.go, podEphemeralStorageLimitEviction), and the
 * policy's defaults where the pod declares none. A volume in memory has only its own limit, at 100 %: it is a tmpfs of that size, which cannot grow.
 */
export function limitsOf(
  spec: PodStorageSpec,
  { defaultLimits, evictAtPercent }: Pick<LocalStoragePolicy, 'defaultLimits' | 'evictAtPercent'>,
): PodLimits {
  const defaultOf = (bytes: number | undefined): BindingLimit | undefined =>
    // A default of 0 would evict every pod: it counts as none.
    bytes === undefined || bytes <= 0
      ? undefined
      : { limit: limitOfBytes(bytes), isDefault: true, evictAtPercent };
  const own = (limit: StorageLimit): BindingLimit => ({ limit, isDefault: false, evictAtPercent });
  /** A declared 0 means no limit, and no default either. */
  const bindingLimit = (
    declared: StorageLimit | undefined,
    byDefault: BindingLimit | undefined,
  ): BindingLimit | undefined => {
    if (declared === undefined) return byDefault;
    return declared.bytes > 0 ? own(declared) : undefined;
  };
  const emptyDir = defaultOf(defaultLimits.emptyDirBytes);
  const container = defaultOf(defaultLimits.containerBytes);
  const total = declaredTotal(spec, 'limit');
  return {
    emptyDirs: spec.emptyDirs.flatMap(({ name, limit, isMemory }) => {
      const binding = bindingLimit(limit, isMemory ? undefined : emptyDir);
      if (binding === undefined) return [];
      return [{ name, ...binding, evictAtPercent: isMemory ? undefined : evictAtPercent }];
    }),
    // Only for the whole pod is a declared 0 a limit.
    pod: total === undefined ? defaultOf(defaultLimits.podBytes) : own(total),
    containers: new Map([
      ...spec.containers.flatMap(({ name, limit }) => named(name, bindingLimit(limit, container))),
      // The kubelet enforces these from Kubernetes 1.37 on.
      ...spec.initContainers
        .filter(({ restartable }) => restartable)
        .flatMap(({ name, limit }) => named(name, bindingLimit(limit, undefined))),
    ]),
  };
}

/** Returns a limit in bytes with its shorter text: `100Mi` or `2G`. */
export function limitOfBytes(bytes: number): StorageLimit {
  const [binary, decimal] = [quantityText(bytes), quantityText(bytes, 'decimal')];
  return { bytes, text: decimal.length < binary.length ? decimal : binary };
}

const named = <T>(name: string, value: T | undefined): readonly (readonly [string, T])[] =>
  value === undefined ? [] : [[name, value]];

export const hasLimits = ({ emptyDirs, pod, containers }: PodLimits): boolean =>
  emptyDirs.length > 0 || pod !== undefined || containers.size > 0;

/** Returns the usage of each limit that is measured, in the order of the kubelet's checks (pkg/kubelet/eviction/eviction_manager.go, localStorageEviction). */
export function readLimits(
  { storage, ...limits }: PodLimits & Pick<StoragePod, 'storage'>,
  usage: PodStorageUsage,
  nodeUsage: Pick<StorageUsage, 'atMs' | 'dedicatedImageFs'>,
): readonly LimitUsage[] {
  const read = (
    signal: EvictionSignal,
    subject: string | undefined,
    measured: StorageMeasurement | undefined,
    limit: BindingLimit | undefined,
  ): readonly LimitUsage[] => {
    if (measured === undefined || Number.isNaN(measured.bytes) || limit === undefined) return [];
    const { bytes: usedBytes, atMs: measuredAtMs = nodeUsage.atMs } = measured;
    return [{ signal, subject, usedBytes, ...limit, measuredAtMs }];
  };
  const largest = largestOf(storageParts(storage, usage));
  return [
    ...limits.emptyDirs.flatMap(({ name, ...limit }) =>
      read('emptydirfs.limit', name, usage.volumes.get(name), limit),
    ),
    ...read('ephemeralpodfs.limit', undefined, usage.total, limits.pod).map((one) => ({ ...one, largest })),
    ...usage.containers.flatMap((one) =>
      read('ephemeralcontainerfs.limit', one.name, usageOf(one, nodeUsage), limits.containers.get(one.name)),
    ),
  ];
}

/** Names the limits of which a part is not measured, so that their usage is a lower bound, or unknown. A container without statistics does not run, and uses nothing of its limit. */
export function unmeasuredLimits(
  { storage, emptyDirs, pod, containers }: PodLimits & Pick<StoragePod, 'storage'>,
  usage: PodStorageUsage,
  nodeUsage: Pick<StorageUsage, 'dedicatedImageFs'>,
): readonly string[] {
  const isKnown = (measured: StorageMeasurement | undefined): boolean =>
    measured !== undefined && !Number.isNaN(measured.bytes);
  const isWhole =
    isKnown(usage.total) && storageParts(storage, usage).every((part) => isKnown(part.measured));
  return [
    ...emptyDirs.flatMap(({ name }) => (isKnown(usage.volumes.get(name)) ? [] : [subjects.volume(name)])),
    ...(pod === undefined || isWhole ? [] : [subjects.pod]),
    ...usage.containers
      .filter(({ name }) => containers.has(name))
      .filter((one) => !partsOf(one, nodeUsage).every(isKnown))
      .map(({ name }) => subjects.container(name)),
  ];
}

const subjects = {
  volume: (name: string): string => `volume ${name}`,
  pod: 'the pod as a whole',
  container: (name: string): string => `container ${name}`,
};

export const subjectOf = ({ signal, subject = '' }: Pick<LimitUsage, 'signal' | 'subject'>): string =>
  ({
    'emptydirfs.limit': subjects.volume(subject),
    'ephemeralpodfs.limit': subjects.pod,
    'ephemeralcontainerfs.limit': subjects.container(subject),
  })[signal];

export function byFullness(a: Measured, b: Measured): number {
  const [left, right] = [fullness(a.usedBytes, a.limit.bytes), fullness(b.usedBytes, b.limit.bytes)];
  // Infinity - Infinity is NaN.
  return left === right ? 0 : right - left;
}

type Measured = Pick<LimitUsage, 'usedBytes' | 'limit'>;

/** What counts for one container: its logs, and its layer unless images have a file system of their own. */
const partsOf = (
  { layer, logs }: ContainerStorageUsage,
  { dedicatedImageFs }: Pick<StorageUsage, 'dedicatedImageFs'>,
): readonly (StorageMeasurement | undefined)[] => (dedicatedImageFs ? [logs] : [logs, layer]);

function usageOf(
  container: ContainerStorageUsage,
  nodeUsage: Pick<StorageUsage, 'dedicatedImageFs'>,
): StorageMeasurement | undefined {
  const parts = partsOf(container, nodeUsage).filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  const times = parts.flatMap(({ atMs }) => atMs ?? []);
  return {
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    // The sum is as old as its oldest part.
    atMs: times.length === 0 ? undefined : Math.min(...times),
  };
}
