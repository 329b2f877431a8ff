import type { Policy } from '../../../../src/api/policy/policy.ts';
import { evictionKeepReasons, type EvictionKeepReason } from '../../../../src/api/reasons.ts';
import { explained, unitPlan } from '../../../../src/evaluation/plan/document.ts';
import type {
  DeferralReason,
  EvictionFacts,
  EvictionMemory,
} from '../../../../src/controllers/eviction/facts.ts';
import { noMemory } from '../../../../src/controllers/eviction/memory.ts';
import { planEvictions } from '../../../../src/controllers/eviction/plan.ts';
import { explainEviction } from '../../../../src/controllers/eviction/words.ts';
import { node, now, pod, terminating } from '../../../builders.ts';
import {
  byUid,
  evictionRequest,
  evictPolicy,
  excluding,
  facts,
  inVain,
  keepLabel,
  namespace,
  pressurePolicy,
  pressureRequest,
  reportOf,
  running,
} from '../../controllers/eviction/builders.ts';
import { casesOf, explainedDecisions, testReasons, type Cases } from './catalogue.ts';

/** What differs from a due request for the pod `a` of node-1. */
interface Case extends Partial<EvictionFacts> {
  readonly policy?: Policy;
}

const remembering = (memory: Partial<EvictionMemory>, over: Case = {}): Case => ({
  ...over,
  memory: { ...noMemory, ...memory },
});
const deferred = (reason: DeferralReason): Case =>
  remembering({ deferred: new Map([['uid-a', { reason, tries: 1, untilMs: 1 }]]) });
const requesting = (...requests: Parameters<typeof reportOf>[1][]): Case => ({
  reports: [reportOf('node-1', ...requests)],
});
const pressed = requesting(pressureRequest('a'));
const pause = { untilMs: 1, measuredAfterMs: 0 };
const evictedOnce = {
  ...{ count: 1, allowance: 1, lastMs: 0, sinceMs: now.getTime(), strikes: 0, isStruck: false },
  reportedStrikes: undefined,
};
const ofNode = (labels: Record<string, string>): Case => ({
  nodes: new Map([['node-1', node('node-1', { labels })]]),
});

const planned: Cases<EvictionKeepReason | 'emptydirfs.limit' | 'nodefs.available', Case> = {
  'emptydirfs.limit': {
    'where budgets are ignored': { policy: evictPolicy({ respectPodDisruptionBudgets: false }) },
  },
  'nodefs.available': {
    'as budgets allow': pressed,
  },
  PodGone: { 'not listed': { pods: new Map() } },
  PodMoved: { 'on another node': { pods: byUid(pod('a', { ...running, nodeName: 'node-2' })) } },
  RequestStale: { 'measured long ago': requesting(evictionRequest('a', { observedAtMs: 0 })) },
  PolicyChanged: { 'a higher level': requesting(evictionRequest('a', { observedBytes: 1 })) },
  KeepMarked: {
    'its node': ofNode(keepLabel),
    'its namespace': { namespaces: new Map([['default', namespace('default', keepLabel)]]) },
    'the pod': { pods: byUid(pod('a', { ...running, labels: keepLabel })) },
  },
  NamespaceExcluded: { 'by the policy': { policy: excluding('default') } },
  CriticalPod: { 'as the API server answered': remembering({ critical: new Set(['uid-a']) }) },
  Finished: { succeeded: { pods: byUid(pod('a')) } },
  Terminating: { 'with a grace period': { pods: byUid(pod('a', { ...running, ...terminating })) } },
  PacingLimit: {
    'of its owner': remembering({ owners: new Map([['default/a', evictedOnce]]) }),
    'of its owner, whose last ready pod it is': {
      replicas: new Map([['default/a', { ready: 1, others: 2 }]]),
    },
    'of the cluster': remembering({ evictedAtMs: Array.from({ length: 10 }, () => 0) }),
    'of its node': remembering({ pauses: new Map([['node-1', pause]]) }, pressed),
  },
  NothingFreed: { 'three times': remembering({ relief: new Map([['node-1', inVain]]) }, pressed) },
  BudgetBlocked: { 'by a budget': deferred('BudgetBlocked') },
  DoNotDisrupt: { 'by an annotation': deferred('DoNotDisrupt') },
  EvictionForbidden: { 'by the API server': deferred('EvictionForbidden') },
  EvictionFailed: { 'by an error': deferred('EvictionFailed') },
  NamespaceUnknown: { 'not listed': { namespaces: new Map() } },
  NodeUnknown: { 'not listed': { nodes: new Map() } },
};

testReasons(
  'evictions',
  ['emptydirfs.limit', 'nodefs.available', ...evictionKeepReasons],
  casesOf(planned, ({ policy = pressurePolicy(), ...over }) => {
    const decisions = planEvictions(facts(over), { policies: [policy], now, monotonicMs: 0 });
    const place = { unit: 'eviction', node: 'node-1' } as const;
    const options = { now, kept: true, assumeElapsed: false };
    return explainedDecisions(unitPlan(place, explained(decisions, explainEviction), options).decisions);
  }),
);
