import { expect, test } from 'vitest';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import { noneSeen } from '../../../../src/controllers/podgc/finish.ts';
import {
  noneMissing,
  observeMissing,
  rememberClosed,
  type MissingNodes,
} from '../../../../src/controllers/podgc/nodes.ts';
import { observe, type Caches } from '../../../../src/controllers/podgc/observe.ts';
import type { JobFacts, NamespaceFacts, ReplicaSetFacts } from '../../../../src/kube/cache/objects.ts';
import { node, now, owner, pod } from '../../../builders.ts';
import { storeOf } from '../../../fakes/cluster.ts';
import { orphaned, terminated } from './rows.ts';

const job: JobFacts = {
  uid: 'uid-Job-j',
  name: 'j',
  namespace: 'default',
  resourceVersion: '1',
  finished: true,
};
const replicaSet = (name: string, controller: ReplicaSetFacts['controller']): ReplicaSetFacts => ({
  ...{ uid: `uid-${name}`, name, namespace: 'default', resourceVersion: '1', controller },
});
const deployment = owner('Deployment', 'web');

/** One pod on one node, one Job, a ReplicaSet of a Deployment and one without owner. */
const caches = (synced: boolean): Caches => ({
  pods: storeOf(new Map([['p', pod('p')]])),
  nodes: storeOf(new Map([['n', node('node-1')]])),
  namespaces: storeOf(new Map<string, NamespaceFacts>()),
  jobs: () => storeOf(new Map([['j', job]]), synced),
  replicaSets: () =>
    storeOf(
      new Map([
        ['a', replicaSet('owned', deployment)],
        ['b', replicaSet('bare', undefined)],
      ]),
      synced,
    ),
});
const openBreakers = new Map<string, number>();
const memory = {
  ...{ missing: noneMissing, seenFinished: noneSeen, failedBefore: new Map(), openBreakers },
  ...{ inForce: new Map(), storedInForce: new Map() },
  ...{ monotonicMs: 5_000, maxGapMs: 1_000, now },
};

test('reads Jobs and ReplicaSets only for a policy that needs them, and Jobs only from a complete list', () => {
  const needing = [terminated({ protectUnfinishedJobs: true, keepPerOwner: 1 })];
  expect(observe(caches(true), needing, memory).facts).toMatchObject({
    jobsFinished: new Map([['uid-Job-j', true]]),
    replicaSetOwners: new Map([['uid-owned', deployment]]),
  });
  expect(observe(caches(false), needing, memory).facts.jobsFinished).toBeUndefined();
  expect(observe(caches(true), [terminated({})], memory).facts).toMatchObject({
    jobsFinished: undefined,
    replicaSetOwners: new Map(),
  });
});

test('no node is missing while nodes are not known', () => {
  const pods = [pod('p', { nodeName: 'gone' })];
  const before = {
    ...noneMissing,
    ...{ since: new Map([['gone', 1]]), observedAtMs: 4_900, seen: new Set(['gone']) },
  };
  expect(observeMissing(before, { pods, nodes: undefined, openBreakers }, memory)).toEqual({
    since: new Map(),
    observedAtMs: 5_000,
    seen: new Set(['gone']),
    closedSince: new Map(),
    leftOpenSince: new Map(),
  });
  expect(observeMissing(before, { pods, nodes: new Map(), openBreakers }, memory).since).toEqual(
    new Map([['gone', 1]]),
  );
});

test('remembers a former node while pods refer to it, and never an invented one', () => {
  const on = (...names: string[]) => names.map((nodeName) => pod(`on-${nodeName}`, { nodeName }));
  const nodesOf = (...names: string[]) => new Map(names.map((name) => [name, node(name)]));
  let seen: MissingNodes = noneMissing;
  const observed = (pods: ReturnType<typeof on>, nodes: ReturnType<typeof nodesOf>): readonly string[] => {
    seen = observeMissing(seen, { pods, nodes, openBreakers }, memory);
    return [...seen.seen].sort();
  };
  expect(observed(on('a', 'invented'), nodesOf('a', 'b'))).toEqual(['a', 'b']);
  expect(observed(on('a', 'invented'), nodesOf())).toEqual(['a']);
  expect(observed(on('a', 'b'), nodesOf())).toEqual(['a']);
  expect(observed(on('invented'), nodesOf())).toEqual([]);
  expect(observed(on('a'), nodesOf())).toEqual([]);
});

test.each([
  { name: 'no circuit breaker is open', open: [], seen: [] },
  { name: 'the status counts as many as pods prove', open: [1], seen: [] },
  { name: 'the status of one policy counts more', open: [0, 2], seen: ['bare', 'proven'] },
])('a first pass takes missing nodes for former ones if the status counts more: $name', ({ open, seen }) => {
  const pods = [
    pod('a', { nodeName: 'proven' }),
    pod('b', { nodeName: 'bare', nodeExisted: false }),
    pod('c', { nodeName: 'node-1' }),
  ];
  const nodes = new Map([['node-1', node('node-1')]]);
  const breakers = new Map(open.map((missing, i) => [`policy-${i}`, missing]));
  const first = observeMissing(noneMissing, { pods, nodes, openBreakers: breakers }, memory);
  expect([...first.seen].sort()).toEqual([...seen, 'node-1'].sort());
  expect([...first.leftOpenSince]).toEqual(open.map((_, i) => [`policy-${i}`, memory.monotonicMs]));
  const later = { ...memory, monotonicMs: 9_000 };
  const second = observeMissing(first, { pods, nodes, openBreakers: new Map([['late', 9]]) }, later);
  expect(second.leftOpenSince).toEqual(first.leftOpenSince);
});

test('the memory of nodes does not grow over time', () => {
  let seen = noneMissing;
  for (let i = 0; i < 1_000; i++) {
    const nodes = new Map([[`node-${i}`, node(`node-${i}`)]]);
    seen = observeMissing(seen, { pods: [pod('p', { nodeName: 'gone' })], nodes, openBreakers }, memory);
  }
  expect(seen.seen.size + seen.since.size).toBe(2);
});

test('remembers since when the circuit breaker of each policy with the orphan rule is closed', () => {
  const verdicts = (policy: Policy, trippedPercent?: number) => ({
    ...{ policy, trippedPercent },
    ...{ governed: 1, terminated: 0, missingNodes: 1, selected: 0 },
    ...{ holdLeftMs: undefined, holdForMs: 300_000 },
  });
  const passes = [
    { policy: terminated({}), expected: undefined },
    { policy: orphaned(), expected: 1 },
    { policy: orphaned(), expected: 1 },
    { policy: orphaned(), percent: 50, expected: undefined },
    { policy: orphaned(), expected: 4 },
  ];
  let missing = noneMissing;
  for (const [observedAtMs, { policy, percent, expected }] of passes.entries()) {
    missing = rememberClosed({ ...missing, observedAtMs }, [verdicts(policy, percent)]);
    expect(missing.closedSince.get(policy.name)).toBe(expected);
  }
});
