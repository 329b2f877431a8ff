// @bed node
import { beforeAll, expect, test } from 'vitest';
import { policiesPath } from '../../../src/kube/cache/resources.ts';
import type { AuditEvent } from '../servers/audit.ts';
import type { Cluster } from '../servers/cluster.ts';
import { kubectl } from '../servers/kubectl.ts';
import { waitUntil } from '../servers/waiting.ts';
import { agentRequests, agentUser, everySecond, startAgent } from './agent.ts';
import { applyPolicy, imageTags, startNodeWithoutKubelet } from './environment.ts';

const unused = 'bed.test/unused:1';
const imageGC = { highThresholdPercent: 100, lowThresholdPercent: 80, minimumAge: '1s', maximumAge: '2s' };

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startNodeWithoutKubelet();
});

const isThere = async (): Promise<boolean> => (await imageTags(cluster)).includes(unused);

/** The reads of policies by the agent, from the memory of the API server (the polls) or live. */
async function reads(kind: 'poll' | 'live'): Promise<readonly AuditEvent[]> {
  const all = await cluster.audit({ user: agentUser.name });
  return all.filter(({ requestURI }) => {
    const { pathname, searchParams } = new URL(requestURI, 'https://api');
    const isPoll = searchParams.get('resourceVersion') === '0';
    return pathname === policiesPath && !searchParams.has('limit') && isPoll === (kind === 'poll');
  });
}

const count = async (kind: 'poll' | 'live'): Promise<number> => (await reads(kind)).length;

test('the agent opens no watch but that of its pods, and follows a changed policy', async () => {
  await cluster.importImages([{ ref: unused, fill: { bytes: 1_000, kind: 'random' } }]);
  await applyPolicy(cluster, 'DryRun', { imageGC });
  await using agent = await startAgent(cluster, { args: [...everySecond, '--v=4'] });
  await waitUntil('it would remove the image', async () =>
    (await agent.logTail(200)).includes('would remove image'),
  );
  expect(await isThere()).toBe(true);
  await applyPolicy(cluster, 'Enforce', { imageGC });
  await waitUntil('the image is removed', async () => !(await isThere()));
  const fields = 'jsonpath={.items[0].metadata.managedFields}';
  const managed = await kubectl(cluster, ['get', 'nodegcreports', '--show-managed-fields', '-o', fields]);
  expect(managed).toContain('f:status');
  // The status is one field, and not a hundred.
  expect(managed.length).toBeLessThan(1_000);
  const uris = (await cluster.audit({ user: agentUser.name })).map(({ requestURI }) => requestURI);
  // No request only checks a right, and the list of pods comes with their watch.
  expect(uris.filter((uri) => uri.includes('limit=1'))).toEqual([]);
  const ofPods = uris.filter((uri) => uri.startsWith('/api/v1/pods') && uri.includes('watch=true'));
  expect(ofPods.every((uri) => uri.includes('sendInitialEvents=true'))).toBe(true);
  const { requested, forbidden } = await agentRequests(cluster);
  expect(requested.filter((name) => name.startsWith('watch '))).toEqual(['watch pods']);
  expect(forbidden).toEqual([]);
  const metrics = await kubectl(cluster, ['get', '--raw', '/metrics']);
  const watching = (resource: string): string =>
    metrics
      .split('\n')
      .filter((line) => line.startsWith('apiserver_longrunning_requests{') && line.includes('verb="WATCH"'))
      .find((line) => line.includes(`resource="${resource}"`)) ?? '0';
  expect(watching('gcpolicies')).toMatch(/(^| )0$/);
  expect(watching('pods')).toMatch(/ [1-9]\d*$/);
});

test('a policy in mode DryRun stops removals before the agent has polled it', async () => {
  await applyPolicy(cluster, 'Enforce', { imageGC });
  const args = ['--image-gc-period=1s', '--container-gc-period=20s', '--v=4'];
  await using agent = await startAgent(cluster, { args });
  await waitUntil('it passes', async () => (await agent.logTail(200)).includes('planned pass'));
  const polled = await count('poll');
  await waitUntil('it has just polled', async () => (await count('poll')) > polled);
  const [polls, live] = [await count('poll'), await count('live')];
  await applyPolicy(cluster, 'DryRun', { imageGC });
  await cluster.importImages([{ ref: unused, fill: { bytes: 2_000, kind: 'random' } }]);
  await waitUntil('it reads live', async () => (await count('live')) > live + 1);
  expect(await count('poll')).toBe(polls);
  expect(await agent.logTail(400)).toContain('policies have changed');
  await waitUntil('it polls', async () => (await agent.logTail(400)).includes('would remove image'));
  expect(await isThere()).toBe(true);
});
