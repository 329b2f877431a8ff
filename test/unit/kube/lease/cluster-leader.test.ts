import { expect, test } from 'vitest';
import { ClusterLeader, clusterLease } from '../../../../src/kube/lease/cluster-leader.ts';
import type { LeaseName } from '../../../../src/kube/lease/client.ts';
import { LeaseElector } from '../../../../src/kube/lease/lease.ts';
import { FakeApi } from '../../../fakes/api.ts';
import { pass } from '../../../fakes/lease-candidate.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { SettlingClock } from '../../../fakes/settling-clock.ts';
import { ApiServer } from '../../../sandbox/api/api-server.ts';

interface Candidate {
  readonly leader: ClusterLeader;
  readonly isActing: () => boolean;
  readonly waitsFor: readonly string[];
  readonly stop: () => Promise<unknown>;
  /** No request of it reaches the server any more. */
  readonly cut: () => void;
}

class Cluster {
  readonly api = new ApiServer();
  readonly clock = new SettlingClock();

  constructor() {
    for (const name of ['one', 'two']) this.api.objects.ensureNamespace(name);
  }

  elector(identity: string, lease: LeaseName, waitsFor: string[] = []) {
    const transport = new FakeApi(this.api);
    const elector = new LeaseElector({
      ...{ transport, lease, identity, clock: this.clock, log: new RecordingLogger(), random: () => 0 },
      ...{ leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
      onHeld: (holder) => waitsFor.push(holder),
    });
    return { elector, transport };
  }

  start(namespace: string, identity: string): Candidate {
    const waitsFor: string[] = [];
    const release = this.elector(identity, { namespace, name: 'dustpan' });
    const cluster = this.elector(identity, clusterLease, waitsFor);
    const leader = new ClusterLeader({ release: release.elector, cluster: cluster.elector });
    const stop = new AbortController();
    let isActing = false;
    const outcome = leader.run(async (signal) => {
      isActing = true;
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
      });
      isActing = false;
    }, stop.signal);
    return {
      leader,
      isActing: () => isActing,
      waitsFor,
      stop: async () => {
        stop.abort();
        return await outcome;
      },
      cut: () => {
        for (const { transport } of [release, cluster])
          transport.before = () => {
            throw new Error('connect ECONNREFUSED');
          };
      },
    };
  }

  /** An elector of a version without the Lease of the cluster. */
  startOld(namespace: string, identity: string) {
    const { elector } = this.elector(identity, { namespace, name: 'dustpan' });
    const stop = new AbortController();
    const outcome = elector.run(
      (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve());
        }),
      stop.signal,
    );
    return {
      elector,
      stop: async () => {
        stop.abort();
        return await outcome;
      },
    };
  }
}

test('of two releases one acts; the other waits, knows for whom, and takes over when it ends', async () => {
  const cluster = new Cluster();
  const first = cluster.start('one', 'a');
  await pass(cluster.clock, 500);
  const second = cluster.start('two', 'b');
  await pass(cluster.clock, 60_000);
  expect([first.isActing(), second.isActing()]).toEqual([true, false]);
  expect([first.leader.holdsLease(), second.leader.holdsLease()]).toEqual([true, false]);
  expect(new Set(second.waitsFor)).toEqual(new Set(['a']));
  const stopped = first.stop();
  await pass(cluster.clock, 3_000);
  expect(await stopped).toBe('released');
  await pass(cluster.clock, 3_000);
  expect([first.isActing(), second.isActing()]).toEqual([false, true]);
  expect(second.leader.hasPredecessor).toBe(true);
});

test('a waiting controller of another release stops at once', async () => {
  const cluster = new Cluster();
  cluster.start('one', 'a');
  await pass(cluster.clock, 500);
  const second = cluster.start('two', 'b');
  await pass(cluster.clock, 5_000);
  const stopped = second.stop();
  await pass(cluster.clock, 3_000);
  expect(await stopped).toBe('released');
});

test('a replica replaces a leader that is cut off within one term, not two, and never acts beside it', async () => {
  const cluster = new Cluster();
  const first = cluster.start('one', 'a');
  await pass(cluster.clock, 500);
  const replica = cluster.start('one', 'b');
  await pass(cluster.clock, 10_000);
  first.cut();
  for (let ms = 0; ms < 14_000; ms += 500) {
    await pass(cluster.clock, 500);
    expect(first.leader.holdsLease() && replica.leader.holdsLease()).toBe(false);
  }
  await pass(cluster.clock, 6_000);
  expect([first.isActing(), replica.isActing()]).toEqual([false, true]);
});

test('during an upgrade from a version without the Lease of the cluster one of both acts', async () => {
  const cluster = new Cluster();
  const old = cluster.startOld('one', 'old');
  await pass(cluster.clock, 500);
  const next = cluster.start('one', 'new');
  await pass(cluster.clock, 30_000);
  expect([old.elector.holdsLease(), next.isActing()]).toEqual([true, false]);
  const stopped = old.stop();
  await pass(cluster.clock, 3_000);
  await stopped;
  await pass(cluster.clock, 3_000);
  expect([old.elector.holdsLease(), next.isActing()]).toEqual([false, true]);
});
