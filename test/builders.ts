import {
  isInvalid,
  type HoldRule,
  type InvalidPolicy,
  type LabelSelector,
  type NodesPolicy,
  type Policy,
  type PodsPolicy,
  type TerminatedPolicy,
  type TtlRule,
} from '../src/api/policy/policy.ts';
import { parsePolicy } from '../src/api/policy/policy-spec.ts';
import { podReason, ttlRuleKey, ttlRuleMatcher } from '../src/api/policy/ttl-rules.ts';
import type { NodeFacts, OwnerRef, PodFacts, PodWait } from '../src/kube/cache/objects.ts';

/** Current time in the tables; ages count backwards from it. */
export const now = new Date('2026-01-15T12:00:00Z');
export const minutesAgo = (minutes: number): number => now.getTime() - minutes * 60_000;

/** A finished pod, or with `phase: 'Running'` a ready one, made an hour ago; state only what matters. `name` may be `namespace/name`. */
export function pod(name: string, over: Partial<PodFacts> = {}): PodFacts {
  const [namespace, own] = name.includes('/') ? name.split('/') : ['default', name];
  return {
    uid: `uid-${name}`,
    name: own ?? name,
    namespace: namespace ?? 'default',
    resourceVersion: '1',
    generation: 1,
    createdAtMs: minutesAgo(60),
    deletionAtMs: undefined,
    deletionGracePeriodSeconds: undefined,
    labels: {},
    ttlAnnotation: undefined,
    controller: undefined,
    finalizers: [],
    nodeName: 'node-1',
    nodeExisted: true,
    ready: over.phase === 'Running',
    phase: 'Succeeded',
    reason: '',
    endedByKubelet: false,
    markedByPodGc: false,
    ends: [],
    ttlRules: new Map(),
    finishedAtMs: undefined,
    finishedByMs: undefined,
    wait: undefined,
    partlyEnded: undefined,
    ...over,
  };
}

/** The pods as they are read under these policies: compared with the entries of ttlByReason; of a message nothing matches. */
export const readUnder = (
  policies: readonly (Policy | InvalidPolicy)[] | undefined,
  pods: readonly PodFacts[],
): readonly PodFacts[] => {
  const rules = (policies ?? []).flatMap((one) =>
    isInvalid(one) ? [] : (one.pods?.terminated?.ttlByReason ?? []),
  );
  return rules.length === 0 ? pods : pods.map((one) => comparedWith(rules, one));
};

const comparedWith = (rules: readonly TtlRule[], one: PodFacts): PodFacts => {
  const end = { phase: one.phase, reason: podReason(one), message: '', ends: one.ends };
  const results = rules.map((rule) => [ttlRuleKey(rule), ttlRuleMatcher(rule)(end)] as const);
  return { ...one, ttlRules: new Map([...results, ...one.ttlRules]) };
};

/** Why a pod has not started. */
export const podWait = (over: Partial<PodWait> = {}): PodWait => ({
  sinceMs: minutesAgo(60),
  reason: '',
  message: '',
  image: '',
  container: '',
  initEnd: undefined,
  isWorking: false,
  ...over,
});

/** Not long enough to be stuck. */
export const terminating = { deletionAtMs: minutesAgo(5), deletionGracePeriodSeconds: 30 } as const;
/** Deleted with grace 0, held by a finalizer. */
export const finalizerHeld = {
  deletionAtMs: minutesAgo(5),
  deletionGracePeriodSeconds: 0,
  finalizers: ['example.com/backup'],
} as const;

export const owner = (kind: string, name: string): OwnerRef => ({
  apiVersion: ['Job', 'CronJob'].includes(kind) ? 'batch/v1' : 'apps/v1',
  kind,
  name,
  uid: `uid-${kind}-${name}`,
});

export const node = (name: string, over: Partial<NodeFacts> = {}): NodeFacts => ({
  uid: `uid-${name}`,
  name,
  resourceVersion: '1',
  labels: {},
  ready: true,
  readyChangedAtMs: undefined,
  taintKeys: [],
  containerRuntimeVersion: '',
  podSlots: undefined,
  ...over,
});

export const everything: LabelSelector = { matchLabels: {}, matchExpressions: [] };
export const labelled = (key: string, value: string): LabelSelector => ({
  matchLabels: { [key]: value },
  matchExpressions: [],
});

export const terminatedRule = (over: Partial<TerminatedPolicy> = {}): TerminatedPolicy => ({
  threshold: 12500,
  perNamespaceThreshold: undefined,
  ttlAfterFinishedMs: undefined,
  ttlByReason: [],
  honorTTLAnnotation: false,
  keepPerOwner: 0,
  keepPerOwnerByPhase: { succeeded: 0, failed: 0 },
  protectUnfinishedJobs: false,
  ...over,
});

export const everyPod = {
  ...{ namespaceSelector: everything, podSelector: everything },
  excludeNamespaces: new Set<string>(),
};
/** What an invalid policy selects whose mode or priority cannot be read. */
export const selectingAll = { pods: everyPod, nodes: { nodeSelector: everything } };

export const noHold: HoldRule = { above: 0, forMs: 0 };

const podsPolicy = (over: Partial<PodsPolicy> = {}): PodsPolicy => ({
  ...everyPod,
  terminated: undefined,
  orphaned: undefined,
  unscheduledTerminating: false,
  outOfService: false,
  safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 100 },
  hold: noHold,
  ...over,
});

/** Of every node, each rule off but those given. */
export const nodesRules = (over: Partial<NodesPolicy> = {}): NodesPolicy => ({
  nodeSelector: everything,
  excludeNamespaces: new Set<string>(),
  respectDoNotDisrupt: true,
  imageGC: undefined,
  containerGC: undefined,
  orphans: undefined,
  checkpoints: undefined,
  leftovers: undefined,
  localStorageEviction: undefined,
  nodePressure: undefined,
  namespaceBudgets: [],
  ...over,
});

/** An enforcing policy that governs every pod. */
export const policy = (
  over: Partial<Omit<Policy, 'pods'>> & { pods?: Partial<PodsPolicy> | undefined } = {},
): Policy => {
  const name = over.name ?? 'default';
  return {
    uid: `uid-${name}`,
    generation: 1,
    rulesId: `rules-${name}`,
    skipHoldOf: undefined,
    mode: 'Enforce',
    priority: 0,
    nodes: undefined,
    ...over,
    name,
    pods: 'pods' in over && over.pods === undefined ? undefined : podsPolicy(over.pods),
  };
};

type Block = Exclude<keyof NodesPolicy, 'nodeSelector' | 'excludeNamespaces' | 'namespaceBudgets'>;

/** A rule for nodes with the defaults of the CRD. */
export function defaultsOf<B extends Block>(block: B): NonNullable<NodesPolicy[B]> {
  const parsed = parsePolicy({ metadata: { name: 'defaults' }, spec: { nodes: { [block]: {} } } });
  const rule = isInvalid(parsed) ? undefined : parsed.nodes?.[block];
  if (rule === undefined) throw new Error(`nodes.${block} has no defaults`);
  return rule;
}
