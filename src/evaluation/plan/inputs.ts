import type { ThisNode } from '../../process/config.ts';
import type { PersonConnection } from '../../process/connection.ts';
import type { GivenPolicies } from '../../snapshot/policies.ts';
import type { PodFilter } from './filter.ts';

/** What to plan: the settings that `plan`, `why` and `report` share. */
export interface PlanInputs {
  readonly given: GivenPolicies;
  /** Directory of a snapshot; undefined = from the cluster. */
  readonly snapshot: string | undefined;
  /** undefined = without the objects of this node. */
  readonly node: ThisNode | undefined;
  /** Nodes to read through the pods of their agents; undefined = none. */
  readonly through: readonly string[] | 'all' | undefined;
  /** undefined = when the snapshot was taken, or the present. */
  readonly now: Date | undefined;
  readonly laterMs: number;
  readonly assumeElapsed: boolean;
  readonly progress: 'auto' | 'always' | 'never';
  readonly kube: PersonConnection;
}

export interface FactsInputs extends PlanInputs {
  readonly filter: PodFilter;
}
