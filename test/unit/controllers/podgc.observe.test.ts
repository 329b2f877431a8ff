import { expect, test } from 'vitest';
import { noneMissing, observeMissing } from '../../../src/controllers/podgc/nodes.ts';
import { observe, type Caches } from '../../../src/controllers/podgc/observe.ts';
import type { JobFacts, NamespaceFacts, ReplicaSetFacts } from '../../../src/kube/objects.ts';
import { node, owner, pod } from '../../builders.ts';
import { storeOf } from '../../fakes/cluster.ts';
import { terminated } from './podgc.world.ts';

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

/** One pod on one node, one Job, a ReplicaSet of a Deployment and one of nobody. */
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
const memory = { missing: noneMissing, monotonicMs: 5_000, maxGapMs: 1_000 };

test('who finished and who owns is read only for a policy that asks, and Jobs only from a complete list', () => {
  const asking = [terminated({ protectUnfinishedJobs: true, keepPerOwner: 1 })];
  expect(observe(caches(true), asking, memory).facts).toMatchObject({
    jobsFinished: new Map([['uid-Job-j', true]]),
    replicaSetOwners: new Map([['uid-owned', deployment]]),
  });
  expect(observe(caches(false), asking, memory).facts.jobsFinished).toBeUndefined();
  expect(observe(caches(true), [terminated({})], memory).facts).toMatchObject({
    jobsFinished: undefined,
    replicaSetOwners: new Map(),
  });
});

test('nodes that are not known are not missing', () => {
  const pods = [pod('p', { nodeName: 'gone' })];
  const before = { since: new Map([['gone', 1]]), lookedAtMs: 4_900 };
  expect(observeMissing(before, { pods, nodes: undefined }, memory)).toEqual({
    since: new Map(),
    lookedAtMs: 5_000,
  });
  expect(observeMissing(before, { pods, nodes: new Map() }, memory).since).toEqual(new Map([['gone', 1]]));
});
