import { expect, test as sequential } from 'vitest';
import { policiesPath } from '../../../src/kube/cache/resources.ts';
import type { SandboxRequest } from '../../sandbox/server.ts';
import { AgentEnvironment, nodesPolicy } from './environment.ts';
import { until } from '../built.ts';

// They wait for passes and polls, each on a node of its own.
const test = sequential.concurrent;

const unused = 'registry.example.com/unused:v1';
const imageGC = { highThresholdPercent: 100, lowThresholdPercent: 80, minimumAge: '0s', maximumAge: '1s' };

const isThere = (bed: AgentEnvironment): boolean =>
  bed.cri.runtime.images.all.some(({ tags }) => tags.includes(unused));

const readsOf = ({ api }: AgentEnvironment): readonly SandboxRequest[] =>
  api.requests.filter(({ path }) => path === policiesPath);
const polls = (bed: AgentEnvironment): number =>
  readsOf(bed).filter(({ query }) => query.get('resourceVersion') === '0').length;
/** The reads of policies right before a removal; the first one checks the rights. */
const liveReads = (bed: AgentEnvironment): number =>
  readsOf(bed).filter(({ query }) => !query.has('resourceVersion') && !query.has('limit')).length;

test('policies are polled, never watched; a status is no news, a spec is', async (context) => {
  await using bed = await AgentEnvironment.open(context);
  const stored = bed.api.store.apply(nodesPolicy('DryRun', { imageGC }));
  const agent = bed.startAgent();
  const governs = (): number => agent.timesLogged('policy governs this node');
  await until('it is governed', () => governs() === 1);
  bed.api.store.apply({ ...stored, status: { nodes: { desired: 1 } } });
  const before = polls(bed);
  await until('it polls', () => polls(bed) >= before + 2);
  expect(governs()).toBe(1);
  bed.cri.runtime.addImage({ tags: [unused] });
  bed.api.store.apply(nodesPolicy('Enforce', { imageGC }));
  await until('the new policy is followed', () => !isThere(bed));
  expect(governs()).toBe(2);
  expect(readsOf(bed).filter(({ query }) => query.has('watch'))).toEqual([]);
});

test('between two polls a live read stops the removals that a policy in mode DryRun no longer permits', async (context) => {
  await using bed = await AgentEnvironment.open(context);
  bed.api.store.apply(nodesPolicy('Enforce', { imageGC }));
  const agent = bed.startAgent(['--container-gc-period=10s', '--v=4']);
  await until('it passes', async () => {
    await agent.passes('imagegc', 1);
    return true;
  });
  const polled = polls(bed);
  await until('it has just polled', () => polls(bed) > polled);
  const [before, read] = [polls(bed), liveReads(bed)];
  bed.api.store.apply(nodesPolicy('DryRun', { imageGC }));
  bed.cri.runtime.addImage({ tags: [unused] });
  await until('it reads live', () => liveReads(bed) > read + 1);
  expect(polls(bed)).toBe(before);
  expect(agent.lines).toContainEqual(
    expect.objectContaining({ msg: 'pass ended early', why: 'policies have changed' }),
  );
  await until('the poll shows it', () => agent.timesLogged('would remove image') > 0);
  expect(isThere(bed)).toBe(true);
  expect(bed.cri.changes).toEqual([]);
});

test('a right that is taken away is noticed by the next poll, and reported', async (context) => {
  let mayList = true;
  const allow = ({ isResource, resource }: { isResource: boolean; resource?: string }): boolean =>
    mayList || !(isResource && resource === 'gcpolicies');
  const users = [{ name: 'dustpan', token: 'dustpan-token', allow }];
  await using bed = await AgentEnvironment.open(context, { users });
  bed.api.store.apply(nodesPolicy('Enforce', { imageGC }));
  const agent = bed.startAgent([], { kubeconfig: bed.api.kubeconfigOf('dustpan') });
  await until('it is governed', () => bed.condition('Degraded') === 'False AsPlanned');
  mayList = false;
  await until('it is reported', () => bed.condition('Degraded') === 'True MissingRights');
  expect(await agent.page('health', '/readyz?verbose')).toContain('[-]rights failed');
  mayList = true;
  await until('it works again', () => bed.condition('Degraded') === 'False AsPlanned');
});
