import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../servers/cluster.ts';
import { dustpanUser, shortPeriod, startControlPlane, startController } from './dustpan.ts';
import {
  applyPolicy,
  inTheMiddleOf,
  isCompleted,
  linesSince,
  nothingTwice,
  numbered,
  podCount,
  podDeletes,
  runningPods,
} from './environment.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { create, kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

const batch = 2_000;
/** The requests of a pass in flight at most. */
const inFlight = 32;

let cluster: Cluster;
let dustpan: DustpanProcess;
/** UIDs of the pods that must stay. */
let living: readonly string[];

beforeAll(async () => {
  cluster = await startControlPlane();
  living = await runningPods(cluster, numbered('living', 20));
  await applyPolicy(cluster, { terminated: { ttlAfterFinished: '0s' } });
  dustpan = await startController(cluster, { args: shortPeriod });
});

afterAll(async () => {
  await dustpan.stop();
  await cluster.stop();
});

/** Waits until the controller has logged that a pass failed. */
async function passFails(since: Date): Promise<void> {
  const failed = async () =>
    (await linesSince(dustpan, since, 'pass failed')).filter((line) => line['loop'] === 'podgc');
  await expect.poll(async () => (await failed()).length, eventually).toBeGreaterThan(0);
}

test.each(['api', 'etcd'] as const)(
  '%s is killed during a pass and restarted: the pass fails, and another completes the work, nothing twice',
  async (part) => {
    const { pid } = dustpan;
    const began = new Date();
    await inTheMiddleOf(part, batch, { cluster, living }, dustpan);
    await cluster.kill(part);
    await passFails(began);
    expect(await dustpan.probe('/healthz')).toBe(200);
    await cluster.start(part);
    await isCompleted({ cluster, living }, dustpan);
    await nothingTwice(cluster, [dustpanUser.name], began);
    expect(dustpan.pid).toBe(pid);
  },
);

test('the API server hangs beyond the deadline of a request: the pass fails and reports it, and another completes the work, nothing twice', async () => {
  const { pid } = dustpan;
  const began = new Date();
  await inTheMiddleOf('hang', batch, { cluster, living }, dustpan);
  await cluster.kill('api', 'SIGSTOP');
  const left = await podCount(cluster);
  await passFails(began);
  const refused = await linesSince(dustpan, began, 'deleting pod failed');
  expect(refused.map(({ err }) => err)).toContainEqual(
    expect.stringMatching(/ did not respond to DELETE \/api\/v1\/\S+ within 15 s/),
  );
  // etcd completes what it has received.
  expect(await podCount(cluster)).toBeGreaterThanOrEqual(left - inFlight);
  expect(await dustpan.probe('/healthz')).toBe(200);
  await cluster.kill('api', 'SIGCONT');
  await isCompleted({ cluster, living }, dustpan);
  await nothingTwice(cluster, [dustpanUser.name], began);
  expect(dustpan.pid).toBe(pid);
});

/** The API server's own limit: from now on it responds with 429 to each deletion of a pod by the controller. */
async function rejectDeletions(): Promise<void> {
  const api = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', metadata: { name: 'no-deletions' } };
  const limited = {
    ...{ nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0 },
    limitResponse: { type: 'Reject' },
  };
  const rule = {
    subjects: [{ kind: 'User', user: { name: dustpanUser.name } }],
    resourceRules: [{ verbs: ['delete'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }],
  };
  const level = { priorityLevelConfiguration: api.metadata, matchingPrecedence: 2 };
  await create(
    cluster,
    { ...api, kind: 'PriorityLevelConfiguration', spec: { type: 'Limited', limited } },
    { ...api, kind: 'FlowSchema', spec: { ...level, rules: [rule] } },
  );
}

test('the API server responds with 429 to every deletion for a while: each request in flight waits for the Retry-After of at least 1 s, and all pods are deleted later, none twice', async () => {
  const { pid } = dustpan;
  const began = new Date();
  await inTheMiddleOf('busy', batch, { cluster, living }, dustpan);
  await rejectDeletions();
  const throttled = async () =>
    (await podDeletes(cluster, dustpanUser.name, began)).filter(({ code }) => code === 429);
  await expect.poll(async () => (await throttled()).length, eventually).toBeGreaterThan(3 * inFlight);
  await kubectl(cluster, ['delete', 'flowschema', 'no-deletions']);
  await isCompleted({ cluster, living }, dustpan);
  await nothingTwice(cluster, [dustpanUser.name], began);
  // Two of 33 requests in a row are from one place in flight.
  const at = (await throttled()).map(({ atMs }) => atMs).toSorted((a, b) => a - b);
  const gaps = at.slice(inFlight).map((atMs, i) => atMs - (at[i] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
  expect(dustpan.pid).toBe(pid);
});
