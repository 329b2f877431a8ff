import type { LabelSelector, Policy } from '../../../../src/api/policy/policy.ts';
import type { NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';
import { everything, nodesRules, now, policy } from '../../../builders.ts';

/** A policy for nodes alone. */
export const nodesPolicy = (
  name: string,
  { selector = everything }: { readonly selector?: LabelSelector } = {},
): Policy => policy({ name, pods: undefined, nodes: nodesRules({ nodeSelector: selector }) });

/** A fresh report under the policy `default`, without removable objects. */
export const report = (name: string, over: Partial<NodeReportFacts> = {}): NodeReportFacts => ({
  ...{ uid: `report-${name}`, name, resourceVersion: '1' },
  ...{ reportedAtMs: now.getTime(), policyUid: 'uid-default', policyGeneration: 1 },
  ...{ degraded: false, keepListAtRisk: false },
  ...{ imagesRemovable: 0, imageBytesRemovable: 0, imageBytesFreed: 0, containersRemovable: 0 },
  ...{ storageWarnings: 0, evictionRequests: 0, requests: [] },
  ...over,
});
