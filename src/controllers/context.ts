import type { PolicySet } from '../api/policy/policy-set.ts';
import type { UnitMetrics } from '../gc/metrics.ts';
import type { NamespaceFacts, NodeFacts, PodFacts } from '../kube/cache/objects.ts';
import type { Store } from '../kube/cache/reflector.ts';
import type { Recorder } from '../kube/events/recorder.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import type { Clock } from '../runtime/scheduling/clock.ts';

/** What each unit of the controller has that removes pods. */
export interface RemoverContext {
  readonly policies: Pick<Store<unknown>, 'synced'>;
  readonly policySet: Pick<PolicySet, 'ranked' | 'fingerprint'>;
  readonly pods: Store<PodFacts>;
  readonly nodes: Store<NodeFacts>;
  readonly namespaces: Store<NamespaceFacts>;
  /** True only while this process is sure to hold the lease. */
  readonly holdsLease: () => boolean;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly metrics: UnitMetrics;
  readonly log: Logger;
}
