import type { NodeGCReportStatus } from '../../../src/api/gen/nodegcreport.gen.ts';
import { usageReport } from '../top/reports.ts';

export const nodeName = (number: number): string => `node-${String(number).padStart(5, '0')}`;

/** A report at rest with the largest three of each list. */
export function shortReport(number: number, now: Date): NodeGCReportStatus {
  const three = usageReport(number, now, { namespaces: 3, images: 3, workloads: 3 });
  const status = three['status'] as NodeGCReportStatus;
  const condition = (type: string): NonNullable<NodeGCReportStatus['conditions']>[number] => ({
    type,
    status: 'True',
    reason: 'Collecting',
    message: 'The last pass of each unit ended well, and the agent knows its policy, its Node and its pods.',
    lastTransitionTime: now.toISOString(),
  });
  return {
    ...status,
    reportTime: now.toISOString(),
    conditions: ['Ready', 'KeepListAtRisk', 'PressureAhead', 'Degraded'].map(condition),
    usage: status.usage && { ...status.usage, pods: status.usage.pods?.slice(0, 3) },
  };
}
