import type { ObjectRef } from '../api/event-refs.ts';
import type { NodeGovernance } from '../api/policy/node-governance.ts';
import type { NodePassReport } from '../gc/pass.ts';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { UnitMetrics } from '../gc/metrics.ts';
import type { LiveNode } from '../kube/actions/live-reads.ts';
import type { Recorder } from '../kube/events/recorder.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import type { Clock } from '../runtime/scheduling/clock.ts';

/** What each unit has that decides about objects of the node. */
export interface UnitContext {
  readonly governance: () => NodeGovernance;
  /** This node, for its Events; undefined = unknown: no Events. */
  readonly node: () => ObjectRef | undefined;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly metrics: UnitMetrics;
  readonly log: Logger;
  /** Called at the end of each pass, after the unit has replaced its inventory. */
  readonly onPass: (report: NodePassReport) => void;
}

/** What each unit has that removes objects itself. */
export interface RemoverContext extends UnitContext {
  readonly runtime: ContainerRuntime;
  /** Called only before a removal, and before pins are removed. */
  readonly live: Pick<LiveNode, 'confirm' | 'podState'>;
  /** Time between two passes. */
  readonly periodMs: number;
  /** Called after each decision: a long pass is not a hung one. */
  readonly onProgress: () => void;
}
