import type {
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageWorkload,
  NodeGCReportStatusUsageWorkloadPart,
} from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { TopFacts } from '../../../../src/commands/top/rows.ts';

export const now = new Date('2026-01-15T12:00:00Z');
export const mib = 1024 ** 2;
export const gib = 1024 ** 3;
const weekSeconds = 7 * 86_400;

type Workload = NodeGCReportStatusUsageWorkload;
type Part = NodeGCReportStatusUsageWorkloadPart;

/** A container without a limit, which used so many MiB. */
export const part = (name: string, highestMib: number | undefined, more: Partial<Part> = {}): Part => ({
  kind: 'container',
  name,
  highestBytes: highestMib === undefined ? undefined : highestMib * mib,
  ...more,
});

/** A Deployment with one pod and the container main, which a week was watched and used as much as the pod. */
export const workload = (name: string, highestMib: number, more: Partial<Workload> = {}): Workload => ({
  ...{ namespace: 'shop', kind: 'Deployment', name, pods: 1, bytes: (highestMib * mib) / 2 },
  ...{ highestBytes: highestMib * mib, highestPod: `${name}-5c7d9-x2x4p`, watchedSeconds: weekSeconds },
  parts: [part('main', highestMib)],
  ...more,
});

/** The report of a node with these workloads, measured a minute ago. */
export const marked = (
  node: string,
  workloads: readonly Workload[] | undefined,
  more: Partial<NodeGCReportStatusUsage> = {},
): TopFacts['reports'][number] => ({
  node,
  reportTime: '2026-01-15T11:59:00Z',
  usage: {
    measuredTime: '2026-01-15T11:59:00Z',
    fileSystems: [
      { name: 'nodefs', capacityBytes: 100 * gib, availableBytes: 50 * gib, usedBytes: 50 * gib },
    ],
    workloads: workloads && [...workloads],
    watchedSeconds: weekSeconds,
    ...more,
  },
});

/** State only what matters. */
export const factsOf = (reports: TopFacts['reports'], more: Partial<TopFacts> = {}): TopFacts => ({
  reports,
  nodes: new Set(reports.map(({ node }) => node)),
  selected: undefined,
  namespace: undefined,
  ...more,
});
