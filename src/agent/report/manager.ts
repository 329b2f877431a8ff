import { nodeRef } from '../../api/event-refs.ts';
import { rightText, valuesThatGrant, type Right } from '../../api/policy/needs.ts';
import type { NodeGCReportStatus } from '../../api/gen/nodegcreport.gen.ts';
import type { NodeReports, ReportingNode } from '../../kube/actions/node-report.ts';
import type { Recorder } from '../../kube/events/recorder.ts';
import type { FileSystemStats, MountedImageDisk } from '../../node/disk/filesystem.ts';
import { Changed } from '../../gc/changed.ts';
import type { NodeUnit } from '../../gc/decision.ts';
import type { NodePassReport } from '../../gc/pass.ts';
import { staleText } from '../../gc/reasons/words.ts';
import type { StaleCache } from '../../kube/cache/staleness.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { errorCode, errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { OrphanInventory } from '../containergc/facts.ts';
import { hasNewRequests, isWorthWriting } from './change.ts';
import type { KnownFacts, ReportFacts, ReportTrouble, RuntimeTrouble, UnitPasses } from './facts.ts';
import { orphansFound, planOrphanEvent, type OrphanCounts } from './events.ts';
import { showOrphans, showReport, type ReportMetrics } from './metrics.ts';
import { planReport, planStorage } from './plan.ts';

export interface ReportDeps {
  /** This node's own Node object; undefined while it is not known. */
  readonly node: () => ReportingNode | undefined;
  readonly known: () => KnownFacts;
  /** The caches that have not been current for two minutes. */
  readonly staleCaches: () => readonly StaleCache[];
  /** Such as "list pods". */
  readonly missingRights: () => readonly Right[];
  /** undefined = the runtime is available. */
  readonly runtimeTrouble: () => RuntimeTrouble | undefined;
  readonly imageDisk: (signal: AbortSignal) => Promise<MountedImageDisk>;
  /** The file system of the kubelet's root directory. */
  readonly nodeDisk: (signal: AbortSignal) => Promise<FileSystemStats>;
  readonly reports: Pick<NodeReports, 'read' | 'write'>;
  readonly recorder: Recorder;
  readonly metrics: ReportMetrics;
  readonly clock: Clock;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  readonly log: Logger;
}

/** The report needs the disks only for the kubelet's eviction signals. */
const disksEveryMs = 30_000;

/** Keeps the report of this node current with few writes. */
export class ReportManager {
  readonly #deps: ReportDeps;
  readonly #passes = new Map<NodeUnit, UnitPasses>();
  readonly #startedAt: Date;
  /** undefined = the report of the agent before has not been read. */
  #earlierUnits: ReportFacts['earlierUnits'] | undefined;
  #disks: Disks | undefined;
  #orphans: OrphanInventory | undefined;
  #announced: OrphanCounts = {};
  #written: { readonly nodeUid: string; readonly status: NodeGCReportStatus | undefined } | undefined;
  #jitter: number;
  readonly #missing = new Changed<string>();

  constructor(deps: ReportDeps) {
    this.#deps = deps;
    this.#jitter = deps.random();
    this.#startedAt = deps.clock.now();
  }

  observe(last: NodePassReport): void {
    const before = this.#passes.get(last.unit);
    this.#passes.set(last.unit, {
      last,
      removedTotal: (before?.removedTotal ?? 0) + last.removed,
      freedBytesTotal: (before?.freedBytesTotal ?? 0) + last.freedBytes,
    });
  }

  /** Whether a pod must be evicted that the written report does not request. */
  get isAwaited(): boolean {
    const { known, clock } = this.#deps;
    return hasNewRequests(this.#written?.status, planStorage(known(), clock.now()));
  }

  /** Writes the report if it is worth a write, and if the Node object exists that owns it. `isLast`: the agent stops. */
  async reconcile(signal: AbortSignal, isLast = false): Promise<void> {
    const { node: ownNode, clock, reports, metrics } = this.#deps;
    const node = ownNode();
    if (node === undefined) {
      metrics.degraded.set(1);
      return;
    }
    if (this.#written?.nodeUid !== node.uid)
      this.#written = { nodeUid: node.uid, status: await reports.read(node, signal) };
    const { status: previous } = this.#written;
    this.#earlierUnits ??= previous?.units ?? [];
    const facts = await this.#observe(signal);
    const now = clock.now();
    const next = planReport(facts, previous, now);
    showReport(metrics, next);
    if (isWorthWriting(previous, next, { now, jitter: this.#jitter, isLast }))
      await this.#write(node, next, signal);
  }

  async #write(node: ReportingNode, status: NodeGCReportStatus, signal: AbortSignal): Promise<void> {
    const { reports, random, log } = this.#deps;
    const result = await reports.write(node, status, signal);
    const crd = result === 'no-kind' ? ['nodegcreports.gc.dustpan.dev'] : [];
    for (const one of this.#missing.added(crd))
      log.warn({ crd: one }, 'kind NodeGCReport is not installed, so the agent writes no report');
    if (result === 'no-kind') return;
    this.#written = { nodeUid: node.uid, status };
    this.#jitter = random();
  }

  async #observe(signal: AbortSignal): Promise<ReportFacts> {
    const { imageDisk, nodeDisk, troubles } = await this.#readDisks(signal);
    return {
      ...this.#deps.known(),
      imageDisk,
      nodeDisk,
      orphans: this.#findOrphans(),
      startedAt: this.#startedAt,
      passes: [...this.#passes.values()],
      earlierUnits: this.#earlierUnits ?? [],
      troubles: [...this.#accessTroubles(), ...this.#runtimeTroubles(), ...troubles],
    };
  }

  /** What keeps the agent from knowing the policy, its Node or its pods. */
  #accessTroubles(): readonly ReportTrouble[] {
    const [missing, stale] = [this.#deps.missingRights(), this.#deps.staleCaches()];
    if (missing.length > 0) {
      const values = valuesThatGrant(missing).map((value) => `${value}=true`);
      const advice = values.length === 0 ? '' : `. Set ${values.join(' and ')} in the values of the chart`;
      const message = `The ServiceAccount of the agent may not ${missing.map(rightText).join(', ')}${advice}`;
      return [{ reason: 'MissingRights', message }];
    }
    const message = `The agent has had no current list for more than two minutes, and removes nothing that needs it: ${staleText(stale)}`;
    return stale.length === 0 ? [] : [{ reason: 'CacheStale', message }];
  }

  #runtimeTroubles(): readonly ReportTrouble[] {
    const trouble = this.#deps.runtimeTrouble();
    if (trouble === undefined) return [];
    const { message, isForeign } = trouble;
    return [
      isForeign ? { reason: 'NotKubeletsRuntime', message } : { reason: 'RuntimeUnavailable', message },
    ];
  }

  async #readDisks(signal: AbortSignal): Promise<Disks> {
    const { clock, imageDisk, nodeDisk } = this.#deps;
    const atMs = clock.monotonicMs();
    const known = this.#disks;
    // After a failure the node is Degraded until a read succeeds, so the next report tries again.
    if (known?.troubles.length === 0 && atMs - known.atMs < disksEveryMs) return known;
    const troubles: ReportTrouble[] = [];
    const [images, node] = await Promise.all([
      imageDisk(signal).catch((err: unknown) => {
        troubles.push({ reason: 'ImageDiskUnknown', message: imageDiskProblem(err) });
        return undefined;
      }),
      // Needed only for one warning, which is not given without it.
      nodeDisk(signal).catch(() => undefined),
    ]);
    signal.throwIfAborted();
    this.#disks = { atMs, imageDisk: images, nodeDisk: node, troubles };
    return this.#disks;
  }

  /** The orphaned resources of the last pass that searched them; one Event when there is more than at the last one. */
  #findOrphans(): OrphanInventory | undefined {
    const { known, metrics, node, recorder } = this.#deps;
    this.#orphans = known().containers?.orphans ?? this.#orphans;
    showOrphans(metrics, this.#orphans);
    const { name, uid } = node() ?? {};
    const { isDue, announced } = planOrphanEvent(this.#announced, this.#orphans);
    this.#announced = announced;
    if (isDue && this.#orphans !== undefined && name !== undefined && uid !== undefined)
      recorder.record(orphansFound(nodeRef({ name, uid }), this.#orphans));
    return this.#orphans;
  }
}

interface Disks {
  readonly atMs: number;
  readonly imageDisk: MountedImageDisk | undefined;
  readonly nodeDisk: FileSystemStats | undefined;
  readonly troubles: readonly ReportTrouble[];
}

/** Names the value of the chart where the runtime stores images outside of the directory that the pod mounts. */
function imageDiskProblem(err: unknown): string {
  const isMissing = err instanceof Error && errorCode(err.cause) === 'ENOENT';
  return isMissing
    ? `${errorLine(err)}; the pod of the agent does not have this directory: set agent.hostPaths.runtimeRoot of the chart to the directory in which the runtime stores images`
    : errorLine(err);
}
