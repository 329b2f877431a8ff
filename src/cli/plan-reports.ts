import type { NodeReportFacts } from '../kube/node-report-facts.ts';
import { formatRfc3339 } from '../runtime/rfc3339.ts';
import type { Totals } from './plan-document.ts';

/** What a node's own report tells of it: sums, no objects. */
export function reportTotals(report: NodeReportFacts): readonly Totals[] {
  const { reportedAtMs, degraded } = report;
  const common = {
    ...{ node: report.name, planned: null, kept: null, waiting: null, reasons: {} },
    ...(degraded && { state: 'Degraded' }),
    reportedAt: reportedAtMs === undefined ? null : formatRfc3339(new Date(reportedAtMs)),
  };
  return [
    {
      unit: 'imagegc',
      ...common,
      removable: report.imagesRemovable,
      removableBytes: report.imageBytesRemovable,
    },
    { unit: 'containergc', ...common, removable: report.containersRemovable },
  ];
}
