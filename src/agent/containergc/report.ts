import type {
  NodeGCReportStatusContainersLastRemovedItem,
  NodeGCReportStatusLargestOffender,
} from '../../api/gen/nodegcreport.gen.ts';
import { passReport, type PassResults, type LastRemoved, type NodePassReport } from '../../gc/pass.ts';
import { errorLine } from '../../runtime/errors.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { counted } from '../../gc/reasons/words.ts';
import type {
  ContainerDecision,
  ContainerGcFacts,
  ContainerGcPlan,
  ContainerGcTarget,
  ContainerRemoval,
  ContainerInventory,
} from './facts.ts';
import { checkpointInventory } from './checkpoints.ts';
import { logDirectories } from './log-names.ts';
import { orphanInventory } from './orphans.ts';
import type { PlannedContainers } from '../nodepressure/facts.ts';
import { noContainers } from '../nodepressure/demands.ts';

export interface RemovalResults extends PassResults<ContainerRemoval> {
  /** Why something could not be decided. */
  readonly unknown: string | undefined;
  readonly error: Error | undefined;
}

export interface Outcome extends RemovalResults {
  readonly inventory: ContainerInventory | undefined;
  readonly planned: number;
  /** What a pass in mode DryRun would remove. */
  readonly reclaim: PlannedContainers;
}

export const nothingDone: Outcome = {
  inventory: undefined,
  planned: 0,
  reclaim: noContainers,
  outcomes: [],
  removed: [],
  failed: [],
  freedBytes: 0,
  unknown: undefined,
  stopped: undefined,
  error: undefined,
};

/** Why the removals have failed; undefined = they have not. */
export function failureOf({
  removed,
  failed,
  stopped,
}: Pick<RemovalResults, 'removed' | 'failed' | 'stopped'>): Error | undefined {
  if (stopped?.error !== undefined) return new Error('checking before a removal', { cause: stopped.error });
  const [first] = failed;
  return (
    first &&
    new Error(
      `removing containers, sandboxes and logs: ${failed.length} of ${failed.length + removed.length} failed`,
      { cause: first.error },
    )
  );
}

/** Something is due whose removal failed in an earlier pass. */
export function pausedError({ kept }: Pick<ContainerGcPlan, 'kept'>): Error | undefined {
  const paused = kept.filter(({ reason }) => reason === 'RemovalFailed').length;
  if (paused === 0) return undefined;
  return new Error(`${counted(paused, 'removal')} failed before; dustpan tries again after a pause`);
}

/** The report of one pass; an error outside of removals counts as one failure. */
export function reportOf(outcome: Outcome, at: Date): NodePassReport {
  const { error, unknown, stopped } = outcome;
  const message = error === undefined ? (unknown ?? stopped?.why) : errorLine(error);
  const report = passReport({ unit: 'containergc', at, result: resultOf(outcome), message }, outcome);
  return error === undefined ? report : { ...report, errors: Math.max(1, report.errors) };
}

function resultOf({ error, unknown, stopped, planned }: Outcome): NodePassReport['result'] {
  if (error !== undefined) return 'Failed';
  if (unknown !== undefined) return 'Unknown';
  if (stopped !== undefined && stopped.isShutdown !== true) return 'Short';
  return planned === 0 ? 'Idle' : 'Succeeded';
}

const maxOffenders = 5;

export const logBytesOf = ({ logs }: Pick<ContainerGcFacts, 'logs'>): number =>
  logs?.entries.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;

export function inventoryOf(facts: ContainerGcFacts, plan: ContainerGcPlan): ContainerInventory {
  const { removals, kept } = plan;
  const count = (kind: ContainerGcTarget['kind']): number =>
    removals.filter(({ target }) => target.kind === kind).length;
  return {
    containers: {
      total: facts.containers?.length ?? 0,
      running: facts.containers?.filter(({ state }) => state === 'Running').length ?? 0,
      removable: count('Container'),
    },
    sandboxes: { total: facts.sandboxes?.length ?? 0, removable: count('Sandbox') },
    logs: facts.logs && {
      bytes: logBytesOf(facts),
      removableBytes: removals.reduce((sum, { target, bytes = 0 }) => sum + (isLog(target) ? bytes : 0), 0),
      byPod: new Map(logDirectories(facts.logs).flatMap(({ pod, bytes }) => (pod ? [[pod.uid, bytes]] : []))),
    },
    checkpoints: checkpointInventory(facts, plan),
    orphans: orphanInventory(facts, [...removals, ...kept]),
    offenders: offendersOf(facts, plan),
  };
}

const isLog = ({ kind }: ContainerGcTarget): boolean => kind === 'LogDirectory' || kind === 'LogFile';

/** The largest log directories; in place of one, the current log that is too large and more than half of it. */
function offendersOf(
  { logs }: Pick<ContainerGcFacts, 'logs'>,
  { removals, kept, warnings }: ContainerGcPlan,
): NodeGCReportStatusLargestOffender[] {
  if (logs === undefined) return [];
  const decisions: readonly ContainerDecision[] = [...removals, ...kept];
  const reasons = new Map(
    decisions.flatMap(({ target, reason }) =>
      target.kind === 'LogDirectory' ? [[target.path, reason]] : [],
    ),
  );
  return logDirectories(logs)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, maxOffenders)
    .map(({ path, pod, bytes }) => {
      const log = warnings.find(({ target }) => target.logPath.startsWith(`${path}/`));
      const place = { name: pod?.name, namespace: pod?.namespace };
      return log !== undefined && 2 * log.target.bytes > bytes
        ? { kind: 'LogFile', id: log.target.logPath, ...place, bytes: log.target.bytes, reason: log.reason }
        : { kind: 'LogDirectory', id: path, ...place, bytes, reason: reasons.get(path) };
    });
}

/** The last ten containers and sandboxes, and the last ten others: many logs must not displace containers. */
export function lastOfEach(all: LastRemoved['others']): NodeGCReportStatusContainersLastRemovedItem[] {
  const isContainer = ({ kind }: (typeof all)[number]): boolean => kind === 'Container' || kind === 'Sandbox';
  const removed = all.toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time));
  const containers = removed.filter(isContainer).slice(0, 10);
  const others = removed.filter((one) => !isContainer(one)).slice(0, 10);
  return removed.filter((one) => containers.includes(one) || others.includes(one));
}

/** Adds a removal to the last ones. */
export const withRemoved = (
  before: LastRemoved['others'],
  { target, reason, policy }: ContainerRemoval,
  freedBytes: number,
  now: Date,
): LastRemoved['others'] =>
  lastOfEach([
    {
      kind: target.kind,
      id: 'path' in target ? target.path : target.id,
      name: target.kind === 'Container' ? target.name : undefined,
      pod: target.pod,
      reason,
      policy: policy?.name ?? '',
      bytes: freedBytes > 0 ? freedBytes : undefined,
      time: metaTime(now),
    },
    ...before,
  ]);
