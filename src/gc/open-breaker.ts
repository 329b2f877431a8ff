import { isObject } from '../api/json.ts';
import { reportedBy, type StoredStatuses } from './reported.ts';

/** The policies whose status reports an open circuit breaker, by name, with the number of missing nodes that it reports. */
export type OpenBreakers = ReadonlyMap<string, number>;

export const openBreakersIn = (policies: StoredStatuses): OpenBreakers =>
  reportedBy(policies, missingNodesIn);

/** undefined = the status reports no open circuit breaker. */
function missingNodesIn(status: unknown): number | undefined {
  if (!isObject(status) || !Array.isArray(status['conditions'])) return undefined;
  const { conditions, pods } = status;
  if (!conditions.some(isOpen)) return undefined;
  const missing = isObject(pods) ? pods['missingNodes'] : undefined;
  return typeof missing === 'number' ? missing : Infinity;
}

const isOpen = (one: unknown): boolean =>
  isObject(one) && one['type'] === 'Degraded' && one['status'] === 'True' && one['reason'] === 'Tripped';
