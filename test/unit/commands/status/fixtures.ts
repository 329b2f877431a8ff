import type {
  GCPolicy,
  GCPolicyStatus,
  GCPolicyStatusCondition,
} from '../../../../src/api/gen/gcpolicy.gen.ts';
import type {
  Controller,
  Installation,
  OwnNode,
  Workload,
} from '../../../../src/evaluation/installation/facts.ts';
import { statusView as viewOf, type StatusView } from '../../../../src/commands/status/view.ts';
import type { NodeGCReport, NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';

export const now = new Date('2026-01-15T12:00:00Z');
export const minutesAgo = (minutes: number): string =>
  new Date(now.getTime() - minutes * 60_000).toISOString();

export const mib = 1024 * 1024;

export const condition = (
  type: string,
  status: 'True' | 'False' | 'Unknown',
  { reason = 'AsPlanned', message = 'All is well' } = {},
): GCPolicyStatusCondition => ({ type, status, reason, message, lastTransitionTime: minutesAgo(3) });

/** A policy that the controller follows; state only what matters. */
export const policy = (
  name: string,
  { spec = {}, ...status }: GCPolicyStatus & { spec?: Record<string, unknown> } = {},
): GCPolicy => {
  const metadata = { name, uid: `uid-${name}`, generation: 2, creationTimestamp: minutesAgo(60) };
  return { metadata, spec, status: { observedGeneration: 2, lastPassTime: minutesAgo(1), ...status } };
};

/** A node that reported a minute ago; state only what matters. */
export const report = (name: string, status: NodeGCReportStatus = {}): NodeGCReport => ({
  metadata: { name, creationTimestamp: minutesAgo(600) },
  status: {
    reportTime: minutesAgo(1),
    policy: { name: 'default', observedGeneration: 2, mode: 'Enforce' },
    ...status,
  },
});

/** A pass freed too little. */
export const missed = condition('Degraded', 'True', {
  reason: 'TargetMissed',
  message: 'imagegc missed its target: Deleting unused images would free 90.7 MiB of 1.0 GiB.',
});
type Disk = NonNullable<NonNullable<NodeGCReportStatus['usage']>['fileSystems']>[number];
/** The usage of a node with one disk, half full, measured so many minutes ago; state only what matters. */
export const usageOf = (disk: Partial<Disk>, minutes = 1): NodeGCReportStatus => ({
  usage: {
    measuredTime: minutesAgo(minutes),
    fileSystems: [
      { name: 'nodefs', capacityBytes: 100 * mib, availableBytes: 50 * mib, usedBytes: 50 * mib, ...disk },
    ],
  },
});
/** A disk that is full so many minutes from now, with and without collection. */
export const filling = (minutes: number): Partial<Disk> => ({
  ...{ collectableBytes: mib, fullTime: minutesAgo(-minutes), fullAfterCollectionTime: minutesAgo(-minutes) },
});

const workload = {
  ...{ namespace: 'dustpan-system', instance: 'dustpan', version: '0.1.0', serviceAccount: 'dustpan' },
  ...{ createdTime: minutesAgo(600), failure: '', nodeSelector: {}, tolerates: 'all' as const },
};
/** The Lease of a controller. */
export const lease = {
  ...{ holder: 'dustpan-controller-1', acquiredTime: minutesAgo(180), renewedTime: minutesAgo(0) },
  ...{ termSeconds: 15, readTime: minutesAgo(0) },
};
export const controller: Controller = {
  ...{ ...workload, kind: 'Deployment', name: 'dustpan-controller', desired: 1, ready: 1 },
  ...{ admissionPolicies: [], noAgents: '', lease },
  leaseName: { namespace: 'dustpan-system', name: 'dustpan-controller' },
};
export const agents: Workload = {
  ...{ ...workload, kind: 'DaemonSet', name: 'dustpan-agent', desired: 2, ready: 2 },
  admissionPolicies: ['own-node'],
};

const node = (name: string): OwnNode => ({
  ...{ name, labels: {}, taintKeys: [], ready: true, readyChangedAtMs: undefined },
});
export const nodes: readonly [OwnNode, OwnNode] = [node('node-1'), node('node-2')];

/** A controller that leads, and agents on both nodes. */
export const installation: Installation = {
  ...{ controllers: [controller], agents: [agents] },
  ...{ pods: [], warnings: [], missingRights: [], blocked: [], unread: [], admissionPolicies: ['own-node'] },
  nodes,
  kinds: (['gcpolicies', 'nodegcreports'] as const).map((name) => ({
    ...{ name, isInstalled: true, unservedVersions: [] },
  })),
};

/** The view of a cluster in which dustpan is installed and works. */
export const statusView = (
  policies: readonly GCPolicy[] | undefined,
  reports: readonly NodeGCReport[] | undefined,
  at = now,
): StatusView => viewOf({ policies, reports, installation, nodes: installation.nodes }, at);
