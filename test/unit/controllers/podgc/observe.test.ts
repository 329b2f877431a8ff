import { expect, test } from 'vitest';
import { PodGcMemory, type Caches } from '../../../../src/controllers/podgc/observe.ts';
import type { JobFacts, ReplicaSetFacts } from '../../../../src/kube/cache/objects.ts';
import { node, now, owner, pod } from '../../../builders.ts';
import { storeOf } from '../../../fakes/cluster.ts';
import { byUid } from '../eviction/builders.ts';
import { observed } from './environment.ts';
import { terminated } from './rows.ts';

const job: JobFacts = {
  uid: 'uid-Job-j',
  name: 'j',
  namespace: 'default',
  resourceVersion: '1',
  controller: owner('CronJob', 'c'),
  finished: true,
};
const replicaSet = (name: string, controller: ReplicaSetFacts['controller']): ReplicaSetFacts => ({
  ...{ uid: `uid-${name}`, name, namespace: 'default', resourceVersion: '1', controller },
});
const deployment = owner('Deployment', 'web');

const none = storeOf(new Map<string, never>());

/** A Job of a CronJob, one of another owner and one without, a ReplicaSet of a Deployment and one without owner. */
const caches = (synced: boolean): Caches => ({
  ...{ pods: none, nodes: none, namespaces: none },
  jobs: () =>
    storeOf(
      byUid(
        job,
        { ...job, uid: 'uid-Job-of-set', controller: owner('JobSet', 's') },
        { ...job, uid: 'uid-Job-bare', controller: undefined },
      ),
      synced,
    ),
  replicaSets: () => storeOf(byUid(replicaSet('owned', deployment), replicaSet('bare', undefined)), synced),
});
const pass = {
  failedBefore: new Map(),
  openBreakers: new Map(),
  storedInForce: new Map(),
  monotonicMs: 5_000,
  wallMs: now.getTime(),
  maxGapMs: 1_000,
};

test('reads Jobs and ReplicaSets only for a policy that needs them, and both only from complete lists', () => {
  const needing = [terminated({ protectUnfinishedJobs: true, keepPerOwner: 1 })];
  const owners = new Map([
    ['uid-owned', deployment],
    ['uid-Job-j', owner('CronJob', 'c')],
  ]);
  expect(new PodGcMemory().observe(caches(true), needing, pass)).toMatchObject({
    jobsFinished: new Map(['j', 'of-set', 'bare'].map((name) => [`uid-Job-${name}`, true])),
    owners,
  });
  expect(new PodGcMemory().observe(caches(false), needing, pass)).toMatchObject({
    jobsFinished: undefined,
    owners: undefined,
  });
  expect(new PodGcMemory().observe(caches(true), [terminated({})], pass)).toMatchObject({
    jobsFinished: undefined,
    owners: new Map(),
  });
});

test('remembers a former node while pods refer to it, and never an invented one', () => {
  const on = (...names: string[]) => names.map((nodeName) => pod(`on-${nodeName}`, { nodeName }));
  const nodesOf = (...names: string[]) => names.map((name) => node(name));
  const memory = new PodGcMemory();
  const seen = (pods: ReturnType<typeof on>, nodes: ReturnType<typeof nodesOf>): readonly string[] =>
    [...observed(memory, { pods, nodes }).seenNodes].sort();
  expect(seen(on('a', 'invented'), nodesOf('a', 'b'))).toEqual(['a', 'b']);
  expect(seen(on('a', 'invented'), nodesOf())).toEqual(['a']);
  expect(seen(on('a', 'b'), nodesOf())).toEqual(['a']);
  expect(seen(on('invented'), nodesOf())).toEqual([]);
  expect(seen(on('a'), nodesOf())).toEqual([]);
});
