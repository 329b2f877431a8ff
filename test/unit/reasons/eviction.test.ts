import { expect, test } from 'vitest';
import { evictionKeepReasons, type EvictionKeepReason } from '../../../src/api/reasons.ts';
import type {
  DeferralReason,
  EvictionFacts,
  EvictionMemory,
} from '../../../src/controllers/eviction/facts.ts';
import { noMemory } from '../../../src/controllers/eviction/memory.ts';
import { planEvictions } from '../../../src/controllers/eviction/plan.ts';
import { explain } from '../../../src/gc/reasons/entry.ts';
import { evictionReasons, type EvictionPace } from '../../../src/gc/reasons/evictions.ts';
import { node, now, pod, terminating } from '../../builders.ts';
import {
  evictionRequest,
  byUid,
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
} from '../controllers/eviction/builders.ts';

const deferred = (reason: DeferralReason): Partial<EvictionFacts> => ({
  memory: { ...noMemory, deferred: new Map([['uid-a', { reason, tries: 1, untilMs: 1 }]]) },
});

/** Facts with which the controller refuses to evict, by reason. */
const reached: Readonly<Record<EvictionKeepReason, Partial<EvictionFacts>>> = {
  PodGone: { pods: new Map() },
  PodMoved: { pods: byUid(pod('a', { ...running, nodeName: 'node-2' })) },
  RequestStale: { reports: [reportOf('node-1', evictionRequest('a', { observedAtMs: 0 }))] },
  PolicyChanged: { reports: [reportOf('node-1', evictionRequest('a', { observedBytes: 1 }))] },
  KeepMarked: { nodes: new Map([['node-1', node('node-1', { labels: keepLabel })]]) },
  NamespaceExcluded: {},
  CriticalPod: { memory: { ...noMemory, critical: new Set(['uid-a']) } },
  Finished: { pods: byUid(pod('a')) },
  Terminating: { pods: byUid(pod('a', { ...running, ...terminating })) },
  PacingLimit: {
    reports: [reportOf('node-1', pressureRequest('a'))],
    memory: { ...noMemory, firstPause: { untilMs: 1, measuredAfterMs: 0 } },
  },
  NothingFreed: {
    reports: [reportOf('node-1', pressureRequest('a'))],
    memory: { ...noMemory, relief: new Map([['node-1', inVain]]) },
  },
  BudgetBlocked: deferred('BudgetBlocked'),
  EvictionForbidden: deferred('EvictionForbidden'),
  EvictionFailed: deferred('EvictionFailed'),
  NamespaceUnknown: { namespaces: new Map() },
  NodeUnknown: { nodes: new Map() },
};

test.each(Object.entries(reached))('the controller keeps a pod: %s', (reason, over) => {
  const policy = reason === 'NamespaceExcluded' ? excluding('default') : pressurePolicy();
  const given = { policies: [policy], now, monotonicMs: 0 };
  expect(planEvictions(facts(over), given)).toMatchObject([{ verdict: 'Keep', reason }]);
});

const labels = keepLabel;
test.each<{ readonly on: string; readonly over: Partial<EvictionFacts> }>([
  { on: 'node node-1', over: { nodes: new Map([['node-1', node('node-1', { labels })]]) } },
  { on: 'namespace default', over: { namespaces: new Map([['default', namespace('default', labels)]]) } },
  { on: 'the pod', over: { pods: byUid(pod('a', { ...running, labels })) } },
])('explains where the keep label is: $on', ({ on, over }) => {
  const given = { policies: [evictPolicy()], now, monotonicMs: 0 };
  const [decision] = planEvictions(facts(over), given);
  if (decision?.verdict !== 'Keep') throw new Error('it is not kept');
  expect(explain(evictionReasons, decision)).toEqual({
    detail:
      'Usage of EmptyDir volume "cache" exceeds the limit "100Mi". It uses 130 MiB, 130 % of the limit 100Mi. ' +
      'The agent of its node requests the eviction (usage measured at 2026-01-15T11:59:00Z). ' +
      `But the label gc.dustpan.dev/keep is on ${on}.`,
    field: 'metadata.labels["gc.dustpan.dev/keep"]',
  });
});

/** One eviction in this minute, of the owner of pod a. */
const onePace = {
  ...{ count: 1, lastMs: 0, sinceMs: now.getTime(), strikes: 0, isStruck: false },
  reportedStrikes: undefined,
};
const maxPerMinute = 'nodes.localStorageEviction.maxEvictionsPerMinute';

test.each<{
  readonly pace: EvictionPace;
  readonly memory: Partial<EvictionMemory>;
  readonly report?: EvictionFacts['reports'][number];
  readonly detail: string;
  readonly field?: string;
}>([
  {
    pace: 'owner',
    memory: { owners: new Map([['default/a', onePace]]) },
    detail:
      "The controller evicts at most a tenth of an owner's pods (at least one) a minute, and fewer while its replacements are due again.",
  },
  {
    pace: 'cluster',
    memory: { evictedAtMs: Array.from({ length: 10 }, () => 0) },
    detail: `The controller has evicted as many pods in the last minute as ${maxPerMinute} allows.`,
    field: maxPerMinute,
  },
  {
    pace: 'node',
    memory: { pauses: new Map([['node-1', { untilMs: 1, measuredAfterMs: 0 }]]) },
    report: reportOf('node-1', pressureRequest('a')),
    detail:
      "For node pressure the controller evicts at most one pod per minute and node, in the agent's order, and waits for terminating pods.",
  },
  {
    pace: 'leader',
    memory: { firstPause: { untilMs: 1, measuredAfterMs: 0 } },
    detail:
      'The controller has just become leader and evicts no pod for a minute, because the leader before may just have evicted some.',
  },
])('explains what a due pod waits for: $pace', ({ pace, memory, report, detail, field }) => {
  const over = { memory: { ...noMemory, ...memory }, ...(report && { reports: [report] }) };
  const given = { policies: [pressurePolicy()], now, monotonicMs: 0 };
  const [decision] = planEvictions(facts(over), given);
  if (decision?.verdict !== 'Keep') throw new Error('it is not kept');
  expect(decision).toMatchObject({ reason: 'PacingLimit', evidence: { pace } });
  const explained = explain(evictionReasons, decision);
  expect(explained.detail.endsWith(`(usage measured at 2026-01-15T11:59:00Z). ${detail}`)).toBe(true);
  expect(explained.field).toBe(field);
});

test('every reason has a row', () => {
  expect(Object.keys(reached).sort()).toEqual([...evictionKeepReasons].sort());
});
