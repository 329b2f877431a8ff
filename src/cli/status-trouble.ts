import type { GCPolicy, GCPolicyStatusCondition } from '../api/gcpolicy.gen.ts';
import type { NodeGCReport } from '../api/nodegcreport.gen.ts';
import { parsePolicy } from '../api/policy.ts';

/** One thing a person should look at, with all it is the trouble of. */
export interface Trouble {
  readonly kind: 'GCPolicy' | 'Node';
  readonly names: readonly string[];
  /** The reason of the condition, or a word of ours. */
  readonly reason: string;
  readonly message: string;
  /** RFC 3339; of several the earliest. null = not known. */
  readonly since: string | null;
}

/** From the worst: what stops everything, what stops something, what may go wrong, what is not known. */
const severities = ['Refused', 'PolicyDegraded', 'NodeDegraded', 'AtRisk', 'Silent', 'Behind'] as const;

interface Found {
  readonly severity: (typeof severities)[number];
  readonly kind: Trouble['kind'];
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string | undefined;
}

/** All that is wrong, worst first; what is said of several in the same words is said once. */
export function troublesOf(
  policies: readonly GCPolicy[],
  reports: readonly NodeGCReport[] | undefined,
  now: Date,
): readonly Trouble[] {
  const found = [
    ...policies.flatMap((policy) => ofPolicy(policy, now)),
    ...(reports ?? []).flatMap((report) => ofNode(report, now)),
  ];
  const areNodesNamed = found.some(({ severity }) => severity === 'NodeDegraded');
  const told = found.filter(({ reason }) => !(reason === 'NodesDegraded' && areNodesNamed));
  return grouped(told.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity)));
}

function ofPolicy(policy: GCPolicy, now: Date): readonly Found[] {
  const about = { kind: 'GCPolicy', name: policy.metadata?.name ?? '' } as const;
  const parsed = parsePolicy(policy);
  if (parsed.kind === 'invalid') {
    const message = `The policy cannot be followed, what it may govern is kept: ${parsed.policy.problems.join('; ')}`;
    const since = conditionOf(policy.status?.conditions, 'Accepted', 'False')?.lastTransitionTime;
    return [{ ...about, severity: 'Refused', reason: 'InvalidPolicy', message, since }];
  }
  const { conditions } = policy.status ?? {};
  return [
    ...saying(about, 'Refused', conditionOf(conditions, 'Accepted', 'False')),
    ...saying(about, 'PolicyDegraded', conditionOf(conditions, 'Degraded', 'True')),
    ...unseen(policy, about, now),
    ...behind(policy, about),
  ];
}

type About = Pick<Found, 'kind' | 'name'>;

/** The controller needs a moment for what was created just now. */
const freshMs = 60_000;

function unseen({ metadata, status }: GCPolicy, about: About, now: Date): readonly Found[] {
  if (status?.observedGeneration !== undefined && status.observedGeneration >= (metadata?.generation ?? 0))
    return [];
  const message = 'The controller has not seen the policy as it is now: is it running?';
  const since = status === undefined ? metadata?.creationTimestamp : undefined;
  if (since !== undefined && now.getTime() - Date.parse(since) < freshMs) return [];
  return [{ ...about, severity: 'Silent', reason: 'NotObserved', message, since }];
}

function behind({ status }: GCPolicy, about: About): readonly Found[] {
  const { desired = 0, upToDate = 0 } = status?.nodes ?? {};
  if (upToDate >= desired) return [];
  const message = `${desired - upToDate} of ${desired} nodes have not reported under this policy: does an agent run on them?`;
  return [{ ...about, severity: 'Behind', reason: 'NodesBehind', message, since: undefined }];
}

/** An agent reports every 5 min; the controller, too, takes three times that for silence. */
const staleMinutes = 15;
const staleMs = staleMinutes * 60_000;

function ofNode({ metadata, status }: NodeGCReport, now: Date): readonly Found[] {
  const about = { kind: 'Node', name: metadata?.name ?? '' } as const;
  const conditions = status?.conditions;
  return [
    ...saying(about, 'NodeDegraded', conditionOf(conditions, 'Degraded', 'True')),
    ...saying(about, 'AtRisk', conditionOf(conditions, 'KeepListAtRisk', 'True')),
    ...silence(about, status?.reportTime ?? metadata?.creationTimestamp, now),
  ];
}

function silence(about: About, since: string | undefined, now: Date): readonly Found[] {
  const at = since === undefined ? undefined : Date.parse(since);
  if (at === undefined || now.getTime() - at <= staleMs) return [];
  const message = `The agent has not reported for more than ${staleMinutes} minutes: is it running?`;
  return [{ ...about, severity: 'Silent', reason: 'Stale', message, since }];
}

type Condition = Pick<GCPolicyStatusCondition, 'reason' | 'message' | 'lastTransitionTime'>;

function saying(
  about: About,
  severity: Found['severity'],
  condition: Condition | undefined,
): readonly Found[] {
  if (condition === undefined) return [];
  const { reason, message, lastTransitionTime: since } = condition;
  return [{ ...about, severity, reason, message, since }];
}

const conditionOf = (
  conditions: readonly GCPolicyStatusCondition[] | undefined,
  type: string,
  status: GCPolicyStatusCondition['status'],
): GCPolicyStatusCondition | undefined =>
  conditions?.find((condition) => condition.type === type && condition.status === status);

function grouped(found: readonly Found[]): readonly Trouble[] {
  const groups = new Map<string, Found[]>();
  for (const one of found) {
    const key = JSON.stringify([one.severity, one.kind, one.reason, one.message]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [troubleOf(first, [first, ...others])],
  );
}

function troubleOf({ kind, reason, message }: Found, all: readonly Found[]): Trouble {
  const times = all.flatMap(({ since }) => since ?? []);
  return {
    ...{ kind, reason, message },
    names: all.map(({ name }) => name).toSorted(),
    since: times.toSorted((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null,
  };
}
