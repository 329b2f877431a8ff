import type { PolicySet, RankedPolicies } from '../api/policy/policy-set.ts';
import { Confirmed } from '../gc/checks.ts';
import type { UnitMetrics } from '../gc/metrics.ts';
import type { LivePolicies, LiveReads } from '../kube/actions/live-reads.ts';
import type { NamespaceFacts, NodeFacts, PodFacts } from '../kube/cache/objects.ts';
import type { Store } from '../kube/cache/reflector.ts';
import type { Recorder } from '../kube/events/recorder.ts';
import { errorLine } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import type { Clock } from '../runtime/scheduling/clock.ts';

/** What each unit of the controller has. */
export interface UnitContext {
  readonly policySet: Pick<PolicySet, 'ranked'>;
  readonly nodes: Store<NodeFacts>;
  readonly namespaces: Store<NamespaceFacts>;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What each unit has that removes pods. */
export interface RemoverContext extends UnitContext {
  readonly policies: Pick<Store<unknown>, 'synced'>;
  readonly policySet: Pick<PolicySet, 'ranked' | 'fingerprint'>;
  readonly pods: Store<PodFacts>;
  /** True only while this process is sure to hold the lease. */
  readonly holdsLease: () => boolean;
  readonly metrics: UnitMetrics;
}

/** The check that the policies are those of the plan, in the cache and read live. */
export const confirmedPolicies = <D>(
  { clock, policySet }: Pick<RemoverContext, 'clock' | 'policySet'>,
  live: Pick<LiveReads, 'policies'>,
  ranked: RankedPolicies,
): Confirmed<D, LivePolicies> =>
  new Confirmed({
    clock,
    confirm: (signal) => live.policies(signal),
    isSame: ({ policies }) => policySet.ranked === ranked && policySet.fingerprint === policies.fingerprint,
    unreadable: (cause) => ({
      kind: 'stop',
      why: `policies cannot be read: ${errorLine(cause)}`,
      error: new Error('confirming policies', { cause }),
    }),
  });

/** Whether all caches are current; logs which are not. */
export function areSynced(synced: Readonly<Record<string, boolean>>, log: Pick<Logger, 'debug'>): boolean {
  const all = Object.values(synced).every(Boolean);
  if (!all) log.debug(synced, 'waiting for caches');
  return all;
}
