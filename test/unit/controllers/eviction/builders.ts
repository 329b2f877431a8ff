import type { EvictionRequest, PressureRequest } from '../../../../src/api/local-storage.ts';
import type { LocalStoragePolicy, NodePressurePolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type {
  EvictionFacts,
  EvictionMemory,
  NodeRelief,
  RequestingNode,
} from '../../../../src/controllers/eviction/facts.ts';
import { noMemory } from '../../../../src/controllers/eviction/memory.ts';
import type { NamespaceFacts, PodFacts } from '../../../../src/kube/cache/objects.ts';
import { PodRecord, type PodTraits } from '../../../../src/kube/cache/pod-record.ts';
import { SharedValues } from '../../../../src/kube/codec/shared-values.ts';
import { defaultsOf, everything, node, nodesRules, now, pod, policy } from '../../../builders.ts';
import { pressurePolicy as pressureRule, thresholds } from '../../agent/nodepressure/builders.ts';

export const mebibyte = 1024 ** 2;
export const keepLabel = { 'gc.dustpan.dev/keep': 'true' };

/** A policy that evicts on every node, without rules for pods. */
export const evictPolicy = (
  over: Partial<LocalStoragePolicy> = {},
  policyOver: Partial<Pick<Policy, 'name' | 'mode' | 'priority'>> & {
    readonly selector?: typeof everything;
  } = {},
): Policy => {
  const { selector = everything, ...rest } = policyOver;
  const rule: LocalStoragePolicy = { ...defaultsOf('localStorageEviction'), ...over };
  return policy({
    ...rest,
    pods: undefined,
    nodes: nodesRules({ nodeSelector: selector, localStorageEviction: rule }),
  });
};

/** A policy that evicts for node pressure and for limits on every node. */
export const pressurePolicy = (
  over: Partial<NodePressurePolicy> = {},
  policyOver: Parameters<typeof evictPolicy>[1] = {},
): Policy => {
  const evicting = evictPolicy({}, policyOver);
  const nodePressure = pressureRule({
    thresholds: thresholds({
      'nodefs.available': '15%',
      'nodefs.inodesFree': '10%',
      'memory.available': '500Mi',
    }),
    ...{ forecastMs: undefined, ...over },
  });
  return { ...evicting, nodes: nodesRules({ ...evicting.nodes, nodePressure }) };
};

/** The pressure policy, without evictions in a namespace. */
export function excluding(namespace: string): Policy {
  const by = pressurePolicy();
  return { ...by, nodes: nodesRules({ ...by.nodes, excludeNamespaces: new Set([namespace]) }) };
}

/** A request for the pod `name`, which uses 90 MiB of the disk of its node; 100 MiB are available there, the threshold is 150 MiB. */
export const pressureRequest = (name: string, over: Partial<PressureRequest> = {}): EvictionRequest =>
  evictionRequest(name, {
    ...{ signal: 'nodefs.available', subject: undefined },
    ...{ observedBytes: 90 * mebibyte, limitBytes: 10 * mebibyte },
    shortage: { available: 100 * mebibyte, threshold: 150 * mebibyte },
    ...over,
  });

const vain = { signal: 'nodefs.available', available: 100 * mebibyte, used: 90 * mebibyte } as const;
/** Three evictions after which a node has as little as `pressureRequest` reports. */
export const inVain: NodeRelief = { evictions: [vain, vain, vain], requestedMs: 0, isReported: false };

/** A request for the pod `name`, whose emptyDir uses 130 MiB of 100, measured a minute ago. `name` may be `namespace/name`. */
export function evictionRequest(name: string, over: Partial<EvictionRequest> = {}): EvictionRequest {
  const [namespace, own] = name.includes('/') ? name.split('/') : ['default', name];
  return {
    pod: { namespace: namespace ?? 'default', name: own ?? name, uid: `uid-${name}` },
    ...{ signal: 'emptydirfs.limit', subject: 'cache' },
    ...{ observedBytes: 130 * mebibyte, limitBytes: 100 * mebibyte, shortage: undefined },
    ...{ observedAtMs: now.getTime() - 60_000, gracePeriodSeconds: undefined },
    ...over,
  };
}

/** The requests of a node, by the policy `default`. */
export const reportOf = (name: string, ...requests: readonly EvictionRequest[]): RequestingNode => ({
  ...{ name, policyUid: 'uid-default', policyGeneration: 1, requests },
});

/** The memory of pods that were evicted at the time 0. */
export const evictedAt0 = (...uids: readonly string[]): EvictionMemory['evicted'] =>
  new Map(uids.map((uid) => [uid, { atMs: 0, requestedGraceSeconds: undefined }]));

export const running = { phase: 'Running' } as const;
export const namespace = (name: string, labels: Record<string, string> = {}): NamespaceFacts => ({
  ...{ uid: `uid-${name}`, name, resourceVersion: '1', labels },
});

/** node-1 requests the eviction of the pod `a`, which runs there. */
export const facts = (over: Partial<EvictionFacts> = {}): EvictionFacts => ({
  reports: [reportOf('node-1', evictionRequest('a'))],
  pods: byUid(pod('a', running)),
  nodes: new Map([
    ['node-1', node('node-1')],
    ['node-2', node('node-2')],
  ]),
  namespaces: new Map([['default', namespace('default')]]),
  ...{ memory: noMemory, replicas: new Map() },
  ...over,
});

/** The pods as the cache has them: their phase is a getter. */
export const recorded = (pods: ReadonlyMap<string, PodFacts>): Map<string, PodFacts> => {
  const traits = new SharedValues<PodTraits>();
  return new Map([...pods].map(([uid, one]) => [uid, new PodRecord(one, traits)]));
};

export const byUid = <T extends { readonly uid: string }>(...items: readonly T[]): Map<string, T> =>
  new Map(items.map((item) => [item.uid, item]));
