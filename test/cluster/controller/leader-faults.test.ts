import { beforeAll, expect, test } from 'vitest';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import {
  applyPolicy,
  inTheMiddleOf,
  isCompleted,
  nothingTwice,
  numbered,
  podDeletes,
  runningPods,
} from './environment.ts';
import { dustpanUser, shortPeriod, startController } from './dustpan.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { eventually } from '../servers/waiting.ts';

/** A process that stalls for as long as the renew deadline, as on a busy machine, would rightly end. */
const leaseMs = 20_000;
const renewMs = 17_000;
const retryMs = 500;
/** Until the first act after the lease was won: one pass, on a busy machine. */
const passMs = 15_000;

const batch = 1_000;

/** Two users, so that the audit log distinguishes the replicas. */
const names = ['first', 'second'] as const;
type Name = (typeof names)[number];

let cluster: Cluster;
const replicas = new Map<Name, DustpanProcess>();
/** UIDs of the pods that must stay. */
let living: readonly string[];

async function start(name: Name): Promise<DustpanProcess> {
  const replica = await startController(cluster, {
    name,
    user: name,
    args: [
      '--leader-elect=true',
      '--leader-elect-resource-namespace=default',
      `--leader-elect-lease-duration=${leaseMs}ms`,
      `--leader-elect-renew-deadline=${renewMs}ms`,
      `--leader-elect-retry-period=${retryMs}ms`,
      ...shortPeriod,
    ],
  });
  replicas.set(name, replica);
  return replica;
}

const leads = async (replica: DustpanProcess): Promise<boolean> => {
  const name = 'dustpan_leader_election_master_status{name="dustpan-controller"}';
  return (await replica.sample(name)) === 1;
};

beforeAll(async () => {
  const users = names.map((name) => ({ ...dustpanUser, name }));
  cluster = await startCluster({ parts: ['etcd', 'api'], crds: true, users });
  living = await runningPods(cluster, numbered('living', 20));
  await applyPolicy(cluster, { terminated: { ttlAfterFinished: '0s' } });
});

/** When this one last renewed the lease, Unix milliseconds. */
async function renewedAt(user: Name): Promise<number> {
  const updates = await cluster.audit({ user, verb: 'update' });
  const renewals = updates.filter(({ objectRef }) => objectRef?.resource === 'leases');
  return Date.parse(renewals.at(-1)?.requestReceivedTimestamp ?? '');
}

test('another replica follows a killed leader once its lease has expired; nothing is deleted twice', async () => {
  const began = new Date();
  const first = await start('first');
  await expect.poll(() => leads(first), eventually).toBe(true);
  const second = await start('second');
  await inTheMiddleOf('killed', batch, { cluster, living }, first);
  const killedAt = new Date();
  await first.kill('SIGKILL');
  // Half of the work is done; new pods take the names of the deleted ones.
  const gone = (await podDeletes(cluster, 'first', began)).filter(({ code }) => code === 200);
  expect(gone.length).toBeGreaterThan(0);
  const namesakes = gone.map(({ name }) => name);
  living = [...living, ...(await runningPods(cluster, namesakes))];

  await isCompleted({ cluster, living }, second);
  const [next] = await podDeletes(cluster, 'second', began);
  expect(next?.atMs).toBeGreaterThan((await renewedAt('first')) + leaseMs);
  expect(next?.atMs).toBeLessThan(killedAt.getTime() + leaseMs + 3 * 2.2 * retryMs + passMs);
  await nothingTwice(cluster, names, began);
});

test('a leader that is paused beyond its lease and resumed deletes nothing more, and exits', async () => {
  const [leader, standby] = [replicas.get('second'), await start('first')];
  if (leader === undefined) throw new Error('the test before has left no leader');
  const began = new Date();
  await inTheMiddleOf('paused', batch, { cluster, living }, leader);
  await leader.kill('SIGSTOP');
  await isCompleted({ cluster, living }, standby);
  // The plan it was following has become wrong in each line; and the other is at work.
  living = [...living, ...(await runningPods(cluster, numbered('paused', batch)))];
  await inTheMiddleOf('resumed', batch, { cluster, living }, standby);
  const resumedAt = new Date();
  await leader.kill('SIGCONT');
  await expect.poll(() => leader.isRunning, eventually).toBe(false);
  expect(await leader.logTail(50)).toContain('"outcome":"lost"');

  await isCompleted({ cluster, living }, standby);
  const late = await podDeletes(cluster, 'second', resumedAt);
  // At most the request that it was about to send: the next check of the lease fails.
  expect(late.length).toBeLessThanOrEqual(1);
  expect(late.filter(({ code }) => code === 200)).toEqual([]);
  await nothingTwice(cluster, names, began);
});
