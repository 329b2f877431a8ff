import type { StoragePod } from './local-storage.ts';

/** The least priority of a critical pod (pkg/apis/scheduling/types.go, SystemCriticalPriority). */
const criticalPriority = 2_000_000_000;

/** Whether upstream never evicts the pod: it mirrors a static pod, or has one of the highest priorities. */
export const isCritical = ({
  configHash,
  priority = 0,
}: Pick<StoragePod, 'configHash' | 'priority'>): boolean =>
  configHash !== undefined || priority >= criticalPriority;
