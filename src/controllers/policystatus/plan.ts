import { isObject } from '../../api/json.ts';
import { parseInForce } from '../../gc/hold.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { claims } from './claims.ts';
import { holdOf } from './hold.ts';
import type { Condition, PodRollup, PolicyStatus, StatusFacts, StatusHold } from './status.ts';
import type { PolicyPassReport } from '../../api/report/pass-report.ts';
import type { NodeRollup } from './nodes.ts';

/** Decides the whole status that a policy should have now. lastTransitionTime changes only with the status of a condition. */
export function planStatus(facts: StatusFacts, now: Date): PolicyStatus {
  const { policy, stored, report, deletedSince } = facts;
  const before = new Map(stored?.conditions.map((condition) => [condition.type, condition]));
  const hold = holdOf(facts);
  const conditions = claims(facts, hold).map((claim): Condition => {
    const old = before.get(claim.type);
    const lastTransitionTime = old?.status === claim.status ? old.lastTransitionTime : metaTime(now);
    return { ...claim, lastTransitionTime, observedGeneration: policy.generation };
  });
  const { lastPassTime, pods } = stored ?? {};
  const pass =
    report === undefined
      ? { ...(lastPassTime !== undefined && { lastPassTime }), ...(pods !== undefined && { pods }) }
      : {
          lastPassTime: metaTime(report.at),
          pods: podRollup(report, (pods?.deletedTotal ?? 0) + deletedSince),
        };
  return {
    observedGeneration: policy.generation,
    conditions,
    ...pass,
    ...nodesOf(facts),
    ...(hold !== undefined && { hold }),
  };
}

/** While the reports are not known the stored values remain: they are not 0. */
function nodesOf({ policy, stored, nodes }: StatusFacts): Pick<PolicyStatus, 'nodes'> {
  const hasRules = !('problems' in policy) && policy.nodes !== undefined;
  const rollup = hasRules ? (nodes ?? stored?.nodes) : undefined;
  return rollup === undefined ? {} : { nodes: rollup };
}

/** Reads the valid parts of a stored status; values that someone else wrote there must not stop the controller. */
export function readStatus(stored: unknown): PolicyStatus | undefined {
  if (!isObject(stored) || typeof stored['observedGeneration'] !== 'number') return undefined;
  const conditions = Array.isArray(stored['conditions']) ? stored['conditions'].filter(isCondition) : [];
  const { observedGeneration, pods, nodes, hold, lastPassTime } = stored;
  return {
    observedGeneration,
    conditions,
    ...(typeof lastPassTime === 'string' && { lastPassTime }),
    ...(isRollup(pods) && { pods }),
    ...(isNodeRollup(nodes) && { nodes }),
    ...(isHold(hold) && { hold }),
  };
}

const isCondition = (value: unknown): value is Condition =>
  isObject(value) &&
  ['type', 'status', 'reason', 'message', 'lastTransitionTime'].every(
    (key) => typeof value[key] === 'string',
  );
const isRollup = (value: unknown): value is PodRollup =>
  isObject(value) && typeof value['deletedTotal'] === 'number';
const isNodeRollup = (value: unknown): value is NodeRollup =>
  isObject(value) && typeof value['desired'] === 'number';

const isHold = (value: unknown): value is StatusHold => parseInForce(value) !== undefined;

/** Every agent watches the policies, so a status is written at most this often, unless the status of a condition changes. */
const regularMs = 30_000;
/** For sums over nodes and the usage of namespaces, which always change a little, and for the time of the last pass. */
const sumsMs = 5 * 60_000;

/**
 * How long after the last write to write a status that differs: 0 for another observed spec or another status of a condition.
 * undefined = no relevant difference. The time of the last pass is written with the sums: it shows a controller that does nothing any more.
 */
export function writeAfterMs(planned: PolicyStatus, stored: PolicyStatus | undefined): number | undefined {
  if (stored === undefined || statuses(planned) !== statuses(stored)) return 0;
  if (substance(planned) !== substance(stored)) return regularMs;
  return sums(planned) === sums(stored) && !isPassNews(planned, stored) ? undefined : sumsMs;
}

const isPassNews = (planned: PolicyStatus, stored: PolicyStatus): boolean =>
  planned.lastPassTime !== undefined &&
  Date.parse(planned.lastPassTime) - (Date.parse(stored.lastPassTime ?? '') || 0) >= sumsMs;

/** The rules in force are written at once: a restart must not begin its hold again. */
const statuses = ({ observedGeneration, conditions, hold }: PolicyStatus): string =>
  JSON.stringify([observedGeneration, hold?.rulesId, conditions.map(({ type, status }) => [type, status])]);

function substance({ conditions, pods, nodes }: PolicyStatus): string {
  const claimed = conditions.map(({ type, status, reason, message }) =>
    type === 'BudgetsExceeded' ? [type, status, reason] : [type, status, reason, message],
  );
  const { desired, upToDate, degraded, keepListAtRisk, holding } = nodes ?? {};
  const { storageWarnings, evictionRequests } = nodes ?? {};
  const ofNodes = [desired, upToDate, degraded, keepListAtRisk, holding, storageWarnings, evictionRequests];
  return JSON.stringify([claimed, sorted(pods), ofNodes]);
}

const sums = ({ conditions, nodes }: PolicyStatus): string =>
  JSON.stringify([conditions.map(({ message }) => message), sorted(nodes)]);
const sorted = (counts: object | undefined): unknown => Object.entries(counts ?? {}).sort();

const podRollup = (report: PolicyPassReport, deletedTotal: number): PodRollup => ({
  governed: report.governed,
  terminated: report.terminated,
  due: report.due,
  waiting: report.waiting,
  held: report.held,
  missingNodes: report.missingNodes,
  errorsLastPass: report.failed,
  deletedTotal,
});
