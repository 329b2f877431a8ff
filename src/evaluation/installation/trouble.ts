import type { V1ObjectMeta } from '@kubernetes/client-node';
import type { GCPolicy, GCPolicyStatusCondition } from '../../api/gen/gcpolicy.gen.ts';
import type { NodeGCReport, NodeGCReportStatusUsageFileSystem } from '../../api/gen/nodegcreport.gen.ts';
import { rightsOf } from '../../api/policy/needs.ts';
import { nodeMatcher, rankPolicies, shadowedBy } from '../../api/policy/matching.ts';
import { invalidPolicyText, isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { parsePolicy } from '../../api/policy/policy-spec.ts';
import { explainPull } from '../../agent/imagegc/pull-words.ts';
import { counted } from '../../gc/reasons/words.ts';
import { asObject, asObjects, asText } from '../../kube/codec/json.ts';
import { isFresh, isStale, staleMinutes } from '../../api/report/fresh.ts';
import { blockedWork, commandThatGrants, installationProblems, type Problem } from './problems.ts';
import { whyNoAgents, type Installation, type OwnNode } from './facts.ts';
import { byText } from '../../runtime/text/by-text.ts';

/** What is read. undefined = it may not be read; `installation.unread` says so. */
export interface StatusFacts {
  readonly policies: readonly GCPolicy[] | undefined;
  readonly reports: readonly NodeGCReport[] | undefined;
  readonly installation: Installation;
  /** The nodes whose own problems are listed. */
  readonly nodes: Installation['nodes'];
}

/** One problem, with every object that has it. */
export interface Trouble {
  readonly kind: Problem['kind'];
  readonly names: readonly string[];
  /** The reason of the condition, or a reason of this command. */
  readonly reason: string;
  readonly message: string;
  /** What mends it, or shows more. */
  readonly command: string;
  /** RFC 3339, the earliest of several times; null = not known. */
  readonly since: string | null;
  /** RFC 3339: when the oldest report that shows it was written; a problem may have ended since. null = no report shows it. */
  readonly reportTime: string | null;
}

export const isOfInstallation = ({ kind }: Pick<Trouble, 'kind'>): boolean =>
  !['GCPolicy', 'Node', 'Blocked'].includes(kind);

/** Worst first: something is not installed or does not run, a policy does nothing, a node does not work, something failed, something may fail, something outside blocks, somebody should decide, state unknown, agents missing. */
const severities = [
  'Installation',
  'Refused',
  'NodeState',
  'PolicyDegraded',
  'NodeDegraded',
  'AtRisk',
  'Blocked',
  'Undecided',
  'Silent',
  'Behind',
] as const;

type Severity = (typeof severities)[number];

interface Ranked extends Problem {
  readonly severity: Severity;
  readonly reportTime?: string | undefined;
}

type Found = Omit<Ranked, 'kind' | 'names'>;

const ranked = (severity: Severity, problems: readonly Problem[]): readonly Ranked[] =>
  problems.map((problem) => ({ ...problem, severity }));

/** All problems, worst first; the same problem of several objects is listed once. `isLedUnseen`: a controller works whose Deployment was not found. */
export function troublesOf(facts: StatusFacts, isLedUnseen: boolean, now: Date): readonly Trouble[] {
  const { policies = [], reports, installation } = facts;
  const read = policies.map((stored) => ({ stored, parsed: parsePolicy(stored) }));
  const valid = rankPolicies(read.map(({ parsed }) => parsed)).filter(isValid);
  const late = whyNoAgents(installation) === undefined ? lateNodes(facts, now) : () => 0;
  const all: readonly Ranked[] = [
    ...ranked('Installation', installationProblems(installation, now, isLedUnseen)),
    ...ranked('Blocked', blockedWork(installation, requestedBy(reports), now)),
    ...read.flatMap(({ stored, parsed }) =>
      ofPolicy(stored, parsed, { valid, late, installation, now }).map(
        (found) => ({ ...found, kind: 'GCPolicy', names: [nameOf(stored)] }) as const,
      ),
    ),
    ...ofNodes(facts, now),
  ];
  // The problems of the nodes themselves are more precise.
  const areNodesNamed = all.some(({ severity }) => severity === 'NodeDegraded');
  return grouped(all.filter(({ reason }) => !(reason === 'NodesDegraded' && areNodesNamed)));
}

export const nodeTroubles = (facts: NodesFacts, now: Date): readonly Trouble[] =>
  grouped(ofNodes(facts, now));

interface NodesFacts extends Pick<StatusFacts, 'reports'> {
  readonly nodes: readonly Omit<OwnNode, 'labels'>[] | undefined;
}

/** By the nodes' own objects, and by the reports of their agents. */
const ofNodes = ({ nodes = [], reports = [] }: NodesFacts, now: Date): readonly Ranked[] =>
  [
    ...nodes.map((node) => ({ name: node.name, problems: ofNode(node) })),
    ...reports.map((report) => ({ name: nameOf(report), problems: ofReport(report, now) })),
  ].flatMap(({ name, problems }) =>
    problems.map((found) => ({ ...found, kind: 'Node', names: [name] }) as const),
  );

/** Worst first; the same problem of several objects is listed once. */
function grouped(problems: readonly Ranked[]): readonly Trouble[] {
  const groups = Map.groupBy(
    problems.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity)),
    ({ severity, kind, reason, message }) => JSON.stringify([severity, kind, reason, message]),
  );
  return [...groups.values()].flatMap(troubleOf);
}

function troubleOf(group: readonly Ranked[]): readonly Trouble[] {
  const byName = group
    .flatMap(({ names, ...problem }) => names.map((name) => ({ ...problem, name })))
    .toSorted((a, b) => byText(a.name, b.name));
  // The command is that of the first name.
  return byName.slice(0, 1).map(({ kind, reason, message, command }) => ({
    kind,
    reason,
    message,
    command,
    names: byName.map(({ name }) => name),
    since: earliest(group.map(({ since }) => since)),
    reportTime: earliest(group.map(({ reportTime }) => reportTime)),
  }));
}

/** The UIDs of the pods whose eviction the nodes request; undefined = not all are known. */
function requestedBy(reports: readonly NodeGCReport[] | undefined): ReadonlySet<string> | undefined {
  const statuses = reports?.map(({ status = {} }) => status);
  const isCut = statuses?.some(
    ({ evictionRequests = [], evictionRequestCount = 0 }) => evictionRequestCount > evictionRequests.length,
  );
  if (statuses === undefined || isCut === true) return undefined;
  return new Set(statuses.flatMap(({ evictionRequests = [] }) => evictionRequests.map(({ pod }) => pod.uid)));
}

const nameOf = ({ metadata }: GCPolicy | NodeGCReport): string => metadata?.name ?? '';

/** The first of RFC 3339 times; null = none is known. */
export const earliest = (times: readonly (string | null | undefined)[]): string | null =>
  times.flatMap((time) => time ?? []).toSorted((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null;

/** The time that the controller has to observe a new or changed policy. */
const freshMs = 60_000;

interface PolicyContext {
  /** By rank. */
  readonly valid: readonly Policy[];
  readonly late: LateNodes;
  readonly installation: Installation;
  readonly now: Date;
}

function ofPolicy(
  policy: GCPolicy,
  parsed: Policy | InvalidPolicy,
  { valid, late, installation, now }: PolicyContext,
): readonly Found[] {
  const { conditions } = policy.status ?? {};
  const edit = `kubectl edit gcpolicy ${nameOf(policy)}`;
  const describe = `kubectl describe gcpolicy ${nameOf(policy)}`;
  const refused = conditionOf(conditions, 'Accepted', 'False');
  if (isInvalid(parsed)) {
    const message = invalidPolicyText(parsed);
    const since = refused?.lastTransitionTime;
    return [{ severity: 'Refused', reason: 'InvalidPolicy', message, since, command: edit }];
  }
  const degraded = conditionOf(conditions, 'Degraded', 'True');
  const grant =
    degraded?.reason === 'MissingRights' ? commandThatGrants(rightsOf(parsed), installation) : undefined;
  return [
    ...found('Refused', refused, edit),
    ...found('PolicyDegraded', degraded, grant ?? describe),
    ...found('AtRisk', conditionOf(conditions, 'BudgetsExceeded', 'True'), 'dustpan top namespaces'),
    ...found('Undecided', conditionOf(conditions, 'Holding', 'True'), 'dustpan plan'),
    ...shadowed(policy, parsed, valid),
    ...doubts(conditionOf(conditions, 'Accepted', 'True'), edit),
    ...unseen(policy, now),
    ...behind(policy, { late, now }),
  ];
}

/** A part of the policy that matches nothing. The condition has been True since before, so its time is not that of the doubt. */
const doubts = (accepted: Condition | undefined, command: string): readonly Found[] =>
  accepted === undefined || accepted.reason === 'Valid'
    ? []
    : [{ severity: 'Undecided', reason: accepted.reason, message: accepted.message, command }];

/** By the last status, too: an empty selection may be meant. */
function shadowed({ status }: GCPolicy, policy: Policy, valid: readonly Policy[]): readonly Found[] {
  const governs = (status?.pods?.governed ?? 0) > 0 || (status?.nodes?.desired ?? 0) > 0;
  const rank = valid.findIndex(({ name }) => name === policy.name);
  const names = shadowedBy(policy, valid.slice(0, rank));
  if (governs || names.length === 0) return [];
  const message = `It governs nothing: GCPolicy ${names.join(' and ')} has a higher rank and selects everything.`;
  return [
    { severity: 'Undecided', reason: 'Shadowed', message, command: `kubectl edit gcpolicy ${policy.name}` },
  ];
}

const isValid = (policy: Policy | InvalidPolicy): policy is Policy => !isInvalid(policy);

/** The time in which each agent reports under a new policy. */
const reportedWithinMs = 5 * 60_000;

/** How many nodes of a policy should have reported under its present version and have not; undefined = not known. */
type LateNodes = (policy: GCPolicy) => number | undefined;

/**
 * An agent reports a change of its policy at once, and without one every few minutes: a report that is younger may be about to follow a change,
 * of the policy or of another one. Without a report, or with an older one, the node is late, unless it has just become ready: a node that joins.
 */
function lateNodes({ policies, reports, nodes }: StatusFacts, now: Date): LateNodes {
  if (policies === undefined || reports === undefined || nodes === undefined) return () => undefined;
  const governorOf = nodeMatcher(rankPolicies(policies.map(parsePolicy)));
  const byName = new Map(reports.map((report) => [nameOf(report), report.status]));
  const governed = Map.groupBy(nodes, ({ labels }) => governorOf(labels)?.name);
  return ({ metadata: { name = '', generation = 0 } = {} }) =>
    (governed.get(name) ?? []).filter((node) => {
      const { policy, reportTime = '' } = byName.get(node.name) ?? {};
      const isCurrent = policy?.name === name && policy.observedGeneration >= generation;
      const youngestMs = Math.max(Date.parse(reportTime) || 0, node.readyChangedAtMs ?? 0);
      return !isCurrent && now.getTime() - youngestMs >= reportedWithinMs;
    }).length;
}

function behind(policy: GCPolicy, { late, now }: Pick<PolicyContext, 'late' | 'now'>): readonly Found[] {
  const { desired = 0, upToDate = 0 } = policy.status?.nodes ?? {};
  const changedMs = Date.parse(changedTime(policy) ?? '') || 0;
  const count = Math.min(desired - upToDate, late(policy) ?? Infinity);
  if (count <= 0 || now.getTime() - changedMs < reportedWithinMs) return [];
  const message = `${count} of ${counted(desired, 'node')} ${count === 1 ? 'has' : 'have'} not reported under this version of the policy: does an agent run on them?`;
  return [
    { severity: 'Behind', reason: 'NodesBehind', message, command: 'kubectl get nodegcreports -o wide' },
  ];
}

function unseen(policy: GCPolicy, now: Date): readonly Found[] {
  const { metadata, status } = policy;
  if ((status?.observedGeneration ?? -1) >= (metadata?.generation ?? 0)) return [];
  const since = changedTime(policy);
  if (since !== undefined && now.getTime() - Date.parse(since) < freshMs) return [];
  const message = 'The controller has not seen the current version of the policy: is it running?';
  return [{ severity: 'Silent', reason: 'NotObserved', message, since, command: logsOf('controller') }];
}

/** When the policy was written last, but for its status; undefined = not known. */
function changedTime({ metadata }: GCPolicy): string | undefined {
  const writes = asObjects(asObject<V1ObjectMeta>(metadata).managedFields)
    .filter(({ subresource }) => subresource === undefined)
    .map(({ time }) => asText(time));
  return [metadata?.creationTimestamp ?? '', ...writes]
    .filter((time) => !Number.isNaN(Date.parse(time)))
    .toSorted((a, b) => Date.parse(b) - Date.parse(a))[0];
}

/** The node lifecycle controller of Kubernetes keeps a taint for each condition. */
const pressures: readonly (readonly [taint: string, reason: string, message: string])[] = [
  [
    'node.kubernetes.io/disk-pressure',
    'DiskPressure',
    'The kubelet is short of disk: it evicts pods and removes unused images, whatever the policies say.',
  ],
  [
    'node.kubernetes.io/memory-pressure',
    'MemoryPressure',
    'The kubelet is short of memory: it evicts pods, whatever the policies say.',
  ],
  [
    'node.kubernetes.io/pid-pressure',
    'PIDPressure',
    'The kubelet is short of process IDs: it evicts pods, whatever the policies say.',
  ],
];

function ofNode({ name, ready, readyChangedAtMs, taintKeys }: Omit<OwnNode, 'labels'>): readonly Found[] {
  const common = { severity: 'NodeState', command: `kubectl describe node ${name}` } as const;
  const notReady = {
    ...common,
    reason: 'NotReady',
    message:
      'The kubelet or its container runtime does not work, or the node is cut off: the values of its report are old, and nothing may be removed there.',
    since: readyChangedAtMs === undefined ? undefined : new Date(readyChangedAtMs).toISOString(),
  };
  const short = pressures
    .filter(([taint]) => taintKeys.includes(taint))
    .map(([, reason, message]) => ({ ...common, reason, message }));
  return ready ? short : [notReady, ...short];
}

function ofReport(report: NodeGCReport, now: Date): readonly Found[] {
  const { metadata, status } = report;
  const { conditions } = status ?? {};
  const since = status?.reportTime ?? metadata?.creationTimestamp;
  const message = `The agent has not reported for more than ${staleMinutes} minutes: is it running?`;
  const name = nameOf(report);
  const silent = { severity: 'Silent', reason: 'Stale', message, since, command: logsOf('agent') } as const;
  const keepListAtRisk = conditionOf(conditions, 'KeepListAtRisk', 'True');
  const reported = [
    ...degradedNode(report),
    ...fullDisks(report, now),
    ...found(
      'AtRisk',
      conditionOf(conditions, 'PressureAhead', 'True'),
      `dustpan top namespaces --node=${name}`,
    ),
    ...(status?.images?.pulls ?? [])
      .filter(({ fit }) => fit === 'Short')
      .map((pull) => ({
        severity: 'AtRisk' as const,
        reason: 'PullTooLarge',
        message: `${explainPull(pull)}.`,
        since: undefined,
        command: `dustpan top images --node=${name}`,
      })),
    ...found('AtRisk', keepListAtRisk, adviceFor(keepListAtRisk, report)),
  ].map((problem) => ({ ...problem, reportTime: passTimeOf(problem, status) ?? status?.reportTime }));
  return isStale(since, now) ? [...reported, silent] : reported;
}

/** In mode DryRun the message of a pass names bytes that nobody frees: says so, and how to list them. */
function degradedNode(report: NodeGCReport): readonly Found[] {
  const { policy, conditions } = report.status ?? {};
  const name = nameOf(report);
  const degraded = conditionOf(conditions, 'Degraded', 'True');
  if (degraded?.reason !== 'TargetMissed' || policy?.mode !== 'DryRun')
    return found('NodeDegraded', degraded, `kubectl describe nodegcreport ${name}`);
  const message = `${degraded.message.replace(/[.]?$/, '.')} GCPolicy ${policy.name} is in mode DryRun: the agent removes nothing.`;
  return found('NodeDegraded', { ...degraded, message }, `dustpan plan --node=${name}`);
}

const hourMs = 60 * 60_000;
/** As the alert DustpanDiskFillsDespiteCollection. */
const aheadMs = 24 * hourMs;
const almostFullPercent = 95;

/** By a current measurement. */
function fullDisks(report: NodeGCReport, now: Date): readonly Found[] {
  const { measuredTime = '', fileSystems = [] } = report.status?.usage ?? {};
  const measuredMs = Date.parse(measuredTime);
  if (!isFresh(measuredMs, now)) return [];
  // The clock of the node may be ahead.
  const fromMs = Math.max(now.getTime(), measuredMs);
  const command = `dustpan top disk --node=${nameOf(report)}`;
  return fileSystems.flatMap((disk) => {
    const problem = ofDisk(disk, fromMs);
    return problem === undefined ? [] : [{ severity: 'AtRisk', command, ...problem }];
  });
}

/** A disk that is almost full, or will be full despite collection. The messages have few values, so that many nodes have one problem. */
function ofDisk(
  disk: NodeGCReportStatusUsageFileSystem,
  fromMs: number,
): Pick<Problem, 'reason' | 'message'> | undefined {
  const { name, capacityBytes, availableBytes, collectableBytes } = disk;
  const isKnown = collectableBytes !== undefined;
  const leftMs = Date.parse((isKnown ? disk.fullAfterCollectionTime : disk.fullTime) ?? '') - fromMs;
  if (leftMs < aheadMs) {
    const forecast = `At its present growth, ${name} is full within ${leftMs < hourMs ? 'an hour' : 'a day'}`;
    return isKnown
      ? {
          reason: 'DiskFillsDespiteCollection',
          message: `${forecast}, even if everything collectable is removed.`,
        }
      : { reason: 'DiskFills', message: `${forecast}. It is not known how much is collectable.` };
  }
  const isAlmostFull = capacityBytes > 0 && 100 * availableBytes <= (100 - almostFullPercent) * capacityBytes;
  return isAlmostFull
    ? { reason: 'DiskAlmostFull', message: `At least ${almostFullPercent} % of ${name} are used.` }
    : undefined;
}

/** A threshold is mended in the policy; what fills the disk, the plan shows. */
const adviceFor = (keepListAtRisk: Condition | undefined, report: NodeGCReport): string =>
  keepListAtRisk?.reason === 'ThresholdTooHigh'
    ? `kubectl edit gcpolicy ${report.status?.policy?.name ?? ''}`
    : `dustpan plan --node=${nameOf(report)}`;

/** The results of a unit by the reasons of the condition: its values are those of the pass, which may be older than the report. */
const resultsOf: Readonly<Partial<Record<string, string>>> = {
  PassFailed: 'Failed',
  TargetMissed: 'Short',
  Undecided: 'Unknown',
};

const passTimeOf = ({ reason }: Found, status: NodeGCReport['status']): string | undefined =>
  status?.units?.find(({ result }) => result === resultsOf[reason])?.lastPassTime;

const logsOf = (component: string): string =>
  `kubectl logs -A -l app.kubernetes.io/part-of=dustpan,app.kubernetes.io/component=${component} --tail=20`;

type Condition = GCPolicyStatusCondition;

const conditionOf = (
  conditions: readonly Condition[] | undefined,
  type: string,
  status: Condition['status'],
): Condition | undefined =>
  conditions?.find((condition) => condition.type === type && condition.status === status);

function found(
  severity: Found['severity'],
  condition: Condition | undefined,
  command: string,
): readonly Found[] {
  if (condition === undefined) return [];
  const { reason, message, lastTransitionTime: since } = condition;
  return [{ severity, reason, message, since, command }];
}
