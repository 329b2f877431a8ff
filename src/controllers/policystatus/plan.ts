import { fitStatus, readStatus } from '../../api/gen/gcpolicy.gen.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { claims, removeMatched } from './claims.ts';
import { holdOf } from './hold.ts';
import type { PolicyStatus, StatusFacts } from './status.ts';

/** Decides the whole status that a policy should have now; `fitStatus` drops what the CRD lacks. lastTransitionTime changes only with the status of a condition. */
export function planStatus(facts: StatusFacts, now: Date): PolicyStatus {
  const { policy, stored, report } = facts;
  const before = new Map(stored?.conditions.map((condition) => [condition.type, condition]));
  const hold = holdOf(facts);
  const matched = removeMatched(facts);
  return fitStatus({
    observedGeneration: policy.generation,
    conditions: Object.entries(claims(facts, { hold, matched })).flatMap(([type, claim]) => {
      if (claim === undefined) return [];
      const old = before.get(type);
      const lastTransitionTime = old?.status === claim.status ? old.lastTransitionTime : metaTime(now);
      return [{ type, ...claim, lastTransitionTime, observedGeneration: policy.generation }];
    }),
    lastPassTime: report === undefined ? stored?.lastPassTime : metaTime(report.at),
    pods: podsOf(facts),
    nodes: nodesOf(facts),
    removeMatched: matched.length === 0 ? undefined : [...matched],
    hold,
  });
}

function podsOf({ stored, report, deletedSince }: StatusFacts): PolicyStatus['pods'] {
  if (report === undefined) return stored?.pods;
  const deletedTotal = (stored?.pods?.deletedTotal ?? 0) + deletedSince;
  return { ...report, errorsLastPass: report.failed, deletedTotal };
}

/** While the reports are not known the stored values remain: they are not 0. */
function nodesOf({ policy, stored, nodes }: StatusFacts): PolicyStatus['nodes'] {
  const hasRules = !('problems' in policy) && policy.nodes !== undefined;
  return hasRules ? (nodes ?? stored?.nodes) : undefined;
}

/** A stored status, without what the CRD refuses; undefined = the controller has written none. */
export function storedStatus(json: unknown): PolicyStatus | undefined {
  const { observedGeneration, conditions = [], ...status } = readStatus(json);
  return observedGeneration === undefined ? undefined : { ...status, observedGeneration, conditions };
}

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

/** The rules in force are written at once: a restart must not begin its hold again. So are matched entries, which it must not forget. */
const statuses = ({ observedGeneration, conditions, removeMatched: matched, hold }: PolicyStatus): string =>
  JSON.stringify([
    observedGeneration,
    hold?.rulesId,
    matched,
    conditions.map(({ type, status }) => [type, status]),
  ]);

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
