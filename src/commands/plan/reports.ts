import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';
import type { Totals } from './document.ts';

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
