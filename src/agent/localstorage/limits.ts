import type { PodStorageSpec, StorageLimit } from '../../api/local-storage.ts';
import { limitOfBytes } from '../../gc/reasons/storage-words.ts';
import type { DefaultLimits } from '../../api/policy/policy.ts';
import { quantityText } from '../../runtime/text/quantity.ts';
import type { BindingLimit } from './facts.ts';

/** The limits that bind one pod. */
export interface PodLimits {
  /** In the order of the spec. */
  readonly emptyDirs: readonly (BindingLimit & { readonly name: string })[];
  readonly pod: BindingLimit | undefined;
  /** By name: of containers, and of sidecars that declare a limit. */
  readonly containers: ReadonlyMap<string, BindingLimit>;
}

/** Returns the limits of a pod as upstream computes them (pkg/kubelet/eviction/eviction_manager.go, podEphemeralStorageLimitEviction), and the policy's defaults where the pod declares none. */
export function limitsOf(spec: PodStorageSpec, defaults: DefaultLimits): PodLimits {
  const emptyDir = defaultLimit(defaults.emptyDirBytes);
  const container = defaultLimit(defaults.containerBytes);
  const total = declaredTotal(spec, 'limit');
  return {
    emptyDirs: spec.emptyDirs.flatMap(({ name, limit }) => {
      const binding = bindingLimit(limit, emptyDir);
      return binding === undefined ? [] : [{ name, ...binding }];
    }),
    // Only for the whole pod is a declared 0 a limit.
    pod: total === undefined ? defaultLimit(defaults.podBytes) : { limit: total, isDefault: false },
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

/** A declared 0 means no limit, and no default either. */
function bindingLimit(
  declared: StorageLimit | undefined,
  byDefault: BindingLimit | undefined,
): BindingLimit | undefined {
  if (declared === undefined) return byDefault;
  return declared.bytes > 0 ? { limit: declared, isDefault: false } : undefined;
}

/** A default of 0 would evict every pod: it counts as none. */
const defaultLimit = (bytes: number | undefined): BindingLimit | undefined =>
  bytes === undefined || bytes <= 0 ? undefined : { limit: limitOfBytes(bytes), isDefault: true };

/**
 * The limit or the request of the whole pod; undefined = no container declares one. A container without a limit counts as 0. Restartable init containers run
 * beside the others, so their limits add up. Ordinary init containers run one by one, beside the restartable ones before them: the largest sum counts.
 */
export function declaredTotal(
  { containers, initContainers, overheadBytes = 0 }: PodStorageSpec,
  of: 'limit' | 'request',
): StorageLimit | undefined {
  let total = containers.map((one) => one[of]).reduce(plus, undefined);
  let restartable: StorageLimit | undefined;
  let starting: StorageLimit | undefined;
  for (const { [of]: limit, restartable: isRestartable } of initContainers) {
    if (isRestartable) {
      total = plus(total, limit);
      restartable = plus(restartable, limit);
    }
    starting = larger(starting, isRestartable ? restartable : plus(limit, restartable));
  }
  total = larger(total, starting);
  // A limit of 0 gets no overhead.
  return total === undefined || total.bytes === 0 ? total : added(total, overheadBytes);
}

function plus(a: StorageLimit | undefined, b: StorageLimit | undefined): StorageLimit | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.bytes === 0 ? b : added(a, b.bytes);
}

const larger = (a: StorageLimit | undefined, b: StorageLimit | undefined): StorageLimit | undefined =>
  a === undefined || (b !== undefined && b.bytes > a.bytes) ? b : a;

/** Writes a sum in the form of its first summand, as upstream does. */
function added(limit: StorageLimit, bytes: number): StorageLimit {
  if (bytes === 0) return limit;
  const sum = limit.bytes + bytes;
  return { bytes: sum, text: quantityText(sum, limit.text.endsWith('i') ? 'binary' : 'decimal') };
}
