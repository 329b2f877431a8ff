import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { rankPolicies } from '../../../../src/api/policy/matching.ts';
import type {
  RequestingNode,
  EvictionDecision,
  EvictionFacts,
} from '../../../../src/controllers/eviction/facts.ts';
import { noMemory } from '../../../../src/controllers/eviction/memory.ts';
import { planEvictions } from '../../../../src/controllers/eviction/plan.ts';
import { everything, labelled, minutesAgo, node, now, pod, selectingAll } from '../../../builders.ts';
import { worlds } from '../../../worlds.ts';
import {
  evictionRequest,
  byUid,
  evictedAt0,
  evictPolicy,
  keepLabel,
  mebibyte,
  namespace,
} from './builders.ts';

const podNames = ['a', 'b', 'c', 'd', 'e', 'f'];
const nodeNames = ['node-1', 'node-2', 'node-3'];
const rarely = (n: number) => fc.noBias(fc.integer({ min: 0, max: n })).map((one) => one === 0);
const monotonicMs = 1_000;
const namespaceOf = (podName: string): string => (podName < 'd' ? 'default' : 'shop');

const pods = fc
  .tuple(
    ...podNames.map((name) =>
      fc
        .record({
          exists: rarely(9).map((not) => !not),
          isRecreated: rarely(9),
          nodeName: fc.constantFrom('node-1', 'node-1', 'node-1', 'node-2', undefined),
          phase: fc.constantFrom(
            'Running',
            'Running',
            'Running',
            'Pending',
            'Unknown',
            'Succeeded',
            'Failed',
          ),
          isKept: rarely(9),
          isTerminating: rarely(9),
        })
        .map(({ exists, isRecreated, isKept, isTerminating, ...over }) =>
          exists
            ? [
                pod(`${namespaceOf(name)}/${name}`, {
                  ...over,
                  uid: isRecreated ? `uid-new-${name}` : `uid-${name}`,
                  labels: isKept ? keepLabel : {},
                  deletionAtMs: isTerminating ? minutesAgo(1) : undefined,
                }),
              ]
            : [],
        ),
    ),
  )
  .map((list) => list.flat());

/** Usage around the limit of 100 MiB, about as often above as below it. */
const request = fc
  .record({
    isOfAnother: rarely(9),
    usedMb: fc.integer({ min: 60, max: 200 }),
    ageSeconds: fc.constantFrom(-61, -60, 0, 30, 60, 60, 90, 120, 360, 361),
  })
  .map(({ isOfAnother, usedMb, ageSeconds }) => ({
    isOfAnother,
    over: { observedBytes: usedMb * mebibyte, observedAtMs: now.getTime() - ageSeconds * 1000 },
  }));

/** The report of one node, with at most one request per pod, as agents write it. */
const reportOf = (name: string): fc.Arbitrary<RequestingNode> =>
  fc
    .record({
      policyUid: fc.constantFrom('uid-default', 'uid-default', 'uid-default', 'uid-default', 'uid-other'),
      policyGeneration: fc.constantFrom(1, 1, 1, 1, 1, 2),
      requested: fc.subarray(podNames, { minLength: 2 }),
      each: fc.array(request, { minLength: podNames.length, maxLength: podNames.length }),
    })
    .map(({ requested, each, ...report }) => ({
      ...report,
      name,
      requests: requested.flatMap((podName, i) => {
        const { isOfAnother = false, over = {} } = each[i] ?? {};
        const namespaceAsked = isOfAnother ? 'elsewhere' : namespaceOf(podName);
        const uid = `uid-${podName}`;
        return [
          evictionRequest(podName, { ...over, pod: { namespace: namespaceAsked, name: podName, uid } }),
        ];
      }),
    }));

const facts: fc.Arbitrary<EvictionFacts> = fc
  .noBias(
    fc.record({
      reports: fc.tuple(...nodeNames.map(reportOf)),
      pods,
      keptNodes: rarely(6).map((is) => (is ? ['node-1'] : [])),
      labelledNodes: fc.subarray(nodeNames),
      unknownNodes: rarely(3).map((is) => (is ? ['node-2'] : [])),
      shop: fc.constantFrom('there', 'there', 'kept', 'unknown'),
      memory: fc.record({
        evicted: fc.subarray(podNames, { maxLength: 1 }),
        critical: fc.subarray(podNames, { maxLength: 1 }),
        deferred: fc.subarray(podNames, { maxLength: 2 }),
        untilMs: fc.constantFrom(monotonicMs, monotonicMs + 1),
      }),
    }),
  )
  .map(({ reports, pods: listed, keptNodes, labelledNodes, unknownNodes, shop, memory }) => ({
    reports,
    pods: byUid(...listed),
    nodes: new Map(
      nodeNames
        .filter((name) => !unknownNodes.includes(name))
        .map((name) => [
          name,
          node(name, {
            labels: {
              ...(keptNodes.includes(name) ? keepLabel : {}),
              ...(labelledNodes.includes(name) ? { pool: 'x' } : {}),
            },
          }),
        ]),
    ),
    namespaces: new Map(
      [
        namespace('default'),
        ...(shop === 'unknown' ? [] : [namespace('shop', shop === 'kept' ? keepLabel : {})]),
      ].map((one) => [one.name, one]),
    ),
    replicas: new Map(),
    memory: {
      ...noMemory,
      evicted: evictedAt0(...memory.evicted.map((name) => `uid-${name}`)),
      critical: new Set(memory.critical.map((name) => `uid-${name}`)),
      deferred: new Map(
        memory.deferred.map((name) => [
          `uid-${name}`,
          { reason: 'BudgetBlocked' as const, tries: 1, untilMs: memory.untilMs },
        ]),
      ),
    },
  }));

const policies: fc.Arbitrary<readonly (Policy | InvalidPolicy)[]> = fc
  .noBias(
    fc.record({
      evictAtPercent: fc.integer({ min: 60, max: 100 }),
      isDryRun: rarely(8),
      selects: fc.constantFrom('all', 'all', 'all', 'pool'),
      hasInvalid: rarely(8),
      hasOther: fc.boolean(),
    }),
  )
  .map(({ evictAtPercent, isDryRun, selects, hasInvalid, hasOther }) => {
    const selector = selects === 'all' ? everything : labelled('pool', 'x');
    const mode = isDryRun ? ('DryRun' as const) : ('Enforce' as const);
    const invalid: InvalidPolicy = {
      ...{ name: 'broken', uid: 'uid-broken', generation: 1, priority: 100 },
      ...selectingAll,
      problems: ['spec.nodes: nonsense'],
    };
    return rankPolicies([
      evictPolicy({ evictAtPercent }, { selector, mode }),
      ...(hasInvalid ? [invalid] : []),
      ...(hasOther ? [evictPolicy({ evictAtPercent: 1 }, { name: 'other', priority: -1 })] : []),
    ]);
  });

type Policies = readonly (Policy | InvalidPolicy)[];
const decide = (seen: EvictionFacts, given: Policies): readonly EvictionDecision[] =>
  planEvictions(seen, { policies: given, now, monotonicMs });
const evictions = (seen: EvictionFacts, given: Policies) =>
  decide(seen, given).flatMap((one) => (one.verdict === 'Evict' ? [one] : []));
/** A test that this holds in random clusters, each under random policies. */
function testClusters(title: string, check: (seen: EvictionFacts, given: Policies) => void): void {
  test(title, () => fc.assert(fc.property(facts, policies, check), worlds));
}

const lineOf = (one: EvictionDecision): string =>
  `${one.target.node} ${one.target.uid} ${one.verdict === 'Evict' ? `Evict by ${one.policy.name}` : one.reason}`;

testClusters(
  'evicts only requested pods on the requesting node that nothing forbids to evict',
  (seen, given) => {
    for (const { target } of evictions(seen, given)) {
      const { node: requester, request: requested } = target;
      const found = seen.pods.get(requested.pod.uid);
      expect(found).toMatchObject({
        ...requested.pod,
        nodeName: requester,
        labels: {},
        deletionAtMs: undefined,
      });
      expect(['Pending', 'Running', 'Unknown']).toContain(found?.phase);
      expect(seen.namespaces.get(requested.pod.namespace)?.labels).toEqual({});
      expect(seen.nodes.get(requester)?.labels).not.toHaveProperty(['gc.dustpan.dev/keep']);
      expect(seen.memory.critical.has(requested.pod.uid)).toBe(false);
      expect(seen.memory.evicted.has(requested.pod.uid)).toBe(false);
      expect(seen.memory.deferred.get(requested.pod.uid)?.untilMs ?? 0).toBeLessThanOrEqual(monotonicMs);
    }
  },
);

testClusters(
  'evicts only under the enforced policy that the agent applied, over its limit, by a fresh measurement',
  (seen, given) => {
    for (const { target, policy } of evictions(seen, given)) {
      const { node: requester, request: requested } = target;
      const rule = policy.nodes?.localStorageEviction ?? { evictAtPercent: NaN };
      expect(given.find((one) => 'problems' in one)).toBeUndefined();
      const isInPool = seen.nodes.get(requester)?.labels['pool'] === 'x';
      const first = given.find(
        (one) => 'nodes' in one && (isInPool || one.nodes?.nodeSelector === everything),
      );
      expect(policy).toBe(first);
      expect(policy.mode).toBe('Enforce');
      const report = seen.reports.find(({ name }) => name === requester);
      expect(report).toMatchObject({ policyUid: policy.uid, policyGeneration: policy.generation });
      expect(requested.observedBytes * 100).toBeGreaterThan(requested.limitBytes * rule.evictAtPercent);
      const ageMs = now.getTime() - requested.observedAtMs;
      expect(ageMs).toBeLessThanOrEqual(6 * 60_000);
      expect(ageMs).toBeGreaterThanOrEqual(-60_000);
    }
  },
);

testClusters(
  'evicts each requested pod at most once, the most excessive first; every request has one decision',
  (seen, given) => {
    const decisions = decide(seen, given);
    const requested = seen.reports.flatMap(({ name, requests }) =>
      requests.map((one) => `${name} ${one.pod.uid}`),
    );
    expect(decisions.map((one) => `${one.target.node} ${one.target.uid}`).sort()).toEqual(requested.sort());
    const gone = evictions(seen, given).map(({ target }) => target.request);
    expect(new Set(gone.map(({ pod: { uid } }) => uid)).size).toBe(gone.length);
    const used = gone.map(({ observedBytes }) => observedBytes);
    expect(used).toEqual(used.toSorted((a, b) => b - a));
  },
);

test('the order of reports, requests and caches changes neither decisions nor the order of evictions', () => {
  const shuffled = facts.chain((seen) =>
    fc
      .record({
        reports: fc.shuffledSubarray(
          seen.reports.map((report) => ({ ...report, requests: report.requests.toReversed() })),
          { minLength: seen.reports.length },
        ),
        pods: fc
          .shuffledSubarray([...seen.pods], { minLength: seen.pods.size })
          .map((entries) => new Map(entries)),
      })
      .map((other) => ({ seen, other: { ...seen, ...other } })),
  );
  fc.assert(
    fc.property(shuffled, policies, ({ seen, other }, given) => {
      expect(evictions(other, given).map(lineOf)).toEqual(evictions(seen, given).map(lineOf));
      expect(decide(other, given).map(lineOf).sort()).toEqual(decide(seen, given).map(lineOf).sort());
    }),
    worlds,
  );
});

test('evicts no pod again: remembered, seen terminating, or gone', () => {
  fc.assert(
    fc.property(facts, policies, fc.constantFrom('remembered', 'terminating', 'gone'), (seen, given, how) => {
      const uids = new Set(evictions(seen, given).map(({ target }) => target.uid));
      const evicted = new Map([...seen.memory.evicted, ...evictedAt0(...uids)]);
      const terminating = [...seen.pods].map(
        ([uid, one]) => [uid, uids.has(uid) ? { ...one, deletionAtMs: now.getTime() } : one] as const,
      );
      const after: Record<typeof how, EvictionFacts> = {
        remembered: { ...seen, memory: { ...seen.memory, evicted } },
        terminating: { ...seen, pods: new Map(terminating) },
        gone: { ...seen, pods: new Map([...seen.pods].filter(([uid]) => !uids.has(uid))) },
      };
      expect(evictions(after[how], given).map(lineOf)).toEqual([]);
    }),
    worlds,
  );
});

test('the random clusters are such that some pod is evicted in many of them', () => {
  const samples = fc.sample(fc.tuple(facts, policies), worlds.numRuns);
  const evicting = samples.filter(([seen, given]) => evictions(seen, given).length > 0);
  expect(evicting.length).toBeGreaterThan(worlds.numRuns / 10);
});
