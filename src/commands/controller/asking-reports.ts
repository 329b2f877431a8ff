import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import type { Resource } from '../../kube/cache/resources.ts';

/** Knows whether any report asks for an eviction without a look at each of thousands whenever one changes: who asks has been read since the last look that found nobody. */
export class AskingReports {
  /** Some report that was read since nobody asked does. */
  #mayAsk = false;

  /** The same reports; each that is read is seen here. */
  seeing(resource: Resource<NodeReportFacts>): Resource<NodeReportFacts> {
    const { codec } = resource;
    const see = (report: NodeReportFacts): NodeReportFacts => {
      this.#mayAsk ||= report.requests.length > 0;
      return report;
    };
    return {
      ...resource,
      codec: {
        fromProtobuf: (bytes, known) => see(codec.fromProtobuf(bytes, known)),
        fromJson: (json, known) => see(codec.fromJson(json, known)),
      },
    };
  }

  /** `reports` are those that were read as `seeing` says, as they are now. */
  isAny(reports: ReadonlyMap<string, NodeReportFacts>): boolean {
    if (this.#mayAsk) this.#mayAsk = someAsks(reports);
    return this.#mayAsk;
  }
}

function someAsks(reports: ReadonlyMap<string, NodeReportFacts>): boolean {
  for (const { requests } of reports.values()) if (requests.length > 0) return true;
  return false;
}
