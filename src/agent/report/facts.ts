import type { NodeGCReportStatusUnit, NodeGCReportStatusUsage } from '../../api/gen/nodegcreport.gen.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { RuntimeVersion } from '../../cri/runtime.ts';
import type { LastRemoved, NodePassReport } from '../../gc/pass.ts';
import type { FileSystemStats, MountedImageDisk } from '../../node/disk/filesystem.ts';
import type { ContainerInventory, OrphanInventory } from '../containergc/facts.ts';
import type { ImageInventory } from '../imagegc/facts.ts';
import type { LeftoverInventory, UnknownLeftovers } from '../leftovers/facts.ts';
import type { PressureInventory } from '../nodepressure/facts.ts';
import type { StorageInventory } from '../localstorage/facts.ts';

/** The last pass of a unit, and the sums since the agent started. */
export interface UnitPasses {
  readonly last: NodePassReport;
  readonly removedTotal: number;
  readonly freedBytesTotal: number;
}

/** What the other units and the watches of the agent know; undefined = not known (yet). */
export interface KnownFacts {
  readonly agentVersion: string;
  readonly runtime: RuntimeVersion | undefined;
  readonly governance: NodeGovernance;
  readonly images: ImageInventory | undefined;
  readonly containers: ContainerInventory | undefined;
  readonly storage: StorageInventory | undefined;
  readonly pressure: PressureInventory | undefined;
  readonly usage: NodeGCReportStatusUsage | undefined;
  readonly leftovers: LeftoverInventory | UnknownLeftovers | undefined;
  readonly lastRemoved: LastRemoved;
}

/** Facts that a report is made from. */
export interface ReportFacts extends KnownFacts {
  readonly startedAt: Date;
  readonly passes: readonly UnitPasses[];
  /** As the agent before this one reported them. */
  readonly earlierUnits: readonly NodeGCReportStatusUnit[];
  readonly orphans: OrphanInventory | undefined;
  readonly imageDisk: MountedImageDisk | undefined;
  /** The disk of the kubelet's root directory. */
  readonly nodeDisk: FileSystemStats | undefined;
  /** Failed reads for this report, the worst first. */
  readonly troubles: readonly ReportTrouble[];
}

export interface ReportTrouble {
  readonly reason:
    'MissingRights' | 'CacheStale' | 'RuntimeUnavailable' | 'NotKubeletsRuntime' | 'ImageDiskUnknown';
  /** One line. */
  readonly message: string;
}

/** Why the runtime is not used. */
export interface RuntimeTrouble {
  /** One line. */
  readonly message: string;
  /** Another runtime than the kubelet's answers on the socket. */
  readonly isForeign: boolean;
}

/** A condition without its history. */
export interface Claim {
  readonly type: 'Ready' | 'KeepListAtRisk' | 'PressureAhead' | 'Holding' | 'Degraded';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}
