import type { StoragePod } from './local-storage.ts';

/** From here on a pod is critical (pkg/apis/scheduling/types.go, SystemCriticalPriority). */
const criticalPriority = 2_000_000_000;

/** Whether a pod is one that upstream never evicts: the mirror of a static one, or of the highest priorities. */
export const isCritical = ({
  configHash,
  priority = 0,
}: Pick<StoragePod, 'configHash' | 'priority'>): boolean =>
  configHash !== undefined || priority >= criticalPriority;
