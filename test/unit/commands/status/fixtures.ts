import type {
  GCPolicy,
  GCPolicyStatus,
  GCPolicyStatusCondition,
} from '../../../../src/api/gen/gcpolicy.gen.ts';
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
