import { podClasses, type UsageClass } from '../../agent/usage/facts.ts';
import { classNames } from '../../agent/usage/words.ts';
import type { GCPolicy } from '../../api/gen/gcpolicy.gen.ts';
import { rankPolicies } from '../../api/policy/matching.ts';
import type { NodeGCReport } from '../../api/gen/nodegcreport.gen.ts';
import { isFresh, isStale, staleMinutes } from '../../api/report/fresh.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { parsePolicy } from '../../api/policy/policy-spec.ts';
import {
  hasHolder,
  isLed,
  whyNoAgents,
  type Controller,
  type Workload,
} from '../../evaluation/installation/facts.ts';
import { excludedNodes } from '../../evaluation/installation/problems.ts';
import { sum } from '../../runtime/sum.ts';
import { fullestFirst } from '../top/rows.ts';
import {
  earliest,
  isOfInstallation,
  troublesOf,
  type StatusFacts,
  type Trouble,
} from '../../evaluation/installation/trouble.ts';

/** `dustpan status -o json`: the values that controller and agents recorded last. Times are RFC 3339, null = not known. */
export type StatusView = ReturnType<typeof statusView>;

/** Problems worst first, policies in the order in which they claim objects. */
export function statusView(facts: StatusFacts, now: Date) {
  const { policies, reports, installation } = facts;
  const signs = signsOf(facts, now);
  const trouble = troublesOf(facts, signs.controller !== undefined, now);
  const troubled = new Set(trouble.flatMap(({ kind, names }) => (kind === 'Node' ? names : [])));
  const nodes = reports?.map((report) => nodeRow(report, troubled)).toSorted(byNeed);
  const stored = new Map(policies?.map((policy) => [policy.metadata?.name ?? '', policy]));
  const parsed = policies?.map(parsePolicy);
  const rows = rankPolicies(parsed ?? []).map((policy) => {
    const own = nodes?.filter((node) => node.policy === policy.name);
    return policyRow(policy, stored.get(policy.name) ?? {}, own);
  });
  return {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'Status',
    verdict: verdictOf(facts, trouble, signs),
    trouble,
    /** null = they may not be read. */
    controllers: installation.controllers?.map(controllerRow) ?? null,
    agents: installation.agents?.map(workloadRow) ?? null,
    /** What shows that dustpan works although its Deployment, or its DaemonSet, was not found. */
    signs: [signs.controller, signs.agents].filter((sign) => sign !== undefined),
    /** Why no node has an agent, where that is no problem: the platform, or a value of the chart. */
    noAgents: orNull(whyNoAgents(installation)),
    /** Nodes without an agent by the values of the chart. */
    withoutAgent: excludedNodes(installation),
    /** What the reader may not read. */
    unread: installation.unread,
    /** Of policies that may be read. */
    totals: {
      ...totalsOf(rows, nodes),
      /** The end of the oldest last pass that is stale, RFC 3339; null = all are recent. */
      podsStaleSince: earliest(
        rows.flatMap(({ lastPassTime: time }) => (time !== null && isStale(time, now) ? [time] : [])),
      ),
    },
    policies: policies === undefined ? null : rows,
    /** Nodes with problems first, then by the bytes that can be freed. */
    nodes: nodes ?? null,
  };
}

/** InPart: something of the installation is in trouble, or a node is not ready. */
type Verdict = 'Works' | 'WorksInPart' | 'DoesNotWork' | 'NotInstalled' | 'Unknown';

function verdictOf({ installation, nodes }: StatusFacts, trouble: readonly Trouble[], signs: Signs): Verdict {
  const { controllers, agents } = installation;
  const isNoNodeReady = nodes !== undefined && nodes.length > 0 && !nodes.some(({ ready }) => ready);
  if (trouble.some(({ reason }) => reason === 'NotInstalled')) return 'NotInstalled';
  const parts = [
    ...(signs.controller === undefined
      ? (controllers ?? [undefined]).map((controller) => controller && isLed(controller))
      : [true]),
    ...(signs.agents === undefined
      ? (agents ?? [undefined]).map((daemonSet) => daemonSet && daemonSet.ready > 0 && !isNoNodeReady)
      : [!isNoNodeReady]),
  ];
  if (!parts.includes(true)) return parts.includes(undefined) ? 'Unknown' : 'DoesNotWork';
  const isOfPart = (problem: Trouble): boolean =>
    isOfInstallation(problem) || (problem.kind === 'Node' && problem.reason === 'NotReady');
  return trouble.some(isOfPart) ? 'WorksInPart' : 'Works';
}

/** What shows that dustpan works although its Deployment or its DaemonSet was not found: another installer may not label them, and the reader may not see them. */
interface Signs {
  /** undefined = nothing shows it, or the Deployment was found. */
  readonly controller: string | undefined;
  readonly agents: string | undefined;
}

function signsOf({ policies = [], reports = [], installation }: StatusFacts, now: Date): Signs {
  const { controllers, agents, clusterLease } = installation;
  const hasController = controllers !== undefined && controllers.length > 0;
  const sign = hasController ? undefined : signOfController(clusterLease, policies, now);
  const controller = sign && `${notFound('Deployment', controllers)}, but ${sign}`;
  const reporting = reports.filter(({ status }) => isRecent(status?.reportTime, now)).length;
  const hasAgents = agents !== undefined && agents.length > 0;
  // Reports alone remain after an uninstallation.
  const isAlone = !hasController && controller === undefined;
  if (hasAgents || isAlone || reporting === 0) return { controller, agents: undefined };
  const nodes = reporting === 1 ? 'an agent has' : `agents of ${reporting} nodes have`;
  return {
    controller,
    agents: `${notFound('DaemonSet', agents)}, but ${nodes} reported in the last ${staleMinutes} minutes`,
  };
}

const notFound = (kind: Workload['kind'], listed: readonly Workload[] | undefined): string =>
  listed === undefined ? `the ${kind} of dustpan cannot be read` : `no ${kind} of dustpan was found`;

/** The Lease of the cluster, where there is one and it may be read: after an uninstallation the last passes are still recent. */
function signOfController(
  lease: StatusFacts['installation']['clusterLease'],
  policies: NonNullable<StatusFacts['policies']>,
  now: Date,
): string | undefined {
  if (typeof lease === 'object') return hasHolder(lease) ? 'a controller holds the Lease' : undefined;
  return policies.some(({ status }) => isRecent(status?.lastPassTime, now))
    ? `a controller has ended a pass in the last ${staleMinutes} minutes`
    : undefined;
}

const isRecent = (time: string | undefined, now: Date): boolean =>
  time !== undefined && isFresh(Date.parse(time), now);

const workloadRow = ({ namespace, name, version, createdTime, desired, ready }: Workload) => ({
  namespace,
  name,
  version,
  createdTime,
  desired,
  ready,
});

function controllerRow(controller: Controller) {
  const { lease, waitsFor } = controller;
  const isLeading = typeof lease === 'object' && lease.holder !== '' && waitsFor === undefined;
  return {
    ...workloadRow(controller),
    /** null = none, or not known. */
    leader: isLeading ? lease.holder : null,
    leaderSince: isLeading ? lease.acquiredTime : null,
  };
}

type NodeRow = ReturnType<typeof nodeRow>;
type PolicyRow = ReturnType<typeof policyRow>;

const orNull = <T>(value: T | undefined): T | null => value ?? null;
const orZero = (count: number | undefined): number => count ?? 0;

function policyRow(
  policy: Policy | InvalidPolicy,
  { metadata, status }: Pick<GCPolicy, 'metadata' | 'status'>,
  nodes: readonly NodeRow[] | undefined,
) {
  return {
    name: policy.name,
    mode: isInvalid(policy) ? null : policy.mode,
    priority: orNull(policy.priority),
    valid: !isInvalid(policy),
    /** pods.deletedTotal counts from it. */
    createdTime: orNull(metadata?.creationTimestamp),
    /** Its rules for pods have had no pass yet. */
    awaitsPass: !isInvalid(policy) && policy.pods !== undefined && status?.pods === undefined,
    pods: orNull(status?.pods),
    /** Pods that are due and wait for the end of a hold. */
    podsHeld: orZero(status?.hold?.due),
    nodes: orNull(status?.nodes),
    ...bytesOf(status?.nodes, nodes),
    /** The last pass when the status was written. */
    lastPassTime: orNull(status?.lastPassTime),
  };
}

/** Reports are fresher than the sums in the status of the policy, and contain logs. null = nothing reports. */
function bytesOf(sums: NonNullable<GCPolicy['status']>['nodes'], nodes: readonly NodeRow[] | undefined) {
  if (nodes === undefined || (nodes.length === 0 && sums === undefined))
    return {
      reclaimableBytes: orNull(sums?.imageBytesReclaimable),
      reclaimedBytes: orNull(sums?.imageBytesReclaimed),
    };
  return {
    reclaimableBytes: sum(nodes.map((node) => node.reclaimableBytes)),
    reclaimedBytes: sum(nodes.map((node) => node.reclaimedBytes)),
  };
}

function nodeRow({ metadata, status = {} }: NodeGCReport, troubled: ReadonlySet<string>) {
  const { policy, units = [] } = status;
  const name = metadata?.name ?? '';
  const passes = units.map(({ lastPassTime }) => lastPassTime);
  return {
    name,
    inTrouble: troubled.has(name),
    policy: orNull(policy?.name),
    mode: orNull(policy?.mode),
    reportTime: orNull(status.reportTime),
    imageFsUsedPercent: orNull(status.imageFileSystem?.usedPercent),
    ...diskOf(status.usage),
    podSlots: orNull(status.usage?.podSlots),
    podSlotsTaken: orNull(status.usage?.podSlotsTaken),
    ...removableOf(status),
    reclaimedBytes: sum(units.map(({ freedBytesTotal }) => orZero(freedBytesTotal))),
    /** null = older agents, which count from their start. */
    reclaimedSince: earliest(units.map(({ totalsSince }) => totalsSince)),
    storageWarnings: orZero(status.storageWarningCount),
    evictionRequests: orZero(status.evictionRequestCount),
    /** Disks and memory; empty without a policy for node pressure. */
    signals: status.signals ?? [],
    lastPassTime: orNull(passes.toSorted((a, b) => Date.parse(b) - Date.parse(a))[0]),
    units,
  };
}

/** Of a pod all classes count together. */
const notOfPods = (Object.keys(classNames) as UsageClass[]).filter(
  (one) => !podClasses.some((ofPods) => ofPods === one),
);

/** The fullest file system, and what uses most of its bytes; null = not known. */
function diskOf(usage: NonNullable<NodeGCReport['status']>['usage']) {
  const [fullest] = fullestFirst(usage?.fileSystems ?? []);
  if (fullest === undefined)
    return { disk: null, diskUsedPercent: null, diskMeasuredTime: null, largestUser: null };
  const pod = usage?.pods?.[0];
  const users = [
    ...notOfPods.map((one) => ({ name: classNames[one], bytes: fullest[one] })),
    { name: `pod ${pod?.namespace}/${pod?.name}`, bytes: pod?.bytes },
  ].flatMap(({ name, bytes = 0 }) => (bytes > 0 ? [{ name, bytes }] : []));
  return {
    disk: fullest.name,
    diskUsedPercent: orNull(fullest.usedPercent),
    diskMeasuredTime: orNull(usage?.measuredTime),
    largestUser: orNull(users.toSorted((a, b) => b.bytes - a.bytes)[0]),
  };
}

function removableOf({ images, containers, logs }: NonNullable<NodeGCReport['status']>) {
  const { count = 0, bytes = 0 } = images?.removable ?? {};
  return {
    imagesRemovable: count,
    containersRemovable: orZero(containers?.removable),
    /** Images and logs that only a threshold or a limit keeps. */
    reclaimableBytes: bytes + orZero(logs?.removableBytes),
  };
}

function totalsOf(policies: readonly PolicyRow[], nodes: readonly NodeRow[] | undefined) {
  const summed = (value: (row: PolicyRow) => number | undefined): number =>
    sum(policies.map((row) => orZero(value(row))));
  const ofNodes = (
    value: (row: NodeRow) => number,
    stored: (row: PolicyRow) => number | undefined,
  ): number => (nodes === undefined ? summed(stored) : sum(nodes.map(value)));
  return {
    policies: policies.length,
    nodes: ofNodes(
      () => 1,
      (row) => row.nodes?.desired,
    ),
    /** Of the policies that have had a pass. */
    podsDue: summed((row) => row.pods?.due),
    podsHeld: summed((row) => row.podsHeld),
    /** Policies whose pods are not known yet. */
    awaitingPass: policies.filter((row) => row.awaitsPass).map(({ name }) => name),
    /** The part that DryRun policies select. */
    podsDueInDryRun: summed(({ mode, pods }) => (mode === 'DryRun' ? pods?.due : 0)),
    podsDeleted: summed((row) => row.pods?.deletedTotal),
    podsDeletedSince: earliest(policies.map(({ pods, createdTime }) => (pods === null ? null : createdTime))),
    reclaimableBytes: ofNodes(
      (row) => row.reclaimableBytes,
      (row) => row.nodes?.imageBytesReclaimable,
    ),
    reclaimedBytes: ofNodes(
      (row) => row.reclaimedBytes,
      (row) => row.nodes?.imageBytesReclaimed,
    ),
    reclaimedSince: earliest((nodes ?? []).map((row) => row.reclaimedSince)),
  };
}

function byNeed(a: NodeRow, b: NodeRow): number {
  if (a.inTrouble !== b.inTrouble) return a.inTrouble ? -1 : 1;
  return b.reclaimableBytes - a.reclaimableBytes || (a.name < b.name ? -1 : 1);
}
