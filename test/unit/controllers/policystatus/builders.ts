import type { InvalidPolicy, LabelSelector, Policy, RemoveEntry } from '../../../../src/api/policy/policy.ts';
import type { PolicyPassReport } from '../../../../src/api/report/pass-report.ts';
import type { PolicyStatus } from '../../../../src/controllers/policystatus/status.ts';
import type { NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';
import {
  defaultsOf,
  everything,
  minutesAgo,
  nodesRules,
  now,
  policy,
  selectingAll,
} from '../../../builders.ts';

/** A policy for nodes alone. */
export const nodesPolicy = (
  name: string,
  { selector = everything }: { readonly selector?: LabelSelector } = {},
): Policy => policy({ name, pods: undefined, nodes: nodesRules({ nodeSelector: selector }) });

/** A policy with these entries of nodes.imageGC.remove, until a minute from now or their own time. */
export const removingPolicy = (
  name: string,
  entries: readonly (string | RemoveEntry)[],
  over: Partial<Policy> = {},
): Policy => {
  const remove = entries.map((one) =>
    typeof one === 'string' ? { image: one, untilMs: minutesAgo(-1) } : one,
  );
  const nodes = nodesRules({ imageGC: { ...defaultsOf('imageGC'), remove } });
  return policy({ name, pods: undefined, nodes, ...over });
};

/** A fresh report under the policy `default`, without removable objects. */
export const report = (name: string, over: Partial<NodeReportFacts> = {}): NodeReportFacts => ({
  ...{ uid: `report-${name}`, name, resourceVersion: '1' },
  ...{ reportedAtMs: now.getTime(), policyUid: 'uid-default', policyGeneration: 1 },
  ...{ degraded: false, keepListAtRisk: false, holding: false },
  ...{ imagesRemovable: 0, imageBytesRemovable: 0, imageBytesFreed: 0, containersRemovable: 0 },
  ...{ storageWarnings: 0, evictionRequests: 0, requests: [], removeList: [], unmatched: undefined },
  ...over,
});

/** The report of a pass that did everything. */
export const passReport = (over: Partial<PolicyPassReport> = {}): PolicyPassReport => ({
  at: now,
  generation: 1,
  governed: 10,
  terminated: 5,
  due: 2,
  waiting: 1,
  held: 0,
  deleted: 2,
  failed: 0,
  clockUnsure: 0,
  unknownOwners: [],
  unverified: 0,
  missingNodes: 0,
  trippedPercent: undefined,
  hold: undefined,
  ...over,
});

export const broken: InvalidPolicy = {
  name: 'broken',
  uid: 'uid-broken',
  generation: 3,
  priority: 0,
  ...selectingAll,
  problems: ['spec.mode: must be DryRun or Enforce, is "Delete"'],
};

export const conditions = (status: PolicyStatus): string[] =>
  status.conditions.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
