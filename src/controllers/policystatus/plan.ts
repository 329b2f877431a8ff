import { metaTime } from '../../runtime/text/rfc3339.ts';
import { claims, type Condition, type PodRollup, type PolicyStatus, type StatusFacts } from './claims.ts';
import type { PolicyPassReport } from '../../api/report/pass-report.ts';
import type { NodeRollup } from './nodes.ts';

/** Decides the whole status a policy should have now. lastTransitionTime moves only where a condition's status does. */
export function planStatus(facts: StatusFacts, now: Date): PolicyStatus {
  const { policy, stored, report, deletedSince } = facts;
  const before = new Map(stored?.conditions.map((condition) => [condition.type, condition]));
  const conditions = claims(facts).map((claim): Condition => {
    const old = before.get(claim.type);
    const lastTransitionTime = old?.status === claim.status ? old.lastTransitionTime : metaTime(now);
    return { ...claim, lastTransitionTime, observedGeneration: policy.generation };
  });
  const { lastPassTime, pods } = stored ?? {};
  const told =
    report === undefined
      ? { ...(lastPassTime !== undefined && { lastPassTime }), ...(pods !== undefined && { pods }) }
      : { lastPassTime: metaTime(report.at), pods: rollup(report, (pods?.deletedTotal ?? 0) + deletedSince) };
  return { observedGeneration: policy.generation, conditions, ...told, ...nodesOf(facts) };
}

/** While the reports are not known the stored figures stay: they are not 0. */
function nodesOf({ policy, stored, nodes }: StatusFacts): Pick<PolicyStatus, 'nodes'> {
  const says = !('problems' in policy) && policy.nodes !== undefined;
  const figures = says ? (nodes ?? stored?.nodes) : undefined;
  if (figures !== undefined && figures !== null) return { nodes: figures };
  return stored?.nodes === undefined ? {} : { nodes: null };
}

/** What is stored, as far as it can be used; whatever somebody else wrote there must not stop us. */
export function readStatus(stored: unknown): PolicyStatus | undefined {
  if (!isObject(stored) || typeof stored['observedGeneration'] !== 'number') return undefined;
  const conditions = Array.isArray(stored['conditions']) ? stored['conditions'].filter(isCondition) : [];
  const { observedGeneration, pods, nodes, lastPassTime } = stored;
  return {
    observedGeneration,
    conditions,
    ...(typeof lastPassTime === 'string' && { lastPassTime }),
    ...(isRollup(pods) && { pods }),
    ...(isNodeRollup(nodes) && { nodes }),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
const isCondition = (value: unknown): value is Condition =>
  isObject(value) &&
  ['type', 'status', 'reason', 'message', 'lastTransitionTime'].every(
    (key) => typeof value[key] === 'string',
  );
const isRollup = (value: unknown): value is PodRollup =>
  isObject(value) && typeof value['deletedTotal'] === 'number';
const isNodeRollup = (value: unknown): value is NodeRollup =>
  isObject(value) && typeof value['desired'] === 'number';

/** Every agent watches the policies: a status is written this often at most, unless a condition turns. */
const regularMs = 30_000;
/** Some node always has one image more than before. */
const figuresMs = 5 * 60_000;

/**
 * How long after the last write a status that differs is to be written: at once for another spec observed or a condition that turned.
 * undefined = nothing a reader would act on differs; the time of the last pass alone does not, so a quiet cluster gets no writes.
 */
export function writeAfterMs(wanted: PolicyStatus, stored: PolicyStatus | undefined): number | undefined {
  if (stored === undefined || turned(wanted) !== turned(stored)) return 0;
  if (substance(wanted) !== substance(stored)) return regularMs;
  return figures(wanted) === figures(stored) ? undefined : figuresMs;
}

const turned = ({ observedGeneration, conditions }: PolicyStatus): string =>
  JSON.stringify([observedGeneration, conditions.map(({ type, status }) => [type, status])]);

function substance({ conditions, pods, nodes }: PolicyStatus): string {
  const told = conditions.map(({ type, status, reason, message }) => [type, status, reason, message]);
  const { desired, upToDate, degraded, keepListAtRisk, storageWarnings, evictionRequests } = nodes ?? {};
  const ofNodes = [desired, upToDate, degraded, keepListAtRisk, storageWarnings, evictionRequests];
  return JSON.stringify([told, sorted(pods), ofNodes]);
}

const figures = ({ nodes }: PolicyStatus): string => JSON.stringify(sorted(nodes));
const sorted = (rollup: object | null | undefined): unknown => Object.entries(rollup ?? {}).sort();

const rollup = (report: PolicyPassReport, deletedTotal: number): PodRollup => ({
  governed: report.governed,
  terminated: report.terminated,
  due: report.due,
  waiting: report.waiting,
  held: report.held,
  missingNodes: report.missingNodes,
  errorsLastPass: report.failed,
  deletedTotal,
});
