import type { PodStorageSpec, StorageLimit } from './local-storage.ts';
import { quantityText } from '../runtime/text/quantity.ts';

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
