import { declaredTotal } from '../../api/declared-storage.ts';
import type { PodStorageSpec, StorageLimit } from '../../api/local-storage.ts';
import { limitOfBytes } from '../../gc/reasons/storage-words.ts';
import type { LocalStoragePolicy } from '../../api/policy/policy.ts';
import type { BindingLimit } from './facts.ts';

/** The limits that bind one pod. */
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

const named = <T>(name: string, value: T | undefined): readonly (readonly [string, T])[] =>
  value === undefined ? [] : [[name, value]];

/** Whether any limit binds the pod. */
export const hasLimits = ({ emptyDirs, pod, containers }: PodLimits): boolean =>
  emptyDirs.length > 0 || pod !== undefined || containers.size > 0;
